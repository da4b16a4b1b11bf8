/**
 * Limits of stored data, as this process knows them: those of plans, and the room on the disk. They are not a part of
 * the database and not journaled.
 */
import type { PartitionName } from '../kernel/index.js';

export interface DataLimit {
  /** Bytes of keys and values in the partition. */
  readonly maxBytes: number;
  /** Above it keys are evicted; otherwise growth is refused. */
  readonly isEvicting: boolean;
}

export interface DataLimits {
  /** Changes with every change of a limit, which must then be looked up again. */
  readonly version: number;
  /** Undefined: no limit except the engine's. */
  limitOf(partition: PartitionName): DataLimit | undefined;
  /** Bytes of one command of the database, and of one REST answer; undefined: unknown here. */
  maxCommandBytesOf(partition: PartitionName): number | undefined;
  /** The partition has refused growth because of the limit, or would have to; called repeatedly while that is so. */
  reached(partition: PartitionName): void;
}

/** For processes without plans. */
export const NO_DATA_LIMITS: DataLimits = {
  version: 0,
  limitOf: () => undefined,
  maxCommandBytesOf: () => undefined,
  reached: () => undefined,
};

/** Whether there is room to write. Checked before commands that may grow the data. */
export interface StorageGauge {
  /** True while free space is below the reserve that claims, deletes and snapshots need. Free of cost. */
  isFull(): boolean;
}

/** For processes without a storage limit. */
export const ROOMY: StorageGauge = { isFull: () => false };
