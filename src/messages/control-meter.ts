/** What a process writes to the meter's log, about once a second: what was used since its record before. */
import type { DatabaseId, SessionId } from '../kernel/index.js';

/** Upper bounds in milliseconds, inclusive; one more bucket holds what took longer. Only ever a new format changes them. */
export const LATENCY_BOUNDS_MS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096] as const;

export interface MeterRow {
  readonly database: DatabaseId;
  readonly commands: number;
  readonly writes: number;
  readonly errors: number;
  readonly hits: number;
  readonly misses: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Requests by how long they took, a number for each of LATENCY_BOUNDS_MS and one for what is beyond. */
  readonly latencies: readonly number[];
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
}
