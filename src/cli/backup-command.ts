/**
 * `millrace backup create|verify|restore`: a whole installation copied into a directory, the copy proven, an empty
 * installation filled from it.
 * Exit codes: 0 done, 1 refused or failed, or the backup does not hold, 2 asked wrongly.
 */
import { type Environment, loadConfig } from '../config/index.js';
import { type BackupManifest, filesOf, type PartitionDigest } from '../journal/backup/index.js';
import { makeBackup, proveBackup, restoreInto } from './backup-steps.js';
import { exitCodeOf, parse, UsageError } from './command-line.js';

const BACKUP_USAGE = `usage: millrace backup create --to DIR [--key-to FILE]
       millrace backup verify DIR
       millrace backup restore --from DIR [--key-from FILE | --without-key]
The key file is not in a backup: --key-to copies it elsewhere, --key-from puts it where the settings say.
`;

export interface BackupOutput {
  write(text: string): void;
  writeError(text: string): void;
}

/** @returns the exit code; never throws */
export function backupCommand(argv: readonly string[], env: Environment, output: BackupOutput): Promise<number> {
  return exitCodeOf('backup', BACKUP_USAGE, output.writeError, () => run(argv, env, output));
}

async function run([verb, ...rest]: readonly string[], env: Environment, { write }: BackupOutput): Promise<void> {
  const tell = (digest: PartitionDigest) => write(lineOf(digest));
  switch (verb) {
    case 'create': {
      const { to, 'key-to': keyTo } = parse(rest, ['to', 'key-to'], [], 0).options;
      if (to === undefined || to === '') throw new UsageError('--to is missing: which directory?');
      write(summaryOf(await makeBackup(loadConfig(env).config, to, keyTo)));
      return;
    }
    case 'verify': {
      const [directory = ''] = parse(rest, [], [], 1, 'which directory?').words;
      write(summaryOf(await proveBackup(loadConfig(env).config, directory, tell)));
      write('ok\n');
      return;
    }
    case 'restore': {
      const { options, flags } = parse(rest, ['from', 'key-from'], ['without-key'], 0);
      const { from, 'key-from': keyFrom } = options;
      const isLost = flags.has('without-key');
      if (from === undefined || from === '') throw new UsageError('--from is missing: which directory?');
      if (isLost && keyFrom !== undefined) throw new UsageError('--key-from or --without-key, not both');
      const { config } = loadConfig(env);
      const { manifest, shards } = await restoreInto(config, from, { from: keyFrom, isLost }, tell);
      write(summaryOf(manifest));
      write(`restored into ${shards.length} shards\n`);
      return;
    }
    default:
      throw new UsageError(verb === undefined ? 'what is to be done?' : `${verb} is not one of its commands`);
  }
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
