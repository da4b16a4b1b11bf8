/**
 * Codec of snapshots of the statistics. The manifest is contents with their digest. A segment is the deflated
 * MessagePack list `[1, table, [row …]]`; a row is the list of its columns. Column `buckets.data` is described in
 * src/projections/stats/bucket.ts.
 *
 * Old bytes are decoded for ever (test/fixtures/journals/statistics-snapshot.json).
 */
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { describeError, MillraceError, newerAbout } from '../../kernel/index.js';
import {
  decoded,
  encoded,
  listOf,
  openFields,
  selfDescribing,
  type TypeOf,
  text,
  versioned,
} from '../../kernel/schema/index.js';
import {
  STATISTICS_TABLES,
  type StatisticsManifest,
  type StatisticsRow,
  type StatisticsTable,
  statisticsManifest,
} from '../../protocol/index.js';
import { decodeWithDigest, encodeWithDigest } from '../envelope/index.js';

/** The table determines a row's columns; the writer's release determines how many later columns there are. */
const row = listOf(selfDescribing<StatisticsRow[number]>());
const segment = versioned(1, openFields({ table: text(), rows: listOf(row) }));
/** Limit for an inflated segment: far more than is ever written, and a harmless amount of memory. */
const MAX_SEGMENT_BYTES = 256 * 1024 * 1024;

const deflated = promisify(deflate);
const inflated = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflate);

export function encodeStatisticsManifest(manifest: StatisticsManifest): Uint8Array {
  return encodeWithDigest(statisticsManifest, manifest);
}

/** @throws JOURNAL_DAMAGED for damaged bytes or an unknown version */
export function decodeStatisticsManifest(bytes: Uint8Array): StatisticsManifest {
  return decodeWithDigest(statisticsManifest, bytes, 'a manifest of statistics');
}

export interface StatisticsSegment {
  readonly table: StatisticsTable;
  readonly rows: readonly StatisticsRow[];
}

/** Deflates outside of the calling thread. */
export function encodeStatisticsSegment(given: StatisticsSegment): Promise<Uint8Array> {
  return deflated(encoded(segment, given));
}

/** @throws JOURNAL_DAMAGED */
export async function decodeStatisticsSegment(bytes: Uint8Array): Promise<StatisticsSegment> {
  const { table, rows } = await contentsOf(bytes);
  if (!Object.hasOwn(STATISTICS_TABLES, table)) throw damaged(`table ${table} is not known`);
  const { key, more, later } = STATISTICS_TABLES[table as StatisticsTable];
  const columns = key.length + more.length + later.length;
  const isRow = (row: StatisticsRow) =>
    row.length >= columns - later.length && row.length <= columns && row.every(isColumn);
  if (!rows.every(isRow)) throw damaged(`a row of ${table} has another shape`);
  return { table: table as StatisticsTable, rows: rows.map((row) => padded(row, columns)) };
}

async function contentsOf(bytes: Uint8Array): Promise<TypeOf<typeof segment>> {
  try {
    return decoded(segment, await inflated(bytes, { maxOutputLength: MAX_SEGMENT_BYTES }), 'what is in it');
  } catch (cause) {
    throw newerAbout('a segment of statistics', cause) ?? damaged(describeError(cause), cause);
  }
}

function padded(row: StatisticsRow, columns: number): StatisticsRow {
  return row.length === columns ? row : [...row, ...new Array<number>(columns - row.length).fill(0)];
}

function isColumn(value: StatisticsRow[number]): boolean {
  return typeof value === 'string' || value instanceof Uint8Array || Number.isSafeInteger(value);
}

function damaged(reason: string, cause?: unknown): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `a segment of statistics cannot be read: ${reason}`, {}, cause);
}
