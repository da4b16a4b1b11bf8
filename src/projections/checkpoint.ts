/** How far a read model has folded a shard, as its file keeps it. */
import type { SqlRow } from '../ports/index.js';

export interface Checkpoint {
  /** When the stream was made: another instant is another journal. */
  readonly createdAt: string;
  /** The position of the last message of the last entry. */
  readonly position: number;
  /** Number and hash of that entry; 0 before the first one. */
  readonly entry: number;
  readonly hash: Uint8Array;
  readonly clockMs: number;
  /** Entries were truncated before they could be folded: older events may be missing. */
  readonly hasGap: boolean;
}

/** Reads a row of a model's table of shards. */
export function checkpointIn(row: SqlRow): Checkpoint {
  return {
    createdAt: row.created_at as string,
    position: row.position as number,
    entry: row.entry as number,
    hash: row.hash as Uint8Array,
    clockMs: row.clock_ms as number,
    hasGap: row.has_gap === 1,
  };
}
