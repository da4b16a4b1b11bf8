/** A snapshot of the statistics: all counts up to a position of the meter's log and of each queue journal. */
import type { ShardName } from '../kernel/index.js';
import { bytes, integer, listOf, numberedFlag, openRecord, type TypeOf, text } from '../kernel/schema/index.js';
import { segmentRef } from './manifest.js';

/** The position up to which a journal was counted. */
const mark = openRecord({
  shard: text<ShardName>(),
  /** Of the stream: another value is another stream. */
  createdAt: text(),
  position: integer,
  /** Number and hash of the last entry; 0 for the meter's log, which has no chain. */
  entry: integer,
  hash: bytes,
  clockMs: integer,
  hasGap: numberedFlag,
  /** Entries up to this one changed the DLQ before its number was taken from a snapshot. */
  dlqFrom: integer,
});
export type StatisticsMark = TypeOf<typeof mark>;

export const statisticsManifest = openRecord({
  clusterId: text(),
  createdAtMs: integer,
  /** The meter's log first. */
  marks: listOf(mark),
  segments: listOf(segmentRef),
});
export type StatisticsManifest = TypeOf<typeof statisticsManifest>;

/** A row of a table, its columns in the order of `STATISTICS_TABLES`. */
export type StatisticsRow = readonly (number | string | Uint8Array)[];

/**
 * The tables of a snapshot, with the columns that identify a row first. A new column comes last, in `later`: rows of
 * old snapshots do not have it, and it is then 0.
 */
export const STATISTICS_TABLES = {
  subjects: { key: ['id'], more: ['kind', 'name', 'dlq'], later: [] },
  buckets: { key: ['subject', 'resolution', 'at_ms'], more: ['data'], later: [] },
  live: { key: ['account', 'id'], more: ['bytes', 'is_of_run', 'at_ms'], later: [] },
  sessions: { key: ['name'], more: ['number', 'day'], later: [] },
  sizes: { key: ['subject', 'part'], more: ['items', 'bytes'], later: ['epoch'] },
  connections: { key: ['subject', 'session'], more: ['open', 'at_ms'], later: [] },
} as const;
export type StatisticsTable = keyof typeof STATISTICS_TABLES;
