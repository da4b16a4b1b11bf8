/**
 * A simulated day of messages and meter records: the entries of an account's owner on a real nats-server, folded by
 * the read models into real files, with all retention rules active. The entries are some seconds old, and the clock
 * of the rules passes through a day.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QueuePartitionFold } from '../../src/actors/queue/index.js';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/adapters/nats/embedded/index.js';
import {
  connect,
  initCluster,
  JetStreamJournal,
  JetStreamMeterLog,
  JetStreamObjectStore,
  Names,
  type NatsConnections,
  streamSizes,
} from '../../src/adapters/nats/index.js';
import { measure } from '../../src/adapters/node/disk-usage.js';
import { SqliteFiles } from '../../src/adapters/sqlite/index.js';
import { encodeMeterRecord } from '../../src/codec/control/index.js';
import { encodeQueueEvent } from '../../src/codec/queue/index.js';
import type { QueueEvent } from '../../src/domain/queue/index.js';
import { compactShard, DEFAULT_COMPACTION_LIMITS } from '../../src/journal/index.js';
import type { DatabaseId, SessionId } from '../../src/kernel/index.js';
import { ReadModels, StatisticsModel } from '../../src/projections/index.js';
import { MeterTrimmer } from '../../src/projections/stats/meter-trimmer.js';
import { METER_SHARD, queuePartition } from '../../src/protocol/index.js';
import { ShardHistory } from '../spec/journal/shard-history.js';
import { kvRow } from '../unit/projections/stats/stats-stand.js';
import { eventually } from './eventually.js';
import { ACCOUNT, ANYTHING, accepted, bodyOf, delivered, failed, QUEUE_SHARD, started } from './message-log-stand.js';
import { findNatsServer, natsServerVersion } from './nats-server.js';
import { realTime } from './real-time.js';
import { silentLog } from './silent-log.js';

const MIDNIGHT = Date.UTC(2026, 8, 21);
const HOUR_MS = 3_600_000;
export const HOURS = 24;
const BODY_BYTES = 1000;
/** The number of messages in one entry. */
const ENTRY_MESSAGES = 20;
/** The number of databases used in each second. */
const DATABASES = 10;
const COUNTS = { kvShards: 1, queueShards: 1, replicas: 1 };

export interface DayOptions {
  /** The number of messages in an hour, each accepted, tried twice and delivered. */
  readonly messages: number;
  /** The number of meter records in an hour. */
  readonly records: number;
  /** The retention of the message log. */
  readonly retentionMs: number;
  readonly journalTotalBytes: number;
  readonly meterBytes: number;
}

export class DayOfTraffic {
  #hour = 0;
  #record = 0;
  /** The bytes that were appended to the meter's log. */
  meterBytesWritten = 0;
  readonly #history: ShardHistory;
  readonly #models: ReadModels;
  readonly #statistics: StatisticsModel;
  readonly #trimmer: MeterTrimmer;

