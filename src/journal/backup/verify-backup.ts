/**
 * Verifies a backup without an installation: the digest of every file, the chain of every shard, every snapshot against
 * a fold of its segments, and the bodies. It returns each partition's digest, which a restore must reach.
 */
import { createHash } from 'node:crypto';
import { MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import type { BackupFiles, FileRef, Log } from '../../ports/index.js';
import { readBodySegment } from '../body-segments.js';
import { SnapshotStore } from '../snapshot-store.js';
import { StatisticsSnapshots } from '../statistics-snapshots.js';
import { type BackupManifest, filesOf } from './backup-manifest.js';
import { BackupObjects } from './backup-objects.js';
import { readRange } from './copy-log.js';
import { type FoldedPartition, foldBackup } from './fold-backup.js';
import { isManifest, readKept } from './kept-objects.js';
import type { BackupPlanes } from './planes.js';

export interface PartitionDigest {
  readonly partition: PartitionName;
  readonly shard: ShardName;
  /** Keys, or the objects counted in its plane. */
  readonly keys: number;
  /** Index of its last section. */
  readonly sections: number;
  /** The digest of the state that a restore makes. */
  readonly digest: string;
}

export interface BackupReader {
  readonly files: BackupFiles;
  readonly planes: BackupPlanes;
  readonly log: Log;
  /** Version of the program. */
  readonly release: string;
}

/**
 * @param tell  called with each partition when it is verified
 * @throws JOURNAL_DAMAGED naming the first fault
 */
export async function verifyBackup(
  reader: BackupReader,
  manifest: BackupManifest,
  tell: (digest: PartitionDigest) => void,
): Promise<void> {
  const { files, planes, log, release } = reader;
  await checkFiles(files, manifest);
  const isOfThisRelease = manifest.madeBy === release;
  const { clusterId, meter } = manifest;
  for (const backup of manifest.journals) {
    for await (const folded of foldBackup(backup, { files, planes, log, clusterId, isOfThisRelease })) {
      await checkBodies(folded, log);
      tell(digestOf(folded, backup.shard, planes, meter.from));
    }
  }
  await checkKept(files, manifest, log);
  await checkStatistics(files, manifest, log);
  for (const range of [...manifest.intakes, meter]) {
    for await (const _ of readRange(files, range.records, range));
  }
}

/** Compares every file with its digest. @throws JOURNAL_DAMAGED naming the file */
export async function checkFiles(files: BackupFiles, manifest: BackupManifest): Promise<void> {
  for (const ref of filesOf(manifest)) await checkFile(files, ref);
}

/** Changes the state as a restore does. */
export function digestOf(
  { name: partition, fold, link }: FoldedPartition,
  shard: ShardName,
  planes: BackupPlanes,
  meterFrom: number,
): PartitionDigest {
  const effects = planes.rebased(fold, { meterFrom });
  if (effects !== undefined) fold.apply(effects);
  return { partition, shard, keys: fold.size, sections: link.number, digest: fold.digest() };
}

async function checkBodies({ name, before, objects }: FoldedPartition, log: Log): Promise<void> {
  const store = new SnapshotStore(objects, log);
  for (const ref of before?.bodySegments ?? []) await readBodySegment(store, name, ref);
}

/** Checks that each kept moment of a database is complete. */
async function checkKept(files: BackupFiles, { kept }: BackupManifest, log: Log): Promise<void> {
  const objects = await BackupObjects.open(files, kept);
  for (const { name } of await objects.list('')) {
    if (!isManifest(name)) continue;
    for await (const _ of new SnapshotStore(objects, log).segmentBytes(await readKept(objects, name)));
  }
}

/** Checks that the statistics can be read. */
async function checkStatistics(files: BackupFiles, { statistics = [] }: BackupManifest, log: Log): Promise<void> {
  if (statistics.length === 0) return;
  const snapshots = new StatisticsSnapshots(await BackupObjects.open(files, statistics), log);
  const stored = await snapshots.newest();
  if (stored === undefined) throw new MillraceError('JOURNAL_DAMAGED', 'the statistics of the backup do not read back');
  for await (const _ of snapshots.segments(stored.manifest));
}

async function checkFile(files: BackupFiles, { name, bytes, sha256 }: FileRef): Promise<void> {
  const pieces = await files.read(name);
  if (pieces === undefined) throw new MillraceError('JOURNAL_DAMAGED', `${name} of the backup is missing`);
  const hash = createHash('sha256');
  let read = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    read += piece.length;
  }
  if (read === bytes && hash.digest('hex') === sha256) return;
  throw new MillraceError('JOURNAL_DAMAGED', `${name} of the backup was changed after it was written`);
}
