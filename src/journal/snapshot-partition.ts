/** One partition of a snapshot: its segments as objects, and its part of the manifest. */
import type { PartitionName, ShardName } from '../kernel/index.js';
import type { BodySegmentRef, ManifestPartition, SegmentRef } from '../protocol/index.js';
import type { ChainLink } from './chain.js';
import type { PartitionFold } from './partition-fold.js';
import type { SnapshotStore } from './snapshot-store.js';

/** The names of new objects are made from these. */
export interface PartitionTarget {
  readonly shard: ShardName;
  /** The number of the last entry that the snapshot covers. */
  readonly number: number;
  readonly partition: PartitionName;
}

/** Each segment is made when the one before it is stored. @throws JOURNAL_UNAVAILABLE */
export async function writeSegments(
  store: SnapshotStore,
  { shard, number, partition }: PartitionTarget,
  fold: PartitionFold,
  segmentBytes: number,
): Promise<SegmentRef[]> {
  const segments: SegmentRef[] = [];
  for (const bytes of fold.segments(segmentBytes)) {
    segments.push(await store.writeSegment(shard, number, partition, segments.length, bytes));
  }
  return segments;
}

/** @param link  of the partition's chain; the next section names it */
export function manifestPartition(
  name: PartitionName,
  link: ChainLink,
  fold: PartitionFold,
  segments: readonly SegmentRef[],
  bodySegments: readonly BodySegmentRef[],
): ManifestPartition {
  return {
    name,
    index: link.number,
    hash: link.hash,
    keys: fold.size,
    digest: fold.digest(),
    segments,
    ...(bodySegments.length === 0 ? {} : { bodySegments }),
    ...(fold.pending ? { pending: fold.pending } : {}),
  };
}
