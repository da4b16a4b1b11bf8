/**
 * The cost of statistics: ten million events of one account over thirty days are folded into the file at full speed, with
 * one meter record for each second of a day; then every period is queried repeatedly, as an edge does. One process and one
 * thread run the same code as the read models' thread.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteFiles } from '../src/adapters/sqlite/index.js';
import type { ReadEntry } from '../src/codec/envelope/index.js';
import { encodeQueueEvent } from '../src/codec/queue/index.js';
import type { QueueEvent } from '../src/domain/queue/index.js';
import { PERIODS } from '../src/domain/statistics/index.js';
import type { AccountId, DatabaseId, MessageId, SessionId, ShardName } from '../src/kernel/index.js';
import type { Statistics } from '../src/ports/index.js';
import { type Checkpoint, type StatsCheckpoint, StatsReader, StatsStore } from '../src/projections/index.js';
import { LATENCY_BOUNDS_MS, METER_SHARD, type MeterRecord, queuePartition } from '../src/protocol/index.js';
import { answer, StatisticsClient } from '../src/query/index.js';
import { PLAIN_ENVELOPE } from '../test/support/plain-delivery.js';
import { atLeast, atMost, type Bench, type Figure } from './figures.js';
import { sized } from './sizes.js';

const EVENTS = sized(10_000_000, 200_000);
/** Accepted, started, delivered: the usual life. */
const EVENTS_OF_A_MESSAGE = 3;
const MESSAGES_OF_AN_ENTRY = 50;
const ENTRIES_OF_A_TRANSACTION = 8;
const METER_RECORDS = sized(86_400, 2000);
const DATABASES_OF_A_RECORD = 20;
const QUESTIONS = sized(500, 200);
/** Before the clock runs: compilers. */
const WARM_UP = 50;
const DAY_MS = 86_400_000;
const END_MS = Date.UTC(2026, 8, 30, 12);
const BEGIN_MS = END_MS - 30 * DAY_MS;
const SHARD = 'QUEUE_0' as ShardName;
const ACCOUNT = 'ac-aaaaaaaaaaaaaaaa' as AccountId;

