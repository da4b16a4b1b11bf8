/** Makes snapshots beside the actors: in a process of its own, or inline in the simulation. */
import type { ShardName } from '../kernel/index.js';

export interface CompactionJob {
  readonly shard: ShardName;
  readonly clusterId: string;
  /** Position of the last entry to cover: one that this owner knows to be stored. */
  readonly upToPosition: number;
}

export interface CompactionResult {
  /** Name of the manifest, verified: read back, loaded, its digests compared. */
  readonly manifest: string;
  readonly manifestDigest: Uint8Array;
  readonly coveredNumber: number;
  readonly coveredPosition: number;
  /** Lowest position that recovery from either of the two newest verified manifests may still need. */
  readonly purgeBelow: number;
  readonly snapshotBytes: number;
}

export interface Compactor {
  /** One at a time in a process; the next waits. @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED; nothing is lost then */
  compact(job: CompactionJob): Promise<CompactionResult>;
}
