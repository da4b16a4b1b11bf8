/** Creates, verifies and restores backups of a whole installation: the steps of each command in order. */
import { resolve, sep } from 'node:path';
import type { MarkKeeper, RestoreMark } from '../adapters/nats/index.js';
import {
  BackupDirectory,
  keyIdOf as keyIdOfFile,
  NodeRandom,
  PRIVATE_FILE,
  readFileIfThere,
  sealedForReading,
  sealedForWriting,
  VERSION,
  writeFileAtomic,
} from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import {
  type BackupManifest,
  checkKey,
  createBackup,
  openBackup,
  type PartitionDigest,
  type RestoredShard,
  refuseUsedInstallation,
  restoreBackup,
  verifyBackup,
} from '../journal/backup/index.js';
import { requireComplete } from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import type { BackupFiles } from '../ports/index.js';
import { BACKUP_PLANES } from '../replay/index.js';
import { openSource, openTarget } from './backup-places.js';
import { commandLog } from './command-log.js';

const keyIdOf = (path: string) => keyIdOfFile(path, new NodeRandom());

/** Progress: verified digests, and the current file. */
export interface BackupNews {
  proven(digest: PartitionDigest): void;
  onFile(name: string): void;
}

/**
 * Copies the configured installation into `directory`, which must be empty or contain an interrupted attempt.
 * @param keyTo the target of a copy of the key file, outside of the backup. Default: the operator keeps the key file
 * @throws CONFLICT, BAD_CONFIG, JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED
 */
export async function makeBackup(
  config: Config,
  directory: string,
  keyTo: string | undefined,
  { onFile }: Pick<BackupNews, 'onFile'>,
): Promise<BackupManifest> {
  const { sealKeyFile } = config.storage;
  if (keyTo !== undefined && resolve(keyTo).startsWith(resolve(directory) + sep)) {
    throw new MillraceError(
      'BAD_CONFIG',
      'the key file must not be in the backup directory, because both together reveal every secret: give another place',
    );
  }
  const log = commandLog(config);
  const opened = await openSource(config, log);
  try {
    const keyId = await keyIdOf(sealKeyFile);
    const files = new BackupDirectory(directory, onFile);
    await files.begin();
    const sealed = await sealedForWriting(files, config.storage.encryptionKey?.reveal(), new NodeRandom());
    if (keyTo !== undefined) await copyKey(sealKeyFile, keyTo);
    for (const shard of opened.installation.journals) await requireComplete(opened.source, shard);
    const manifest = await createBackup(opened.source, sealed, opened.installation, { madeBy: VERSION, keyId });
    await files.end();
    return manifest;
  } finally {
    await opened.close();
  }
}

/** @throws INVALID if it is incomplete, JOURNAL_DAMAGED with the damaged part */
export async function proveBackup(config: Config, directory: string, news: BackupNews): Promise<BackupManifest> {
  const files = await filesOf(config, directory, news);
  const reader = { files, planes: BACKUP_PLANES, log: commandLog(config), release: VERSION };
  return verifyBackup(reader, news.proven);
}

/**
 * Restores into the configured, empty installation. After a failure or kill the remains are marked as unfinished, and
 * are not served.
 * @param key `from`: a copy of the key file, written to its configured place unless one exists; default: it exists.
 * `isLost`: there is no key, and sealed data will be unreadable
 * @throws INVALID, JOURNAL_DAMAGED for the backup; BAD_CONFIG, CONFLICT for the place; JOURNAL_UNAVAILABLE
 */
export async function restoreInto(
  config: Config,
  directory: string,
  key: { readonly from?: string | undefined; readonly isLost: boolean },
  news: BackupNews,
): Promise<{ readonly manifest: BackupManifest; readonly shards: readonly RestoredShard[] }> {
  const log = commandLog(config);
  const files = await filesOf(config, directory, news);
  const reader = { files, planes: BACKUP_PLANES, log, release: VERSION };
  const manifest = await openBackup(reader.files);
  const { sealKeyFile } = config.storage;
  if (!key.isLost) checkKey(manifest, await keyIdOf(key.from ?? sealKeyFile));
  const mark = runningMark(manifest);
  let isMarked = false;
  const begin = async (keeper: MarkKeeper) => {
    if (!isMarked) await keeper.write(mark);
    isMarked = true;
  };
  const opened = await openTarget(config, log, begin);
  try {
    await refuseUsedInstallation(opened.target);
    await begin(opened.mark);
    if (key.from !== undefined) await installKey(manifest, key.from, sealKeyFile);
    await opened.raiseFormat(manifest.format);
    const shards = await restoreBackup(reader, opened.target, manifest, news.proven);
    const places = shards.map(({ shard, epoch, claim }) => ({ shard, epoch, claim }));
    await opened.mark.write({ ...mark, state: 'complete', finishedAt: new Date().toISOString(), shards: places });
    return { manifest, shards };
  } finally {
    await opened.close();
  }
}

/** @throws BAD_CONFIG when the backup is encrypted with another key than that of the settings */
function filesOf({ storage }: Config, directory: string, { onFile }: BackupNews): Promise<BackupFiles> {
  const files = new BackupDirectory(directory, onFile);
  return sealedForReading(files, storage.encryptionKey?.reveal(), new NodeRandom());
}

function runningMark({ clusterId, startedAtMs, journals }: BackupManifest): RestoreMark {
  const heads = journals.map(({ shard, head: { number, hash } }) => ({ shard, number, hash }));
  return {
    format: 1,
    state: 'running',
    startedAt: new Date().toISOString(),
    backup: { clusterId, madeAt: new Date(startedAtMs).toISOString(), heads },
  };
}

async function copyKey(from: string, to: string): Promise<void> {
  const key = await readFileIfThere(from);
  if (key === undefined) throw new MillraceError('BAD_CONFIG', `the key file ${from} does not exist`);
  const there = await readFileIfThere(to);
  if (there !== undefined && Buffer.compare(there, key) !== 0) {
    throw new MillraceError('CONFLICT', `${to} exists and holds another key: move it away first`);
  }
  await writeFileAtomic(to, key, PRIVATE_FILE);
}

async function installKey(manifest: BackupManifest, from: string, to: string): Promise<void> {
  if ((await readFileIfThere(to)) === undefined) await copyKey(from, to);
  else checkKey(manifest, await keyIdOf(to));
}
