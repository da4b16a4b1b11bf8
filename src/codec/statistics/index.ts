/**
 * Snapshots of the statistics ↔ bytes. The manifest is `[1, contents, SHA-256 of contents]` in MessagePack, where
 * contents is a MessagePack list:
 *
 *   [clusterId, createdAtMs,
 *    [[shard, createdAt, position, entry, hash, clockMs, hasGap (0 or 1), dlqFrom] …],
 *    [[object, bytes, sha256] …]]
 *
 * A segment is, deflated, the MessagePack list `[1, table, [row …]]`, a row being the list of its columns. What is in
 * `buckets.data` says src/projections/stats/bucket.ts.
 *
 * Old bytes decode for ever (test/fixtures/journals/statistics-snapshot.json).
 */
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { Decoder, Encoder } from '@msgpack/msgpack';
import { describeError, MillraceError, type ShardName } from '../../kernel/index.js';
import {
  STATISTICS_TABLES,
  type StatisticsManifest,
  type StatisticsMark,
  type StatisticsRow,
  type StatisticsTable,
} from '../../messages/index.js';
import { Fields, HASH_BYTES, sha256 } from '../envelope/index.js';

const VERSION = 1;
const WHAT = 'a manifest of statistics';
/** Of a segment when it is inflated: far above what is ever written, and far below what would hurt. */
const MAX_SEGMENT_BYTES = 256 * 1024 * 1024;

const encoder = new Encoder();
const decoder = new Decoder();
const deflated = promisify(deflate);
const inflated = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflate);

export function encodeStatisticsManifest({ clusterId, createdAtMs, marks, segments }: StatisticsManifest): Uint8Array {
  const contents = encoder.encode([
    clusterId,
    createdAtMs,
    marks.map(({ shard, createdAt, position, entry, hash, clockMs, hasGap, dlqFrom }) => [
      shard,
      createdAt,
      position,
      entry,
      hash,
      clockMs,
      hasGap ? 1 : 0,
      dlqFrom,
    ]),
    segments.map((segment) => [segment.object, segment.bytes, segment.sha256]),
  ]);
  return encoder.encode([VERSION, contents, sha256(contents)]);
}

/** @throws JOURNAL_DAMAGED for anything that is not a whole manifest of a version known here */
export function decodeStatisticsManifest(bytes: Uint8Array): StatisticsManifest {
  const outer = new Fields(bytes, WHAT);
  const version = outer.number(0);
  if (version !== VERSION) throw outer.damage(`version ${version} is not known`);
  const contents = outer.bytes(1);
  if (Buffer.compare(sha256(contents), outer.bytes(2, HASH_BYTES)) !== 0) {
    throw outer.damage('its contents do not have their digest');
  }
  const fields = new Fields(contents, WHAT);
  return {
    clusterId: fields.text(0),
    createdAtMs: fields.number(1),
    marks: fields.list(2).all((marks, at) => decodeMark(marks.list(at))),
    segments: fields.list(3).all((segments, at) => {
      const segment = segments.list(at);
      return { object: segment.text(0), bytes: segment.number(1), sha256: segment.bytes(2, HASH_BYTES) };
    }),
  };
}

function decodeMark(fields: Fields): StatisticsMark {
  return {
    shard: fields.text(0) as ShardName,
    createdAt: fields.text(1),
    position: fields.number(2),
    entry: fields.number(3),
    hash: fields.bytes(4),
    clockMs: fields.number(5),
    hasGap: fields.number(6) === 1,
    dlqFrom: fields.number(7),
  };
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
