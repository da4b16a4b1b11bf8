/**
 * `millrace backup create|list|verify|restore`: copies a whole installation into a directory or a bucket, verifies the copy,
 * and restores it into an empty installation. Exit codes: 0 done, 1 refused, failed or an invalid backup, 2 wrong usage.
 */
import type { Environment } from '../config/index.js';
import { type BackupManifest, beginOf, filesOf, type PartitionDigest } from '../journal/backup/index.js';
import { momentOf } from '../protocol/index.js';
import { type BackupNews, listBackups, makeBackup, proveBackup, restoreInto } from './backup-steps.js';
import { doVerb, type Verbs } from './command-line.js';
import { loadedConfig } from './loaded-config.js';
import { type Output, type ParsedArguments, shown, UsageError } from './parser.js';
import { ProgressLine } from './progress-line.js';

interface BackupDeps extends Output {
  readonly env: Environment;
}

/** @param verb one of `lines/backup-line.ts`. @returns the exit code. @throws UsageError, MillraceError */
export function backupCommand(verb: string, asked: ParsedArguments, deps: BackupDeps): Promise<number> {
  return doVerb(VERBS, verb, asked, deps);
}

const VERBS: Verbs<BackupDeps> = { create, list, verify, restore };

async function create(asked: ParsedArguments, { env, write }: BackupDeps): Promise<void> {
  const { to = '', 'key-to': keyTo } = asked.options;
  if (to === '') throw new UsageError('--to is empty: give a directory or s3://bucket/prefix');
  const news = newsFor(asked, write);
  const manifest = await makeBackup(loadedConfig(env).config, to, keyTo, news).finally(news.end);
  write(shown(asked, factsOf(manifest), () => summaryOf(manifest)));
}

async function list(asked: ParsedArguments, { env, write }: BackupDeps): Promise<void> {
  const { config } = loadedConfig(env);
  const from = asked.words[0] ?? config.backups.backupTo;
  if (from === undefined) throw new UsageError('give a directory or s3://bucket/prefix, or set MILLRACE_BACKUP_TO');
  const backups = (await listBackups(config, from)).backups.map(({ folder, clusterId, base, untilMs, rounds }) => {
    const [first, last] = [beginOf(base), untilMs].map((ms) => new Date(ms).toISOString());
    return { folder, clusterId, from: first, to: last, rounds: rounds.length };
  });
  const lines = backups.map(
    ({ folder, from: first, to, rounds }) => `${folder} from ${first} to ${to}, ${rounds} rounds\n`,
  );
  write(shown(asked, { backups }, () => (lines.length === 0 ? `${from} has no backup\n` : lines.join(''))));
}

async function verify(asked: ParsedArguments, { env, write }: BackupDeps): Promise<void> {
  const [from = ''] = asked.words;
  const news = newsFor(asked, write);
  const backup = { from, atMs: momentIn(asked) };
  const manifest = await proveBackup(loadedConfig(env).config, backup, news).finally(news.end);
  write(shown(asked, { ...factsOf(manifest), ok: true }, () => `${summaryOf(manifest)}ok\n`));
}

async function restore(asked: ParsedArguments, { env, write }: BackupDeps): Promise<void> {
  const { from = '', 'key-from': keyFrom } = asked.options;
  const isLost = asked.flags.has('without-key');
  if (from === '') throw new UsageError('--from is empty: give a directory or s3://bucket/prefix');
  if (isLost && keyFrom !== undefined)
    throw new UsageError('--key-from and --without-key exclude each other: give one of them');
  const news = newsFor(asked, write);
  const key = { from: keyFrom, isLost };
  const backup = { from, atMs: momentIn(asked) };
  const { manifest, shards } = await restoreInto(loadedConfig(env).config, backup, key, news).finally(news.end);
  const text = () => `${summaryOf(manifest)}restored into ${shards.length} shards\n`;
  write(shown(asked, { ...factsOf(manifest), restoredShards: shards.length }, text));
}

function momentIn({ options: { at } }: ParsedArguments): number | undefined {
  if (at === undefined) return undefined;
  const moment = momentOf(at);
  if (moment?.kind === 'time') return moment.atMs;
  throw new UsageError(`--at is a time such as 2026-05-01T12:00:00Z, not ${at}`);
}

/** Prints digests to standard output, and the current file name on a terminal. */
function newsFor(asked: ParsedArguments, write: (text: string) => void): BackupNews & { end(): void } {
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
