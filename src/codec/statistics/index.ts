/**
 * Snapshots of the statistics ↔ bytes. The manifest is contents with their digest. A segment is, deflated, the
 * MessagePack list `[1, table, [row …]]`, a row being the list of its columns. What is in `buckets.data` says
 * src/projections/stats/bucket.ts.
 *
 * Old bytes decode for ever (test/fixtures/journals/statistics-snapshot.json).
 */
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { Decoder, Encoder } from '@msgpack/msgpack';
import { describeError, MillraceError } from '../../kernel/index.js';
import {
  STATISTICS_TABLES,
  type StatisticsManifest,
  type StatisticsRow,
  type StatisticsTable,
  statisticsManifest,
} from '../../messages/index.js';
import { decodeWithDigest, encodeWithDigest } from '../envelope/index.js';

const VERSION = 1;
/** Of a segment when it is inflated: far above what is ever written, and far below what would hurt. */
const MAX_SEGMENT_BYTES = 256 * 1024 * 1024;

const encoder = new Encoder();
const decoder = new Decoder();
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
export function encodeStatisticsSegment({ table, rows }: StatisticsSegment): Promise<Uint8Array> {
  return deflated(encoder.encode([VERSION, table, rows]));
}

/** @throws JOURNAL_DAMAGED */
export async function decodeStatisticsSegment(bytes: Uint8Array): Promise<StatisticsSegment> {
  let raw: unknown;
  try {
    raw = decoder.decode(await inflated(bytes, { maxOutputLength: MAX_SEGMENT_BYTES }));
  } catch (cause) {
    throw damaged(describeError(cause), cause);
  }
  const [version, table, rows] = Array.isArray(raw) ? raw : [];
  if (version !== VERSION) throw damaged(`version ${String(version)} is not known`);
  if (typeof table !== 'string' || !Object.hasOwn(STATISTICS_TABLES, table)) {
    throw damaged(`table ${String(table)} is not known`);
  }
  const { key, more, later } = STATISTICS_TABLES[table as StatisticsTable];
  const columns = key.length + more.length + later.length;
  const isRow = (row: unknown) =>
    Array.isArray(row) && row.length >= columns - later.length && row.length <= columns && row.every(isValue);
  if (!Array.isArray(rows) || !rows.every(isRow)) throw damaged(`a row of ${table} has another shape`);
  return { table: table as StatisticsTable, rows: (rows as StatisticsRow[]).map((row) => padded(row, columns)) };
}

function padded(row: StatisticsRow, columns: number): StatisticsRow {
  return row.length === columns ? row : [...row, ...new Array<number>(columns - row.length).fill(0)];
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' || value instanceof Uint8Array || Number.isSafeInteger(value);
}

function damaged(reason: string, cause?: unknown): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `a segment of statistics cannot be read: ${reason}`, {}, cause);
}
