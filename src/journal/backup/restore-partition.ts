/** Writes one partition of a backup as segments of its new shard, and reads it back. */
import type { PartitionName, ShardName } from '../../kernel/index.js';
import type { Log, ObjectStore } from '../../ports/index.js';
import type { BodySegmentRef, ManifestPartition, SegmentRef } from '../../protocol/index.js';
import { readBodySegment, writeBodySegments } from '../body-segments.js';
import { DEFAULT_COMPACTION_LIMITS } from '../compaction.js';
import { manifestPartition, writeSegments } from '../snapshot-partition.js';
import { SnapshotStore } from '../snapshot-store.js';
import type { FoldedPartition } from './fold-backup.js';
import type { BackupPlanes } from './planes.js';

export interface NewPlace {
  readonly objects: ObjectStore;
  readonly log: Log;
  readonly shard: ShardName;
  /** The number of the entry that the snapshot covers. */
  readonly number: number;
}

/**
 * Resolves when every object that the new shard's manifest will name is written, was read back, and gives the same
 * state.
 * @throws JOURNAL_DAMAGED when it does not; JOURNAL_UNAVAILABLE
 */
export async function restorePartition(
  { name, fold, link, before, objects }: FoldedPartition,
  place: NewPlace,
  planes: BackupPlanes,
): Promise<ManifestPartition> {
  const { shard, number, log } = place;
  const store = new SnapshotStore(place.objects, log);
  const { segmentBytes } = DEFAULT_COMPACTION_LIMITS;
  const target = { shard, number, partition: name };
  const segments = await writeSegments(store, target, fold, segmentBytes);
  const bodySegments: BodySegmentRef[] = [];
  if (fold.bodies !== undefined) {
    const both = new SnapshotStore(copiedBetween(objects, place.objects), log);
    const refs = await writeBodySegments(both, target, before?.bodySegments ?? [], fold.bodies, segmentBytes);
    bodySegments.push(...(await moved(refs, before, both, place, name)));
  }
  // The partition's chain continues: the next section names the last one that was backed up.
  const partition = manifestPartition(name, link, fold, segments, bodySegments);
  await store.loadWhole(partition, planes.fold(name), { checkDigest: true });
  for (const ref of bodySegments) await readBodySegment(store, name, ref);
  return partition;
}

/** Segments that were kept without reading are still in the backup only: they are copied unchanged. */
async function moved(
  refs: readonly BodySegmentRef[],
  before: ManifestPartition | undefined,
  both: SnapshotStore,
  { shard, number }: NewPlace,
  partition: PartitionName,
): Promise<BodySegmentRef[]> {
  // Compared by object identity, because a backup of a restored installation uses the same names.
  const carried = new Set(before?.bodySegments);
  let ordinal = refs.filter((ref) => !carried.has(ref)).length;
  const placed: BodySegmentRef[] = [];
  for (const ref of refs) {
    if (!carried.has(ref)) {
      placed.push(ref);
      continue;
    }
    const copy = async (of: SegmentRef, suffix: string) =>
      both.writeSegment(shard, number, partition, suffix, await both.readObject(partition, of));
    const bodies = await copy(ref.bodies, `b${ordinal}`);
    placed.push({ ...ref, bodies, index: await copy(ref.index, `i${ordinal}`) });
    ordinal += 1;
  }
  return placed;
}

/** Reads from the backup and writes to the new installation. */
function copiedBetween(from: ObjectStore, to: ObjectStore): ObjectStore {
  return {
    get: (name) => from.get(name),
    list: (prefix) => from.list(prefix),
    put: (name, bytes) => to.put(name, bytes),
    delete: (name) => to.delete(name),
  };
}
