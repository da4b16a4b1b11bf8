/** How much a database may hold, by its plan, as this process knows it. Not a part of the database: never journaled. */
import type { PartitionName } from '../kernel/index.js';

export interface DataLimit {
  /** Bytes of keys and values in the partition. */
  readonly maxBytes: number;
  /** Beyond it keys are dropped rather than growth refused. */
  readonly isEvicting: boolean;
}

export interface DataLimits {
  /** Another number after every change: time to look limits up again. */
  readonly version: number;
  /** Undefined: no limit beside the engine's own. */
  limitOf(partition: PartitionName): DataLimit | undefined;
  /** Bytes of one command of its database, and of one answer over REST; undefined: not known here. */
  maxCommandBytesOf(partition: PartitionName): number | undefined;
  /** The partition has refused to grow because of it, or would have to; told again and again while that is so. */
  reached(partition: PartitionName): void;
}

/** They hold where no plans are. */
export const NO_DATA_LIMITS: DataLimits = {
  version: 0,
  limitOf: () => undefined,
  maxCommandBytesOf: () => undefined,
  reached: () => undefined,
};
