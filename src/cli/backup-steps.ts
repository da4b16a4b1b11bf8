/** Creates, verifies and restores backups of a whole installation: the steps of each command in order. */
import { resolve, sep } from 'node:path';
import { isBucket, openPlace, placeOptionsOf } from '../adapters/backups/index.js';
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
  backupAt,
  type CopyInFolder,
  checkFiles,
  checkKey,
  copyIn,
  createBackup,
  folderName,
  foldersIn,
  type OpenFiles,
  type PartitionDigest,
  type RestoredShard,
  refuseUsedInstallation,
  restoreBackup,
  verifyBackup,
} from '../journal/backup/index.js';
import { requireComplete } from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import { BACKUP_PLANES } from '../replay/index.js';
import { openSource, openTarget } from './backup-places.js';
import { commandLog } from './command-log.js';

const ID_BYTES = 6;
const keyIdOf = (path: string) => keyIdOfFile(path, new NodeRandom());

/** Progress: verified digests, and the current file. */
export interface BackupNews {
  proven(digest: PartitionDigest): void;
  onFile(name: string): void;
}

/** A backup: its place, and the moment in a continuous copy; undefined: its end. */
export interface BackupAt {
  readonly from: string;
  readonly atMs: number | undefined;
}

/**
 * Copies the configured installation into `directory`, which must be empty or contain an interrupted attempt, or into a new
 * folder of a bucket.
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
    const { files, end } = await newFiles(config, directory, opened.installation.clusterId, onFile);
    const sealed = await sealedForWriting(files, config.storage.encryptionKey?.reveal(), new NodeRandom());
    if (keyTo !== undefined) await copyKey(sealKeyFile, keyTo);
    for (const shard of opened.installation.journals) await requireComplete(opened.source, shard);
    const manifest = await createBackup(opened.source, sealed, opened.installation, { madeBy: VERSION, keyId });
    await end();
    return manifest;
  } finally {
    await opened.close();
  }
}

/** The files of a new backup, and the step after its manifest. @throws CONFLICT for a directory with other files */
async function newFiles(config: Config, to: string, clusterId: string, onFile: BackupNews['onFile']) {
  if (!isBucket(to)) {
    const files = new BackupDirectory(to, onFile);
    await files.begin();
    return { files, end: () => files.end() };
  }
  const place = await openPlace(placeOptionsOf(config, to), onFile);
  const id = Buffer.from(new NodeRandom().bytes(ID_BYTES)).toString('hex');
  return { files: place.filesOf(folderName(clusterId, Date.now(), id)), end: async () => place.close() };
}

/** @throws INVALID if it is incomplete or has no such moment, JOURNAL_DAMAGED with the damaged part */
export async function proveBackup(config: Config, backup: BackupAt, news: BackupNews): Promise<BackupManifest> {
  const { place, files, manifest } = await openedAt(config, backup, news);
  try {
    const reader = { files, planes: BACKUP_PLANES, log: commandLog(config), release: VERSION };
    await verifyBackup(reader, manifest, news.proven);
    return manifest;
  } finally {
    place.close();
  }
}

export interface PlacedBackups {
  /** Newest first. */
  readonly backups: readonly CopyInFolder[];
  readonly isLocked: boolean;
}

/** The backups of a place that has folders. @throws BAD_CONFIG, BACKUP_UNAVAILABLE, JOURNAL_DAMAGED */
export async function listBackups(config: Config, from: string): Promise<PlacedBackups> {
  const place = await openPlace(placeOptionsOf(config, from));
  try {
    const backups: CopyInFolder[] = [];
    for (const folder of await foldersIn(place)) {
      const copy = await copyIn(place, folder, opener(config));
      if (copy !== undefined) backups.push(copy);
    }
    return { backups, isLocked: await place.isLocked() };
  } finally {
    place.close();
  }
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
  backup: BackupAt,
  key: { readonly from?: string | undefined; readonly isLost: boolean },
  news: BackupNews,
): Promise<{ readonly manifest: BackupManifest; readonly shards: readonly RestoredShard[] }> {
  const log = commandLog(config);
  const { place, files, manifest } = await openedAt(config, backup, news);
  const reader = { files, planes: BACKUP_PLANES, log, release: VERSION };
  await checkFiles(files, manifest);
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
    place.close();
    await opened.close();
  }
}

async function openedAt(config: Config, { from, atMs }: BackupAt, { onFile }: BackupNews) {
  const place = await openPlace(placeOptionsOf(config, from), onFile);
  return { place, ...(await backupAt(place, opener(config), atMs)) };
}

/** @throws BAD_CONFIG when the backup is encrypted with another key than that of the settings */
function opener({ storage }: Config): OpenFiles {
  return (files) => sealedForReading(files, storage.encryptionKey?.reveal(), new NodeRandom());
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
