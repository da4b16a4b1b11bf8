/**
 * The knowledge of the planes that a backup needs: how to fold partitions, and which parts of a state refer to other
 * logs.
 */
import type { AccountId, PartitionName } from '../../kernel/index.js';
import type { PartitionFold } from '../partition-fold.js';

/** A restore writes the other logs again, from position 1. */
interface OldLogs {
  /** The position of the meter log's first record in the backup. */
  readonly meterFrom: number;
}

export interface BackupPlanes {
  /** Makes an empty fold. @throws DEFECT for a partition of an unknown plane */
  fold(partition: PartitionName): PartitionFold;
  /** The position up to which a queue's state has accepted its shard's intake; 0 in every other plane. */
  intakeTaken(fold: PartitionFold): number;
  /**
   * Effects that change the state's positions in other logs to those after the restore: an intake begins at 1, and the
   * meter's log with its first restored record. Undefined: no change.
   */
  rebased(fold: PartitionFold, logs: OldLogs): Uint8Array | undefined;
  /** The account of an intake record's publishes; undefined when the record cannot be read. */
  accountOfIntake(record: Uint8Array): AccountId | undefined;
}
