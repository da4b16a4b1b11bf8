/**
 * Counts the use of each database and search index in plain numbers, and writes it to the meter's log about once
 * a second. With more databases in use than one record has rows, a part of them is written each second.
 *
 *  MW1 a record is sent again, with the same bytes and number, until it is stored; counting continues during that time
 *  MW2 a record holds the use of one UTC day
 *  MW3 memory is bounded by the databases and indexes in use, because unwritten counts are added up instead
 *      of queued
 *  MW4 counts wait for at most `MAX_ROUNDS` rounds, as long as the log accepts records
 */
import { encodeMeterRecord } from '../../codec/control/index.js';
import { utcDayOf } from '../../domain/control/index.js';
import { type DatabaseId, describeError, type SessionId } from '../../kernel/index.js';
import type { Clock, KvGauge, KvUsage, Log, Meter, MeterLog, SearchUsage, Timer, Timers } from '../../ports/index.js';
import type { MeterRecord } from '../../protocol/index.js';
import { RecordLimit, UnwrittenDay } from './meter-counts.js';
import { MeterGauges } from './meter-gauges.js';

export interface MeterWriterPorts {
  readonly meterLog: MeterLog;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export interface MeterWriterOptions {
  /** The time between two rounds. A kill may lose the counts of this time, with many databases of `MAX_ROUNDS` times it. */
  readonly everyMs: number;
  /** Databases and indexes in one record, and in a round as long as there are few. */
  readonly maxRows: number;
  /** Open connections of the process. */
  connections(): number;
}

const DEFAULT_METER_OPTIONS: MeterWriterOptions = { everyMs: 1000, maxRows: 500, connections: () => 0 };

/**
 * The most rounds for which counts wait (MW4). A row takes 60 µs of a process with read models, however few requests it
 * counts: rows of 2,000 databases each second took as much time as all else in a GET.
 */
const MAX_ROUNDS = 10;

/** Estimated. A NATS message holds 1 MiB, and a database may have called every command. */
const MAX_RECORD_BYTES = 512 * 1024;

export class MeterWriter implements Meter {
  #current = new UnwrittenDay(0);
  /** Past days that are not completely written, oldest first. */
  readonly #earlier: UnwrittenDay[] = [];
  readonly #gauges = new MeterGauges();
  #number = 0;
  /** The record that is sent until it is stored (MW1). */
  #unsettled: Uint8Array | undefined;
  #writing: Promise<void> | undefined;
  /** Rows that may still be written now. */
  #rowsLeft = 0;
  /** The most databases and indexes with unwritten counts since there were none. */
  #most = 0;
  #timer: Timer | undefined;
  #isFailing = false;

  constructor(
    private readonly ports: MeterWriterPorts,
    private readonly session: SessionId,
    private readonly options: MeterWriterOptions = DEFAULT_METER_OPTIONS,
  ) {}

  start(): void {
    this.#timer = this.ports.timers.every(this.options.everyMs, () => this.#writeRows(this.#rowsOfRound()));
  }

  /** Writes the remaining counts, if the log accepts them immediately. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.flush();
  }

  recordKv(database: DatabaseId, usage: KvUsage): void {
    this.#today().addKv(database, usage);
  }

  connected(database: DatabaseId, change: 1 | -1): void {
    this.#gauges.connected(database, change);
  }

  recordLookups(database: DatabaseId, hits: number, misses: number): void {
    this.#today().addLookups(database, hits, misses);
  }

  recordSearch(index: DatabaseId, usage: SearchUsage): void {
    this.#today().addSearch(index, usage);
  }

  gaugeKv(gauge: KvGauge): void {
    this.#gauges.setKv(gauge);
  }

  gaugeSearch(index: DatabaseId, documents: number, storageBytes: number): void {
    this.#gauges.setSearch(index, documents, storageBytes);
  }

  /** Writes everything counted so far; if the log does not accept it, the next call tries again. Never rejects. */
  flush(): Promise<void> {
    return this.#writeRows(Number.POSITIVE_INFINITY);
  }

  /** The part of all rows that is written in a round. It does not shrink with them, so that the last row is written in time. */
  #rowsOfRound(): number {
    const waiting = this.#earlier.reduce((sum, { size }) => sum + size, this.#current.size);
    this.#most = waiting === 0 ? 0 : Math.max(this.#most, waiting);
    return Math.max(this.options.maxRows, Math.ceil(this.#most / MAX_ROUNDS));
  }

  #writeRows(maxRows: number): Promise<void> {
    this.#rowsLeft = Math.max(this.#rowsLeft, maxRows);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      this.#rowsLeft = 0;
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
        // One line for an outage, instead of one each second.
        if (!this.#isFailing) this.ports.log.warn('meter.append-failed', { cause: describeError(error) });
        this.#isFailing = true;
        return;
      }
      if (this.#isFailing) this.ports.log.info('meter.appends-again', { number: this.#number });
      this.#isFailing = false;
      this.#unsettled = undefined;
    }
  }

  /** The bytes of the next record; undefined when there is none to write. */
  #cut(): Uint8Array | undefined {
    this.#gauges.passTime(this.ports.clock.monotonicMs());
    const from = this.#earlier[0] ?? this.#current;
    const hasRows = from.size > 0 && this.#rowsLeft > 0;
    if (!hasRows && (from !== this.#current || this.#gauges.isEmpty)) return undefined;
    return encodeMeterRecord(this.#recordOf(from));
  }

  #recordOf(from: UnwrittenDay): MeterRecord {
    const room = new RecordLimit(this.options.maxRows, MAX_RECORD_BYTES);
    const isPast = from !== this.#current;
    const isIdle = from.size === 0;
    // Present values belong to the present day.
    const cut = from.cut(room, this.#rowsLeft, (database) =>
      isPast ? undefined : this.#gauges.takeConnections(database),
    );
    this.#rowsLeft -= cut.rows.length + cut.searches.length;
    const gauges = isPast ? undefined : this.#gauges.cut(room);
    if (isPast && from.size === 0) this.#earlier.shift();
    this.#number += 1;
    const atMs = this.ports.clock.nowMs();
    return {
      session: this.session,
      number: this.#number,
      day: isIdle ? utcDayOf(atMs) : from.day,
      atMs,
      connections: this.options.connections(),
      queues: [],
      ...cut,
      ...gauges,
      rows: [...cut.rows, ...(gauges?.rows ?? [])],
    };
  }

  /** The counts of the present day. */
  #today(): UnwrittenDay {
    const day = utcDayOf(this.ports.clock.nowMs());
    if (day !== this.#current.day) this.#turnTo(day);
    return this.#current;
  }

  /**
   * Changes the day (MW2), also back to an earlier one after the wall clock was set: several days may then wait, each
   * once.
   */
  #turnTo(day: number): void {
    if (this.#current.size > 0) this.#earlier.push(this.#current);
    const known = this.#earlier.findIndex((counts) => counts.day === day);
    const [again] = known < 0 ? [] : this.#earlier.splice(known, 1);
    this.#current = again ?? new UnwrittenDay(day);
  }
}
