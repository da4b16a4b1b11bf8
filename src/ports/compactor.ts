/** Makes snapshots in parallel with the actors: in a separate process, or inline in the simulation. */
import type { ShardName } from '../kernel/index.js';

export interface CompactionJob {
  readonly shard: ShardName;
  readonly clusterId: string;
  /** Position of the last entry to cover, which this owner knows to be stored. */
  readonly upToPosition: number;
}

export interface CompactionResult {
  /** Name of the verified manifest: read back, loaded, digests compared. */
  readonly manifest: string;
  readonly manifestDigest: Uint8Array;
  readonly coveredNumber: number;
  readonly coveredPosition: number;
  /** Lowest position that recovery from either of the two newest verified manifests may still need. */
  readonly purgeBelow: number;
  readonly snapshotBytes: number;
}

export interface Compactor {
  /** One at a time in a process; the next waits. @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED; no data is lost then */
  compact(job: CompactionJob): Promise<CompactionResult>;
}
