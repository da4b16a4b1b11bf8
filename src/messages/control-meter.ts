/** What a process writes to the meter's log, about once a second: what was used since its record before. */
import type { AccountId, DatabaseId, SessionId } from '../kernel/index.js';

/** Upper bounds in milliseconds, inclusive; one more bucket holds what took longer. Only ever a new format changes them. */
export const LATENCY_BOUNDS_MS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096] as const;

/** Requests by how long they took: a number for each of LATENCY_BOUNDS_MS, and one for what is beyond. */
export type LatencyClasses = readonly number[];

export interface MeterRow {
  readonly database: DatabaseId;
  readonly commands: number;
  readonly writes: number;
  readonly errors: number;
  readonly hits: number;
  readonly misses: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Of all requests. */
  readonly latencies: LatencyClasses;
  // ── since version 2 ──
  /** Of those that wrote. */
  readonly writeLatencies?: LatencyClasses;
  /** How long all requests together took that only read, and those that wrote. */
  readonly readMicros?: number;
  readonly writeMicros?: number;
  /** How often each command was called, by its name in the command table; those that were. */
  readonly commandCounts?: readonly (readonly [name: string, calls: number])[];
  /** Connections of this database that the process has open; left out: not told this time. */
  readonly connections?: number | undefined;
}

/** A kind of work of a search index: how often, how long together, and by how long. */
export interface MeteredWork {
  readonly micros: number;
  readonly latencies: LatencyClasses;
}

export interface MeterSearchRow {
  readonly index: DatabaseId;
  readonly queries: number;
  readonly updates: number;
  readonly reranks: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly query: MeteredWork;
  readonly update: MeteredWork;
  readonly embedding: MeteredWork;
  readonly rerank: MeteredWork;
}

export interface MeterQueueRow {
  readonly account: AccountId;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** How large a database's partition is, told by its owner. */
export interface MeterKvGauge {
  readonly database: DatabaseId;
  readonly index: number;
  readonly keys: number;
  readonly storageBytes: number;
  /** Of that owner, among those of the shard; left out in old records. */
  readonly epoch?: number | undefined;
}

export interface MeterSearchGauge {
  readonly index: DatabaseId;
  readonly documents: number;
  readonly storageBytes: number;
}

export interface MeterRecord {
  /** The process incarnation. */
  readonly session: SessionId;
  /** 1, 2, 3 … within the session: a record that was stored twice has the same number twice. */
  readonly number: number;
  /** Days since 1970-01-01 UTC on which all of it was used, by the process's clock. */
  readonly day: number;
  readonly atMs: number;
  /** Open connections of the process when it was written. */
  readonly connections: number;
  readonly rows: readonly MeterRow[];
  // ── since version 2 ──
  readonly searches?: readonly MeterSearchRow[];
  readonly queues?: readonly MeterQueueRow[];
  readonly kvGauges?: readonly MeterKvGauge[];
  readonly searchGauges?: readonly MeterSearchGauge[];
}
