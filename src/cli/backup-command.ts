/**
 * `millrace backup create|verify|restore`: a whole installation copied into a directory, the copy proven, an empty
 * installation filled from it.
 * Exit codes: 0 done, 1 refused or failed, or the backup does not hold, 2 asked wrongly.
 */
import { type Environment, loadConfig } from '../config/index.js';
import { type BackupManifest, filesOf, type PartitionDigest } from '../journal/backup/index.js';
import { type BackupNews, makeBackup, proveBackup, restoreInto } from './backup-steps.js';
import { doVerb, type Verbs } from './command-line.js';
import { type Asked, type Output, shown, UsageError } from './parser.js';
import { ProgressLine } from './progress-line.js';

interface BackupDeps extends Output {
  readonly env: Environment;
}

/** @param verb one of `lines/backup-line.ts`. @returns the exit code. @throws UsageError, MillraceError */
export function backupCommand(verb: string, asked: Asked, deps: BackupDeps): Promise<number> {
  return doVerb(VERBS, verb, asked, deps);
}

const VERBS: Verbs<BackupDeps> = { create, verify, restore };

async function create(asked: Asked, { env, write }: BackupDeps): Promise<void> {
  const { to = '', 'key-to': keyTo } = asked.options;
  if (to === '') throw new UsageError('--to is empty: which directory?');
  const news = newsFor(asked, write);
  const manifest = await makeBackup(loadConfig(env).config, to, keyTo, news).finally(news.end);
  write(shown(asked, factsOf(manifest), () => summaryOf(manifest)));
}

async function verify(asked: Asked, { env, write }: BackupDeps): Promise<void> {
  const [directory = ''] = asked.words;
  const news = newsFor(asked, write);
  const manifest = await proveBackup(loadConfig(env).config, directory, news).finally(news.end);
  write(shown(asked, { ...factsOf(manifest), ok: true }, () => `${summaryOf(manifest)}ok\n`));
}

async function restore(asked: Asked, { env, write }: BackupDeps): Promise<void> {
  const { from = '', 'key-from': keyFrom } = asked.options;
  const isLost = asked.flags.has('without-key');
  if (from === '') throw new UsageError('--from is empty: which directory?');
  if (isLost && keyFrom !== undefined) throw new UsageError('--key-from or --without-key, not both');
  const news = newsFor(asked, write);
  const key = { from: keyFrom, isLost };
  const { manifest, shards } = await restoreInto(loadConfig(env).config, from, key, news).finally(news.end);
  const text = () => `${summaryOf(manifest)}restored into ${shards.length} shards\n`;
  write(shown(asked, { ...factsOf(manifest), restoredShards: shards.length }, text));
}

/** Digests on standard output, files on a terminal for as long as it is their turn. */
function newsFor(asked: Asked, write: (text: string) => void): BackupNews & { end(): void } {
  const progress = new ProgressLine(process.stderr, () => performance.now());
  return {
    proven: (digest) => {
      progress.clear();
      write(shown(asked, digest, () => lineOf(digest)));
    },
    onFile: (name) => progress.show(() => name),
    end: () => progress.clear(),
  };
}

function lineOf({ partition, keys, sections, digest }: PartitionDigest): string {
  return `${partition} keys=${keys} sections=${sections} digest=${digest}\n`;
}

function factsOf(manifest: BackupManifest) {
  const files = filesOf(manifest);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const { clusterId, kvShards, queueShards, keyId, startedAtMs } = manifest;
  const asOf = new Date(startedAtMs).toISOString();
  return { clusterId, asOf, kvShards, queueShards, files: files.length, bytes, keyId };
}

function summaryOf(manifest: BackupManifest): string {
  const { clusterId, asOf, kvShards, queueShards, files, bytes, keyId } = factsOf(manifest);
  return (
    `backup of ${clusterId} as of ${asOf}: ${kvShards} kv shards, ` +
    `${queueShards} queue shards, ${files} files, ${bytes} bytes, secrets sealed with key ${keyId}\n`
  );
}
