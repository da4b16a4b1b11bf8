/**
 * Snapshots of the statistics ↔ bytes. The manifest is contents with their digest. A segment is, deflated, the
 * MessagePack list `[1, table, [row …]]`, a row being the list of its columns. What is in `buckets.data` says
 * src/projections/stats/bucket.ts.
 *
 * Old bytes decode for ever (test/fixtures/journals/statistics-snapshot.json).
 */
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { describeError, MillraceError } from '../../kernel/index.js';
import {
  decoded,
  encoded,
  listOf,
  openFields,
  selfTelling,
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
} from '../../messages/index.js';
import { decodeWithDigest, encodeWithDigest } from '../envelope/index.js';

/** Which columns a row has follows from its table; how many later ones, from the release that wrote it. */
const row = listOf(selfTelling<StatisticsRow[number]>());
const segment = versioned(1, openFields({ table: text(), rows: listOf(row) }));
/** A segment may have so many when it is inflated: far above what is ever written, and far below what would hurt. */
const MAX_SEGMENT_BYTES = 256 * 1024 * 1024;

const deflated = promisify(deflate);
const inflated = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflate);

export function encodeStatisticsManifest(manifest: StatisticsManifest): Uint8Array {
  return encodeWithDigest(statisticsManifest, manifest);
}

/** @throws JOURNAL_DAMAGED for anything that is not a whole manifest of a version known here */
export function decodeStatisticsManifest(bytes: Uint8Array): StatisticsManifest {
  return decodeWithDigest(statisticsManifest, bytes, 'a manifest of statistics');
}

export interface StatisticsSegment {
  readonly table: StatisticsTable;
  readonly rows: readonly StatisticsRow[];
}

/** Deflating is done beside the calling thread. */
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
    throw damaged(describeError(cause), cause);
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
