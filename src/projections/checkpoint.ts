/** The checkpoint of a shard in a read model's file: the position up to which it is folded. */
import type { ShardName } from '../kernel/index.js';
import type { SqlRow, SqlValue } from '../ports/index.js';

export interface Checkpoint {
  /** The creation time of the stream; another time means another journal. */
  readonly createdAt: string;
  /** The position of the last message of the last entry. */
  readonly position: number;
  /** Number and hash of that entry; 0 before the first one. */
  readonly entry: number;
  readonly hash: Uint8Array;
  readonly clockMs: number;
  /** Entries were removed before they were folded, so older events may be missing. */
  readonly hasGap: boolean;
}

/** Reads a row of the table of shards. */
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

/** The values of a row of the table of shards, in the order of its columns. */
export function checkpointRow(shard: ShardName, at: Checkpoint): readonly SqlValue[] {
  const { createdAt, position, entry, hash, clockMs, hasGap } = at;
  return [shard, createdAt, position, entry, hash, clockMs, hasGap ? 1 : 0];
}
