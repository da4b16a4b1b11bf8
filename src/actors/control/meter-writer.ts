/**
 * Counts what each database uses, in plain numbers, and writes it to the meter's log about once a second.
 *
 *  MW1 a record is sent again, same bytes, same number, until it is stored; meanwhile counting goes on
 *  MW2 a record holds the use of one UTC day
 *  MW3 memory is bounded by the databases in use: what cannot be written yet is added up, not queued
 */
import { encodeMeterRecord } from '../../codec/control/index.js';
import { type UtcDay, utcDayOf } from '../../domain/control/index.js';
import { type DatabaseId, describeError, type SessionId } from '../../kernel/index.js';
import { LATENCY_BOUNDS_MS, type MeterRow } from '../../messages/index.js';
import type { Clock, KvUsage, Log, Meter, MeterLog, Timer, Timers } from '../../ports/index.js';

export interface MeterWriterPorts {
  readonly meterLog: MeterLog;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export interface MeterWriterOptions {
  /** What a kill may lose. */
  readonly everyMs: number;
  /** Databases of one record, about a hundred bytes each: a message of NATS holds 1 MiB. */
  readonly maxRows: number;
  /** Open connections of the process. */
  connections(): number;
}

export const DEFAULT_METER_OPTIONS: MeterWriterOptions = { everyMs: 1000, maxRows: 2000, connections: () => 0 };

class Counts {
  commands = 0;
  writes = 0;
  errors = 0;
  hits = 0;
  misses = 0;
  bytesIn = 0;
  bytesOut = 0;
  readonly latencies: number[] = new Array(LATENCY_BOUNDS_MS.length + 1).fill(0);
}

interface DayCounts {
  readonly day: UtcDay;
  readonly byDatabase: Map<DatabaseId, Counts>;
}

export class MeterWriter implements Meter {
  #current: DayCounts = { day: 0, byDatabase: new Map() };
  /** Days that are over and not all written, oldest first. */
  readonly #earlier: DayCounts[] = [];
  #number = 0;
  /** MW1. */
  #unsettled: Uint8Array | undefined;
  #writing: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isFailing = false;

  constructor(
    private readonly ports: MeterWriterPorts,
    private readonly session: SessionId,
    private readonly options: MeterWriterOptions = DEFAULT_METER_OPTIONS,
  ) {}

  start(): void {
    this.#timer = this.ports.timers.after(this.options.everyMs, () => {
      void this.flush().then(() => {
        if (this.#timer !== undefined) this.start();
      });
    });
  }

  /** Writes what is left, if the log takes it at once. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.flush();
  }

  recordKv(database: DatabaseId, usage: KvUsage): void {
    const counts = this.#countsOf(database);
    counts.commands += usage.commands;
    counts.writes += usage.writes;
    counts.errors += usage.errors ?? 0;
    counts.hits += usage.hits ?? 0;
    counts.misses += usage.misses ?? 0;
    counts.bytesIn += usage.bytesIn;
    counts.bytesOut += usage.bytesOut;
    const bucket = bucketOf(usage.durationMs);
    counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1;
  }

  /** Writes everything counted so far; gives up, until the next time, when the log does not take it. Never rejects. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    for (;;) {
      this.#unsettled ??= this.#cut();
      if (this.#unsettled === undefined) return;
      try {
        await this.ports.meterLog.append(this.#unsettled);
      } catch (error) {
        // One line for an outage, not one a second.
        if (!this.#isFailing) this.ports.log.warn('meter.append-failed', { cause: describeError(error) });
        this.#isFailing = true;
        return;
      }
      if (this.#isFailing) this.ports.log.info('meter.appends-again', { number: this.#number });
      this.#isFailing = false;
      this.#unsettled = undefined;
    }
  }

  /** The next record's bytes; undefined when nothing was counted since. */
  #cut(): Uint8Array | undefined {
    const from = this.#earlier[0] ?? this.#current;
    if (from.byDatabase.size === 0) return undefined;
    const rows: MeterRow[] = [];
    for (const [database, counts] of from.byDatabase) {
      if (rows.length === this.options.maxRows) break;
      rows.push({ database, ...counts });
      from.byDatabase.delete(database);
    }
    if (from !== this.#current && from.byDatabase.size === 0) this.#earlier.shift();
    this.#number += 1;
    return encodeMeterRecord({
      session: this.session,
      number: this.#number,
      day: from.day,
      atMs: this.ports.clock.nowMs(),
      connections: this.options.connections(),
      rows,
    });
  }

  #countsOf(database: DatabaseId): Counts {
    const day = utcDayOf(this.ports.clock.nowMs());
    if (day !== this.#current.day) this.#turnTo(day);
    const { byDatabase } = this.#current;
    let counts = byDatabase.get(database);
    if (counts === undefined) {
      counts = new Counts();
      byDatabase.set(database, counts);
    }
    return counts;
  }

  /** MW2. Also back, when a wall clock was set: a few days may then wait at once, each once. */
  #turnTo(day: UtcDay): void {
    if (this.#current.byDatabase.size > 0) this.#earlier.push(this.#current);
    const known = this.#earlier.findIndex((counts) => counts.day === day);
    const [again] = known < 0 ? [] : this.#earlier.splice(known, 1);
    this.#current = again ?? { day, byDatabase: new Map() };
  }
}

function bucketOf(durationMs: number): number {
  let bucket = 0;
  while (bucket < LATENCY_BOUNDS_MS.length && durationMs > (LATENCY_BOUNDS_MS[bucket] as number)) bucket += 1;
  return bucket;
}
