/**
 * Reads and removes the objects of kept moments of databases (kept-state.ts).
 *
 *  KO1 a manifest is removed before its segments, so that an incomplete set never looks complete
 *  KO2 objects without a manifest, left by a process that died, are found and removed by the backup's name
 */
import { decodeManifest } from '../../codec/envelope/index.js';
import { type BackupId, MillraceError } from '../../kernel/index.js';
import type { Log, ObjectStore } from '../../ports/index.js';
import type { ManifestPartition } from '../../protocol/index.js';
import type { PartitionFold } from '../partition-fold.js';
import { SnapshotStore } from '../snapshot-store.js';

export interface KeptObjects {
  readonly objects: ObjectStore;
  readonly log: Log;
}

/** Separate from the names of shards, in which old snapshots are removed. */
export const KEPT_PREFIX = 'backup/';

export function prefixOf(backup: BackupId): string {
  return `${KEPT_PREFIX}${backup}/`;
}

export function isManifest(name: string): boolean {
  return name.endsWith('/manifest');
}

/** Reads a kept manifest. @throws NOT_FOUND when it is gone, JOURNAL_DAMAGED */
export async function readKept(objects: ObjectStore, manifest: string): Promise<ManifestPartition> {
  const bytes = await objects.get(manifest);
  if (bytes === undefined) throw new MillraceError('NOT_FOUND', `there is no kept state ${manifest}`, { manifest });
  const [partition, more] = decodeManifest(bytes).partitions;
  if (partition === undefined || more !== undefined) {
    throw new MillraceError('JOURNAL_DAMAGED', 'a kept manifest has not just one partition', { manifest });
  }
  return partition;
}

/**
 * Fills an empty fold, in slices of about 2 ms with a pause between.
 * @returns the kept segments
 * @throws NOT_FOUND when it is gone, INVALID when it has more than `maxBytes`, JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export async function loadKept(
  { objects, log }: KeptObjects,
  manifest: string,
  fold: PartitionFold,
  maxBytes: number,
  pause: () => Promise<void>,
): Promise<Uint8Array[]> {
  const partition = await readKept(objects, manifest);
  const { name } = partition;
  const bytes = partition.segments.reduce((sum, segment) => sum + segment.bytes, 0);
  if (bytes > maxBytes) {
    const message = `the kept state has ${bytes} bytes: at most ${maxBytes} can take a partition's place at once`;
    throw new MillraceError('INVALID', message, { partition: name, bytes, maxBytes });
  }
  const segments: Uint8Array[] = [];
  for await (const segment of new SnapshotStore(objects, log).segmentBytes(partition, pause)) {
    for (const _ of fold.applyInSlices(segment)) await pause();
    segments.push(segment);
  }
  if (fold.size === partition.keys) return segments;
  throw new MillraceError('JOURNAL_DAMAGED', 'a kept state has another number of keys', { partition: name });
}

/**
 * Removes manifests before their segments (KO1); missing objects are ignored. @param manifests names from `keepStates`
 */
export async function removeKept(objects: ObjectStore, manifests: readonly string[]): Promise<void> {
  for (const manifest of manifests) await removeBelow(objects, manifest.slice(0, manifest.lastIndexOf('/') + 1));
}

/** Removes all objects of a backup by its name (KO2). */
export function removeAllOf(objects: ObjectStore, backup: BackupId): Promise<void> {
  return removeBelow(objects, prefixOf(backup));
}

/** All backups that have objects, with or without a manifest. */
export async function keptBackups(objects: ObjectStore): Promise<Set<BackupId>> {
  const found = await objects.list(KEPT_PREFIX);
  return new Set(found.map(({ name }) => name.slice(KEPT_PREFIX.length).split('/')[0] as BackupId));
}

async function removeBelow(objects: ObjectStore, prefix: string): Promise<void> {
  const names = (await objects.list(prefix)).map(({ name }) => name);
  for (const name of names.filter(isManifest)) await objects.delete(name);
  for (const name of names.filter((name) => !isManifest(name))) await objects.delete(name);
}
