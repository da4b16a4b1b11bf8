/**
 * Counts what each database, search index and queue uses, in plain numbers, and writes it to the meter's log about once
 * a second.
 *
 *  MW1 a record is sent again, same bytes, same number, until it is stored; meanwhile counting goes on
 *  MW2 a record holds the use of one UTC day
 *  MW3 memory is bounded by the databases, indexes and accounts in use: what cannot be written yet is added up, not queued
 */
import { encodeMeterRecord } from '../../codec/control/index.js';
import { utcDayOf } from '../../domain/control/index.js';
import { type AccountId, type DatabaseId, describeError, type SessionId } from '../../kernel/index.js';
import type { MeterRecord } from '../../messages/index.js';
import type {
  Clock,
  KvGauge,
  KvUsage,
  Log,
  Meter,
  MeterLog,
  QueueUsage,
  SearchUsage,
  Timer,
  Timers,
} from '../../ports/index.js';
import { RecordLimit, UnwrittenDay } from './meter-counts.js';
import { MeterGauges } from './meter-gauges.js';

export interface MeterWriterPorts {
  readonly meterLog: MeterLog;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export interface MeterWriterOptions {
  /** What a kill may lose. */
  readonly everyMs: number;
  /** Databases, indexes and accounts of one record: making it holds up the process for some microseconds each. */
  readonly maxRows: number;
  /** Open connections of the process. */
  connections(): number;
}

const DEFAULT_METER_OPTIONS: MeterWriterOptions = { everyMs: 1000, maxRows: 500, connections: () => 0 };

/** About so many, estimated: a message of NATS holds 1 MiB, and a database may have called every command. */
const MAX_RECORD_BYTES = 512 * 1024;

export class MeterWriter implements Meter {
  #current = new UnwrittenDay(0);
  /** Days that are over and not all written, oldest first. */
  readonly #earlier: UnwrittenDay[] = [];
  readonly #gauges = new MeterGauges();
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
    this.#timer = this.ports.timers.every(this.options.everyMs, () => this.flush());
  }

  /** Writes what is left, if the log takes it at once. */
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

  recordQueue(account: AccountId, usage: QueueUsage): void {
    this.#today().addQueue(account, usage);
  }

  gaugeKv(gauge: KvGauge): void {
    this.#gauges.setKv(gauge);
  }

  gaugeSearch(index: DatabaseId, documents: number, storageBytes: number): void {
    this.#gauges.setSearch(index, documents, storageBytes);
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

  /** The next record's bytes; undefined when there is nothing to tell. */
  #cut(): Uint8Array | undefined {
    this.#gauges.passTime(this.ports.clock.monotonicMs());
    const from = this.#earlier[0] ?? this.#current;
    if (from.isEmpty && (from !== this.#current || this.#gauges.isEmpty)) return undefined;
    return encodeMeterRecord(this.#recordOf(from));
  }

  #recordOf(from: UnwrittenDay): MeterRecord {
    const room = new RecordLimit(this.options.maxRows, MAX_RECORD_BYTES);
    const isPast = from !== this.#current;
    const { isEmpty: isIdle } = from;
    // How things are now belongs to today.
    const cut = from.cut(room, (database) => (isPast ? undefined : this.#gauges.takeConnections(database)));
    const gauges = isPast ? undefined : this.#gauges.cut(room);
    if (isPast && from.isEmpty) this.#earlier.shift();
    this.#number += 1;
    const atMs = this.ports.clock.nowMs();
    return {
      session: this.session,
      number: this.#number,
      day: isIdle ? utcDayOf(atMs) : from.day,
      atMs,
      connections: this.options.connections(),
      ...cut,
      ...gauges,
      rows: [...cut.rows, ...(gauges?.rows ?? [])],
    };
  }

  /** What is counted now. */
  #today(): UnwrittenDay {
    const day = utcDayOf(this.ports.clock.nowMs());
    if (day !== this.#current.day) this.#turnTo(day);
    return this.#current;
  }

  /** MW2. Also back, when a wall clock was set: a few days may then wait at once, each once. */
  #turnTo(day: number): void {
    if (!this.#current.isEmpty) this.#earlier.push(this.#current);
    const known = this.#earlier.findIndex((counts) => counts.day === day);
    const [again] = known < 0 ? [] : this.#earlier.splice(known, 1);
    this.#current = again ?? new UnwrittenDay(day);
  }
}
