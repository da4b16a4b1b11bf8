/** A process's record in the meter's log, about once a second: the use since its record before. */
import type { AccountId, DatabaseId, SessionId } from '../kernel/index.js';
import {
  absent,
  integer,
  listOf,
  openFields,
  openRecord,
  optional,
  type RecordType,
  type Shape,
  type TypeOf,
  text,
  tuple,
  versioned,
} from '../kernel/schema/index.js';

/** A process's report that it has applied a change of grants. */
export const controlApplied = openFields({
  session: text<SessionId>(),
  /** The position in the control journal up to which everything is in force at this process. */
  position: integer,
});
export type ControlApplied = TypeOf<typeof controlApplied>;

/** Upper bounds in milliseconds, inclusive; one more bucket counts longer ones. A change needs a new format. */
export const LATENCY_BOUNDS_MS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096] as const;

/** Requests by duration: a number for each of LATENCY_BOUNDS_MS, and one for longer ones. */
export type LatencyClasses = readonly number[];

const latencies: Shape<LatencyClasses> = listOf(integer);
const database = text<DatabaseId>();
const index = text<DatabaseId>();

const rowOf1 = {
  database,
  commands: integer,
  writes: integer,
  errors: integer,
  hits: integer,
  misses: integer,
  bytesIn: integer,
  bytesOut: integer,
  /** Of all requests. */
  latencies,
};

const rowSince2 = {
  /** Of requests that wrote. */
  writeLatencies: latencies,
  /** The total duration of requests that only read, and of those that wrote. */
  readMicros: integer,
  writeMicros: integer,
  /** The number of calls of each called command, by its name in the command table. */
  commandCounts: listOf(tuple<[name: string, calls: number]>(text(), integer)),
  /** Open connections of this database in the process; undefined: not reported this time. */
  connections: optional(integer),
};

export type MeterRow = RecordType<typeof rowOf1> & Partial<RecordType<typeof rowSince2>>;

/** One kind of work of a search index: number, total duration, and durations. */
const work = openRecord({ micros: integer, latencies });
export type MeteredWork = TypeOf<typeof work>;

const searchRow = openRecord({
  index,
  queries: integer,
  updates: integer,
  reranks: integer,
  bytesIn: integer,
  bytesOut: integer,
  query: work,
  update: work,
  embedding: work,
  rerank: work,
});
export type MeterSearchRow = TypeOf<typeof searchRow>;

/** Records of earlier releases contain such rows; this one writes none. */
const queueRow = openRecord({ account: text<AccountId>(), bytesIn: integer, bytesOut: integer });

/** The size of a database's partition, reported by its owner. */
const kvGauge = openRecord({
  database,
  index: integer,
  keys: integer,
  storageBytes: integer,
  /** The epoch of that owner; missing in old records. */
  epoch: absent(integer),
});
export type MeterKvGauge = TypeOf<typeof kvGauge>;

const searchGauge = openRecord({ index, documents: integer, storageBytes: integer });
export type MeterSearchGauge = TypeOf<typeof searchGauge>;

const recordOf1 = {
  /** The process incarnation. */
  session: text<SessionId>(),
  /** 1, 2, 3 … within the session: a record that was stored twice has the same number twice. */
  number: integer,
  /** The UTC day of the use, in days since 1970-01-01, by the process's clock. */
  day: integer,
  atMs: integer,
  /** Open connections of the process when the record was written. */
  connections: integer,
};

const recordSince2 = {
  searches: listOf(searchRow),
  queues: listOf(queueRow),
  kvGauges: listOf(kvGauge),
  searchGauges: listOf(searchGauge),
};

export type MeterRecord = RecordType<typeof recordOf1> & { readonly rows: readonly MeterRow[] } & Partial<
    RecordType<typeof recordSince2>
  >;

const version1 = openRecord({ ...recordOf1, rows: listOf(openRecord(rowOf1)) });
const version2 = openRecord({ ...recordOf1, rows: listOf(openRecord({ ...rowOf1, ...rowSince2 })), ...recordSince2 });
export const meterRecord = versioned<MeterRecord>(2, version2, { 1: version1 });
