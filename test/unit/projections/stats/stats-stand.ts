/** Statistics over journals in memory: the logs of owners and processes, and the questions to the statistics. */
import { join } from 'node:path';
import { SqliteFiles } from '../../../../src/adapters/sqlite/index.js';
import { decodeMeterRecord, encodeMeterRecord } from '../../../../src/codec/control/index.js';
import type { QueueEvent } from '../../../../src/domain/queue/index.js';
import type { AccountId, DatabaseId, SessionId } from '../../../../src/kernel/index.js';
import type { ObjectStore, SqlFiles } from '../../../../src/ports/index.js';
import { StatisticsModel, type StatisticsOptions, StatsStore } from '../../../../src/projections/index.js';
import { LATENCY_BOUNDS_MS, METER_SHARD, type MeterRecord, type MeterRow } from '../../../../src/protocol/index.js';
import { CLUSTER } from '../../../spec/journal/shard-history.js';
import { eventually } from '../../../support/eventually.js';
import { MemoryMeterLog } from '../../../support/memory/index.js';
import { MessageLogStand, QUEUE_SHARD } from '../../../support/message-log-stand.js';
import { realTime } from '../../../support/real-time.js';
import { silentLog } from '../../../support/silent-log.js';

/** A Monday at midnight. */
export const MONDAY = Date.UTC(2026, 8, 21);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
export const INDEX = 'db-bbbbbbbbbbbbbbbb' as DatabaseId;
export const CLASSES = LATENCY_BOUNDS_MS.length + 1;

export function kvRow(row: Partial<MeterRow>): MeterRow {
  return {
    database: DATABASE,
    commands: 0,
    writes: 0,
    errors: 0,
    hits: 0,
    misses: 0,
    bytesIn: 0,
    bytesOut: 0,
    latencies: [],
    ...row,
  };
}

export function sessionOf(name: string): SessionId {
  return `node-${name}` as SessionId;
}

export class StatsStand {
  readonly queue = new MessageLogStand();
  /** The current time of the followers, which decides about retention. */
  nowMs = MONDAY + DAY;
  /** Snapshots are made only where a test requests them. */
  snapshots: StatisticsOptions['snapshots'] = { lookEveryMs: 2 ** 31 - 1 };
  readonly #meterLog: MemoryMeterLog;
  readonly #numbers = new Map<string, number>();
  readonly #opened = new Set<StatisticsModel>();

  constructor() {
    this.queue.journal.createStream(METER_SHARD);
    this.#meterLog = new MemoryMeterLog(this.queue.journal);
  }

  /** Stores the events as one entry. */
  store(events: readonly QueueEvent[], account?: AccountId): Promise<void> {
    return this.queue.store(events, account);
  }

  /** Stores a record of the meter. @returns the bytes of the record, to be stored again */
  async meter(atMs: number, record: Partial<MeterRecord>, process = 'a'): Promise<Uint8Array> {
    const number = (this.#numbers.get(process) ?? 0) + 1;
    this.#numbers.set(process, number);
    const bytes = encodeMeterRecord({
      session: sessionOf(process),
      number,
      day: Math.floor(atMs / DAY),
      atMs,
      connections: 0,
      rows: [],
      ...record,
    });
    await this.#meterLog.append(bytes);
    return bytes;
  }

  again(bytes: Uint8Array): Promise<void> {
    return this.#meterLog.append(bytes);
  }

  /** The records of the meter's log. */
  async records() {
    const { journal } = this.queue;
    const { last, createdAt } = await journal.tail(METER_SHARD);
    const all: { position: number; record: MeterRecord }[] = [];
    for await (const { position, bytes } of journal.read(METER_SHARD, 1, last)) {
      all.push({ position, record: decodeMeterRecord(bytes) });
    }
    return { of: { createdAt }, next: () => all.splice(0, 1) };
  }

  files(name = 'stats.db'): SqliteFiles {
    return new SqliteFiles(join(this.queue.folder, name));
  }

  newStore(files: SqlFiles = this.files()): StatsStore {
    return new StatsStore(files, silentLog, { clusterId: CLUSTER, nowMs: () => this.nowMs });
  }

  /** Resolves when all stored records have been counted. */
  async open(name?: string, clusterId = CLUSTER, objects?: ObjectStore): Promise<StatisticsModel> {
    const model = this.begin(name, clusterId, objects);
    await this.counted(model);
    return model;
  }

  begin(name?: string, clusterId = CLUSTER, objects: ObjectStore = this.queue.objects): StatisticsModel {
    const { journal } = this.queue;
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => realTime.monotonicMs() };
    const bodies = { read: async () => new Uint8Array() };
    const ports = { clock, timers: realTime, journal, objects, bodies, log: silentLog };
    const follower = { lingerMs: 1, retryMs: 10 };
    const snapshots = { writer: `process${this.#opened.size}`, ...this.snapshots };
    const options = { clusterId, shards: [QUEUE_SHARD], follower, snapshots };
    const model = new StatisticsModel(ports, this.files(name), options);
    model.start();
    this.#opened.add(model);
    return model;
  }

  async counted(model: StatisticsModel): Promise<void> {
    await eventually(() => {
      const { isCaughtUp, behindPositions, troubles } = model.status();
      if (!isCaughtUp || behindPositions > 0) throw new Error(`not counted: ${JSON.stringify({ troubles })}`);
    });
  }

  async close(model: StatisticsModel): Promise<void> {
    this.#opened.delete(model);
    await model.stop();
  }

  async end(): Promise<void> {
    for (const model of [...this.#opened]) await this.close(model);
    await this.queue.end();
  }
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The values other than 0, by their place counted from the end: 0 is the current step. */
export function fromEnd(values: readonly number[]): Record<number, number> {
  const places = values.map((value, at) => [values.length - 1 - at, value] as const);
  return Object.fromEntries(places.filter(([, value]) => value !== 0));
}
