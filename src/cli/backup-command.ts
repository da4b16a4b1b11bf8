/**
 * `millrace backup create|verify|restore`: a whole installation copied into a directory, the copy proven, an empty
 * installation filled from it.
 * Exit codes: 0 done, 1 refused or failed, or the backup does not hold, 2 asked wrongly.
 */
import { type Environment, loadConfig } from '../config/index.js';
import { type BackupManifest, filesOf, type PartitionDigest } from '../journal/backup/index.js';
import { makeBackup, proveBackup, restoreInto } from './backup-steps.js';
import { parse, runVerb, UsageError, type Verbs } from './command-line.js';

const BACKUP_USAGE = `usage: millrace backup create --to DIR [--key-to FILE]
       millrace backup verify DIR
       millrace backup restore --from DIR [--key-from FILE | --without-key]
The key file is not in a backup: --key-to copies it elsewhere, --key-from puts it where the settings say.
`;

export interface BackupOutput {
  write(text: string): void;
  writeError(text: string): void;
}

interface BackupDeps extends BackupOutput {
  readonly env: Environment;
}

/** @returns the exit code; never throws */
export function backupCommand(argv: readonly string[], env: Environment, output: BackupOutput): Promise<number> {
  return runVerb(['backup', BACKUP_USAGE, VERBS], argv, { ...output, env });
}

const VERBS: Verbs<BackupDeps> = { create, verify, restore };

async function create(argv: readonly string[], { env, write }: BackupDeps): Promise<void> {
  const { to, 'key-to': keyTo } = parse(argv, ['to', 'key-to'], [], 0).options;
  if (to === undefined || to === '') throw new UsageError('--to is missing: which directory?');
  write(summaryOf(await makeBackup(loadConfig(env).config, to, keyTo)));
}

async function verify(argv: readonly string[], { env, write }: BackupDeps): Promise<void> {
  const [directory = ''] = parse(argv, [], [], 1, 'which directory?').words;
  write(summaryOf(await proveBackup(loadConfig(env).config, directory, (digest) => write(lineOf(digest)))));
  write('ok\n');
}

async function restore(argv: readonly string[], { env, write }: BackupDeps): Promise<void> {
  const { options, flags } = parse(argv, ['from', 'key-from'], ['without-key'], 0);
  const { from, 'key-from': keyFrom } = options;
  const isLost = flags.has('without-key');
  if (from === undefined || from === '') throw new UsageError('--from is missing: which directory?');
  if (isLost && keyFrom !== undefined) throw new UsageError('--key-from or --without-key, not both');
  const tell = (digest: PartitionDigest) => write(lineOf(digest));
  const { manifest, shards } = await restoreInto(loadConfig(env).config, from, { from: keyFrom, isLost }, tell);
  write(summaryOf(manifest));
  write(`restored into ${shards.length} shards\n`);
}

function lineOf({ partition, keys, sections, digest }: PartitionDigest): string {
  return `${partition} keys=${keys} sections=${sections} digest=${digest}\n`;
}

function summaryOf(manifest: BackupManifest): string {
  const files = filesOf(manifest);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const { clusterId, kvShards, queueShards, keyId, startedAtMs } = manifest;
  return (
    `backup of ${clusterId} as of ${new Date(startedAtMs).toISOString()}: ${kvShards} kv shards, ` +
    `${queueShards} queue shards, ${files.length} files, ${bytes} bytes, secrets sealed with key ${keyId}\n`
  );
}