  private constructor(
    readonly dataDir: string,
    private readonly server: EmbeddedServer,
    private readonly connections: NatsConnections,
    private readonly clusterId: string,
    private readonly options: DayOptions,
  ) {
    const names = new Names('');
    const journal = new JetStreamJournal(connections, names);
    const objects = new JetStreamObjectStore(connections, names);
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => realTime.monotonicMs() };
    const bodies = { read: async () => new Uint8Array() };
    const ports = { clock, timers: realTime, journal, objects, bodies, log: silentLog };
    const files = (name: string) => new SqliteFiles(join(dataDir, 'read-models', name));
    const retention = {
      maxAgeMs: options.retentionMs,
      maxAnswerAgeMs: options.retentionMs,
      maxEvents: Number.MAX_SAFE_INTEGER,
    };
    const shards = [QUEUE_SHARD];
    this.#history = new ShardHistory(journal, { shard: QUEUE_SHARD });
    this.#models = new ReadModels(ports, files('messages.db'), { clusterId, shards, retention });
    this.#statistics = new StatisticsModel(ports, files('stats.db'), {
      clusterId,
      shards,
      follower: { lingerMs: 25 },
      snapshots: { writer: 'day', meterBytes: options.meterBytes, lookEveryMs: 50 },
    });
    this.#trimmer = new MeterTrimmer({
      journal,
      timers: realTime,
      log: silentLog,
      coveredUpTo: () => this.#statistics.status().meterCoveredUpTo,
      countedUpTo: () => this.#record,
    });
    this.journal = journal;
    this.objects = objects;
    this.#names = names;
    this.#models.start();
    this.#statistics.start();
  }

  private readonly journal: JetStreamJournal;
  private readonly objects: JetStreamObjectStore;
  readonly #names: Names;

  static async begin(options: DayOptions): Promise<DayOfTraffic> {
    const dataDir = await mkdtemp(join(tmpdir(), 'millrace-day-'));
    const binary = findNatsServer();
    const server = await startEmbeddedServer({
      binary,
      version: natsServerVersion(binary),
      dataDir,
      log: silentLog,
      fsync: 'interval',
      onGiveUp: () => undefined,
    });
    const { user, password } = server.credentials;
    const connections = await connect({ servers: [server.url], user, password });
    const { clusterId } = await initCluster(connections, { ...COUNTS, prefix: '', allowUnsynced: true });
    return new DayOfTraffic(dataDir, server, connections, clusterId, options);
  }

  get nowMs(): number {
    return MIDNIGHT + this.#hour * HOUR_MS;
  }

  async hour(): Promise<void> {
    await Promise.all([this.#messages(), this.#meter()]);
    this.#hour += 1;
    await this.#folded();
    await this.#compact();
    await this.#trimmer.trim();
  }

  async #messages(): Promise<void> {
    if (this.#history.epoch === 0) {
      this.#history.epoch = 1;
      this.#history.clockMs = this.nowMs;
      await this.#history.append({ kind: 'claim', clusterId: this.clusterId });
    }
    const { messages } = this.options;
    for (let at = 0; at < messages; at += ENTRY_MESSAGES) {
      const atMs = this.nowMs + Math.floor((at / messages) * HOUR_MS);
      const ids = Array.from(
        { length: Math.min(ENTRY_MESSAGES, messages - at) },
        (_, n) => `msg_${this.#hour}_${at + n}`,
      );
      await this.#entry(
        ids.flatMap((id) => [accepted(id, { atMs, body: bodyOf(id.padEnd(BODY_BYTES, '.')) }), started(id, atMs)]),
      );
      await this.#entry(ids.flatMap((id) => [failed(id, atMs, atMs + 1000), started(id, atMs + 1000, 1)]));
      await this.#entry(ids.map((id) => delivered(id, atMs + 1000)));
      // The logs are read while they are written.
      await this.#models.events(ACCOUNT, { ...ANYTHING, filter: { messageId: ids.slice(0, 1) } }, 0);
    }
  }

  async #entry(events: readonly QueueEvent[]): Promise<void> {
    this.#history.clockMs = this.nowMs;
    const effects = new Uint8Array(Buffer.concat(events.map((event) => encodeQueueEvent(event))));
    const section = this.#history.section(queuePartition(ACCOUNT), effects);
    await this.#history.append({ kind: 'batch', commandIds: [], sections: [section] });
  }

  async #meter(): Promise<void> {
    const log = new JetStreamMeterLog(this.connections, this.#names);
    const { records } = this.options;
    const commandCounts = [
      ['GET', 5],
      ['SET', 3],
      ['HSET', 1],
    ] as const;
    for (let at = 0; at < records; at += 1) {
      this.#record += 1;
      const atMs = this.nowMs + Math.floor((at / records) * HOUR_MS);
      const rows = Array.from({ length: DATABASES }, (_, n) => {
        const database = `db-${String.fromCharCode(97 + n).repeat(16)}` as DatabaseId;
        return kvRow({
          database,
          commands: 9,
          writes: 4,
          bytesIn: 900,
          bytesOut: 2000,
          latencies: [0, 4, 5],
          commandCounts,
        });
      });
      const bytes = encodeMeterRecord({
        session: 'node-0123456789abcdef' as SessionId,
        number: this.#record,
        day: Math.floor(atMs / (24 * HOUR_MS)),
        atMs,
        connections: 3,
        rows,
      });
      this.meterBytesWritten += bytes.length;
      await log.append(bytes);
    }
  }

  async #folded(): Promise<void> {
    const { position } = this.#history.head;
    await eventually(async () => {
      await this.#models.events(ACCOUNT, { ...ANYTHING, count: 1 }, position);
      const { behindPositions, isCaughtUp, troubles } = this.#models.status();
      const counted = this.#statistics.status();
      if (!isCaughtUp || behindPositions > 0 || !counted.isCaughtUp || counted.behindPositions > 0) {
        throw new Error(`not folded: ${JSON.stringify([behindPositions, counted, troubles])}`);
      }
    });
  }

  async #compact(): Promise<void> {
    const { journalTotalBytes } = this.options;
    const ports = {
      journal: this.journal,
      objects: this.objects,
      clock: { nowMs: () => Date.now(), monotonicMs: () => realTime.monotonicMs() },
      log: silentLog,
    };
    const job = { shard: QUEUE_SHARD, clusterId: this.clusterId, upToPosition: this.#history.head.position };
    const total = { bytes: journalTotalBytes, shards: [QUEUE_SHARD] };
    const limits = { ...DEFAULT_COMPACTION_LIMITS, total };
    const { purgeBelow } = await compactShard(ports, job, () => new QueuePartitionFold(), limits);
    await this.journal.truncateFront(QUEUE_SHARD, purgeBelow);
  }

  /** The number of commands of the day in the statistics. */
  async commands(): Promise<number> {
    const { days } = await this.#statistics.database('db-aaaaaaaaaaaaaaaa' as DatabaseId, '1d', this.nowMs - 1);
    return days.reduce((sum, { commands }) => sum + commands, 0);
  }

  async firstMeterPosition(): Promise<number> {
    return (await this.journal.tail(METER_SHARD)).first;
  }

  bytes(): Promise<Map<string, number>> {
    const installation = { connections: this.connections, names: this.#names, layout: COUNTS };
    return measure({ dataDir: this.dataDir, streamSizes: () => streamSizes(installation) });
  }

  async end(): Promise<void> {
    await this.#models.stop();
    await this.#statistics.stop();
    await this.connections.close();
    await this.server.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