export const statistics: Bench = {
  name: 'statistics',
  summary: `${EVENTS} events of an account folded, and every period asked for`,
  async run(progress) {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
    const path = join(folder, 'stats.db');
    const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
    const store = new StatsStore(new SqliteFiles(path), silent, { clusterId: 'bench', nowMs: () => END_MS });
    try {
      const figures = [...foldQueue(store, progress), ...foldMeter(store, progress)];
      figures.push(...(await ask(store, progress)));
      store.close();
      figures.push({ name: 'file', value: statSync(path).size / 2 ** 20, unit: 'MiB' });
      return { figures, skipped: [] };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function foldQueue(store: StatsStore, progress: (line: string) => void): Figure[] {
  let checkpoint: Checkpoint = {
    createdAt: 'bench',
    position: 0,
    entry: 0,
    hash: new Uint8Array(32),
    clockMs: 0,
    hasGap: false,
  };
  const transaction = MESSAGES_OF_AN_ENTRY * EVENTS_OF_A_MESSAGE * ENTRIES_OF_A_TRANSACTION;
  let spentMs = 0;
  let longestMs = 0;
  for (let events = 0; events < EVENTS; events += transaction) {
    const entries = Array.from({ length: ENTRIES_OF_A_TRANSACTION }, (_, at) =>
      entryOf(checkpoint.entry + at + 1, BEGIN_MS + (events / EVENTS) * (END_MS - BEGIN_MS)),
    );
    const beganMs = performance.now();
    checkpoint = store.apply(SHARD, entries, checkpoint).after;
    const tookMs = performance.now() - beganMs;
    spentMs += tookMs;
    longestMs = Math.max(longestMs, tookMs);
    if (events > 0 && events % (transaction * 1000) === 0) progress(`${events} events folded`);
  }
  return [
    { name: 'events of queues folded', value: (EVENTS / spentMs) * 1000, unit: '/s', target: atLeast(100_000) },
    { name: 'longest transaction', value: longestMs, unit: 'ms' },
  ];
}

function foldMeter(store: StatsStore, progress: (line: string) => void): Figure[] {
  let checkpoint: StatsCheckpoint = {
    ...{ createdAt: 'bench', position: 0, entry: 0, hash: new Uint8Array(), clockMs: 0, hasGap: false, dlqFrom: 0 },
  };
  let spentMs = 0;
  const batch = 500;
  for (let number = 1; number <= METER_RECORDS; number += batch) {
    const records = Array.from({ length: batch }, (_, at) => ({
      position: number + at,
      record: recordOf(number + at, END_MS - (METER_RECORDS - number - at) * 1000),
    }));
    const beganMs = performance.now();
    checkpoint = store.applyMeter(METER_SHARD, records, checkpoint).after;
    spentMs += performance.now() - beganMs;
  }
  progress(`${METER_RECORDS} records of the meter folded`);
  const rows = METER_RECORDS * DATABASES_OF_A_RECORD;
  return [{ name: 'rows of the meter folded', value: (rows / spentMs) * 1000, unit: '/s' }];
}

async function ask(store: StatsStore, progress: (line: string) => void): Promise<Figure[]> {
  const reader = new StatsReader(store);
  const kept: Statistics = {
    database: async (id, period, nowMs) => reader.database(id, period, nowMs),
    databases: async (ids, period, nowMs) => reader.databases(ids, period, nowMs),
    account: async (id, period, nowMs) => reader.account(id, period, nowMs),
    search: async (id, period, nowMs) => reader.search(id, period, nowMs),
    searchTotals: async (ids, nowMs) => reader.searchTotals(ids, nowMs),
  };
  const asked = new StatisticsClient((question) => answer(undefined as never, question, kept));
  const all = Array.from({ length: DATABASES_OF_A_RECORD }, (_, at) => databaseOf(at));
  const figures: Figure[] = [];
  for (const period of PERIODS) {
    for (const [of, question] of [
      ['an account', () => asked.account(ACCOUNT, period, END_MS)],
      [`${all.length} databases`, () => asked.databases(all, period, END_MS)],
      ['a database', () => asked.database(databaseOf(0), period, END_MS)],
    ] as const) {
      const times: number[] = [];
      let spent = process.cpuUsage();
      for (let at = -WARM_UP; at < QUESTIONS; at += 1) {
        if (at === 0) spent = process.cpuUsage();
        const beganMs = performance.now();
        await question();
        if (at >= 0) times.push(performance.now() - beganMs);
      }
      const { user, system } = process.cpuUsage(spent);
      const note = `${((user + system) / 1000 / QUESTIONS).toFixed(2)} ms of a core each`;
      times.sort((one, other) => one - other);
      const value = times[Math.floor(times.length * 0.99)] as number;
      figures.push({ name: `${period} of ${of}, p99`, value, unit: 'ms', target: atMost(50), note });
    }
    progress(`${period} asked for`);
  }
  return figures;
}

const CONTENT = new Uint8Array(200);

function entryOf(number: number, atMs: number): ReadEntry {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < MESSAGES_OF_AN_ENTRY; at += 1) {
    for (const event of lifeOf(`msg_${number}_${at}` as MessageId, atMs)) pieces.push(encodeQueueEvent(event));
  }
  const effects = new Uint8Array(Buffer.concat(pieces));
  const section = { partition: queuePartition(ACCOUNT), index: number, previousHash: new Uint8Array(32), effects };
  const body = { kind: 'batch', commandIds: [], sections: [section] } as const;
  const hash = new Uint8Array(32);
  const entry = { shard: SHARD, epoch: 1, writer: new Uint8Array(16), number, previousHash: hash, clockMs: atMs, body };
  return { entry, hash, totalBytes: effects.length, position: number, firstPosition: number };
}

function lifeOf(id: MessageId, atMs: number): QueueEvent[] {
  return [
    {
      ...{ type: 'MessageAccepted', id, atMs, envelope: PLAIN_ENVELOPE, notBeforeMs: atMs },
      body: { number: 1, bytes: CONTENT.length, content: CONTENT },
      ...{ deduplication: undefined, retryOf: undefined, holdsPlaceOf: undefined },
    },
    { type: 'AttemptStarted', id, atMs, retried: 0, restarts: 0 },
    { type: 'MessageDelivered', id, atMs: atMs + 5, status: 200, durationMs: 5 },
  ];
}

function recordOf(number: number, atMs: number): MeterRecord {
  const latencies = Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, at) => (at < 6 ? 10 : 0));
  const rows = Array.from({ length: DATABASES_OF_A_RECORD }, (_, at) => ({
    ...{ database: databaseOf(at), commands: 60, writes: 30, errors: 0, hits: 20, misses: 10 },
    ...{ bytesIn: 1000, bytesOut: 3000, latencies, writeLatencies: latencies.map((count) => count / 2) },
    ...{ readMicros: 10_000, writeMicros: 20_000, connections: 3 },
    commandCounts: ['GET', 'SET', 'HGET', 'HSET', 'INCR', 'EXPIRE'].map((name) => [name, 10] as const),
  }));
  return {
    ...{ session: 'node-0123456789abcdef' as SessionId, number, day: Math.floor(atMs / DAY_MS), atMs, connections: 60 },
    rows,
  };
}

function databaseOf(at: number): DatabaseId {
  return `db-aaaaaaaaaaaaaaa${'abcdefghijklmnopqrstuvwxyz'[at]}` as DatabaseId;
}
