/** What of the planes a backup has to know: how partitions are folded, and what in a state points out of its journal. */
import type { AccountId, PartitionName } from '../../kernel/index.js';
import type { PartitionFold } from '../partition-fold.js';

/** Logs beside the journals are written anew by a restore, from position 1. */
interface OldLogs {
  /** Position of the first record of the meter's log that the backup has. */
  readonly meterFrom: number;
}

export interface BackupPlanes {
  /** An empty one. @throws DEFECT for a partition of no plane */
  fold(partition: PartitionName): PartitionFold;
  /** Up to where a queue's state has taken its shard's intake; 0 in every other plane. */
  intakeTaken(fold: PartitionFold): number;
  /**
   * Effects that make positions in other logs, where the state has any, those that a restore gives: an intake begins
   * anew, and the meter's log with the first record that is there. Undefined: nothing changes.
   */
  rebased(fold: PartitionFold, logs: OldLogs): Uint8Array | undefined;
  /** Whose publishes an intake's record holds; undefined when it cannot be read. */
  accountOfIntake(record: Uint8Array): AccountId | undefined;
}
