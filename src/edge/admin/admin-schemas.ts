/** Schemas of the operators' API and its streams, by their names in the OpenAPI document. */

import type {
  AccountDay,
  AccountSeries,
  ClusterStatus,
  DatabaseDay,
  DatabaseSeries,
  NatsServerReport,
  ProcessStatus,
  ShardStatus,
  StreamReport,
  Wish,
} from '../../ports/index.js';
import { MESSAGE_METRICS, WORKFLOW_METRICS } from '../../ports/index.js';
import { type AnswerShape, json } from '../http/answer-shape.js';
import {
  FLAG,
  INSTANT,
  type JsonSchema,
  listOf,
  NUMBER,
  OBJECT,
  record,
  schemaNamed,
  TEXT,
  TIME,
  WHOLE,
  wordOf,
} from '../http/openapi/parts.js';
import { recordSchema } from '../http/openapi/record-schema.js';
import { KEY_TYPES } from './database-keys.js';
import { ATTENTION_LEVELS, type healthFor } from './health.js';

type Attention = Awaited<ReturnType<typeof healthFor>>['attention'][number];

const SHARDS = { shard: TEXT };
/** A word of a command: text, or base64 in an object. */
const WORD: JsonSchema = { oneOf: [TEXT, record({ base64: TEXT })] };
const COMMANDS: JsonSchema = listOf(listOf(WORD));
const MORE = { more: { ...FLAG, description: 'There was more than the answer holds.' } };
const LOOK = {
  type: TEXT,
  digest: { ...TEXT, description: 'Of value and expiry.' },
};
const WHEN_ASKED = { commands: { ...COMMANDS, description: 'Those that make it again; only when asked for.' } };
const ENTRY = { position: WHOLE, number: WHOLE, index: WHOLE };
const SCAN_CURSOR = { cursor: { ...TEXT, description: '0: there is no more.' } };
const WISH = { process: TEXT, by: TEXT, atMs: INSTANT };
const NONE: JsonSchema = { type: 'null' };

const PAST = {
  TimelineEntry: record(
    {
      ...SHARDS,
      ...ENTRY,
      epoch: WHOLE,
      time: TIME,
      partition: TEXT,
      previousHash: TEXT,
      hash: TEXT,
      effects: {
        ...listOf({ oneOf: [listOf(WORD), OBJECT] }),
        description: 'Of a database: commands, each a list of words. Of a queue: events.',
      },
    },
    {
      authors: {
        ...listOf(listOf({ oneOf: [TEXT, WHOLE] })),
        description: 'Authors with the number of successive effects that each made.',
      },
    },
  ),
  Timeline: record({ entries: listOf(schemaNamed('TimelineEntry')), ...MORE }),
  PastState: record({
    time: TIME,
    keys: WHOLE,
    bytes: WHOLE,
    shards: listOf(record({ ...SHARDS, position: WHOLE, entries: WHOLE })),
    partitions: listOf(record({ partition: TEXT, index: WHOLE, hash: TEXT })),
  }),
  PastKey: record({ key: WORD, ...LOOK }, WHEN_ASKED),
  PastKeys: record({ state: schemaNamed('PastState'), keys: listOf(schemaNamed('PastKey')), ...MORE }),
  KeyLook: record(LOOK, WHEN_ASKED),
  KeyChange: record({
    key: { oneOf: [...(WORD.oneOf as JsonSchema[]), NONE], description: 'Null: parameters, which belong to no key.' },
    before: { oneOf: [schemaNamed('KeyLook'), NONE] },
    after: { oneOf: [schemaNamed('KeyLook'), NONE] },
    partition: TEXT,
    change: wordOf(['created', 'changed', 'deleted', 'same', 'settings']),
    hasExpired: FLAG,
    entryCount: WHOLE,
    entries: {
      ...listOf(record({ ...ENTRY, time: TIME, commands: listOf(TEXT) })),
      description: 'Those that touched it: all, or the first and the last of many.',
    },
  }),
  KeyChanges: record({ changes: listOf(schemaNamed('KeyChange')), ...MORE }),
  Finding: record({ reason: TEXT }, { position: WHOLE, partition: TEXT }),
  AuditProgress: record({ ...SHARDS, phase: wordOf(['entries', 'snapshots']), done: WHOLE, total: WHOLE }),
  AuditReport: record(
    { ...SHARDS, findings: listOf(schemaNamed('Finding')) },
    {
      entries: WHOLE,
      records: { ...WHOLE, description: 'Of a log without a chain.' },
      firstPosition: WHOLE,
      lastPosition: WHOLE,
      number: WHOLE,
      hash: TEXT,
      snapshots: WHOLE,
      ofPartitions: listOf(
        record({ partition: TEXT, sections: WHOLE, lastIndex: WHOLE, findings: listOf(schemaNamed('Finding')) }),
      ),
    },
  ),
  AuditDone: record({ isFine: FLAG }),
};

const KEYS = {
  LiveKey: record(
    {
      key: WORD,
      type: wordOf(KEY_TYPES),
      ttlMs: { type: ['integer', 'null'], description: 'Null: it does not expire.' },
      bytes: { ...WHOLE, description: 'Of name and value, about.' },
    },
    { length: WHOLE },
  ),
  LiveKeys: record({ keys: listOf(schemaNamed('LiveKey')), ...SCAN_CURSOR }),
  KeyFolders: record({
    folders: listOf(record({ name: WORD, keys: WHOLE })),
    keys: listOf(schemaNamed('LiveKey')),
    ...SCAN_CURSOR,
  }),
};

const LIVE = {
  RunCommands: record({ commands: listOf(schemaNamed('RunCommand')), leftOut: WHOLE }),
  RunCommand: record(
    { time: INSTANT, client: TEXT, words: listOf(TEXT) },
    { isCut: { const: true, description: 'There is more of it.' } },
  ),
  ConnectedClients: record({
    clients: listOf({
      ...OBJECT,
      additionalProperties: { type: ['string', 'number'] },
      description: 'Names and values of CLIENT LIST.',
    }),
    ...MORE,
  }),
};

const HEALTH = {
  Health: recordSchema<Awaited<ReturnType<typeof healthFor>>>(
    {
      isWell: FLAG,
      attention: listOf(schemaNamed('Attention')),
      processes: listOf(schemaNamed('ProcessStatus')),
      metrics: {
        ...OBJECT,
        additionalProperties: { oneOf: [NUMBER, { ...OBJECT, additionalProperties: NUMBER }] },
        description: 'Counters and gauges of this process by their names: a number, or one for each label.',
      },
      verified: { oneOf: [record({ time: TIME, isFine: FLAG }), NONE], description: 'Null: not by this process.' },
    },
    {},
  ),
  Attention: recordSchema<Attention>(
    {
      about: wordOf(['cluster', 'disk', 'memory', 'queue', 'read models', 'proof', 'backups']),
      level: wordOf(ATTENTION_LEVELS),
      text: TEXT,
    },
    {
      since: {
        ...INSTANT,
        description: 'The beginning of the period that the text is about: milliseconds since 1970.',
      },
    },
  ),
};

const CLUSTER = {
  ClusterStatus: recordSchema<ClusterStatus>(
    {
      clusterId: TEXT,
      alarms: { ...listOf(TEXT), description: 'The problems that need an operator.' },
      processes: listOf(schemaNamed('ProcessStatus')),
      shards: listOf(schemaNamed('ShardStatus')),
      servers: listOf(schemaNamed('NatsServer')),
      streams: listOf(schemaNamed('Stream')),
      drained: listOf(schemaNamed('Wish')),
      moves: listOf(record({ ...WISH, ...SHARDS })),
    },
    { format: { ...WHOLE, description: 'The level of the forms in which things may be stored.' } },
  ),
  ProcessStatus: recordSchema<ProcessStatus>(
    { process: TEXT, state: wordOf(['ready', 'not-ready', 'silent', 'gone']), isDrained: FLAG, ownedShards: WHOLE },
    {
      session: TEXT,
      version: TEXT,
      host: TEXT,
      pid: WHOLE,
      roles: listOf(TEXT),
      startedAtMs: NUMBER,
      machineAheadMs: NUMBER,
      clockAheadMs: NUMBER,
      isClockInDoubt: FLAG,
      checks: listOf(record({ name: TEXT, ok: FLAG }, { detail: TEXT })),
      stopped: listOf(record({ ...SHARDS, why: TEXT })),
      readsFormat: WHOLE,
      worker: { ...WHOLE, description: 'Its number among the workers of its machine.' },
      silentForMs: { ...NUMBER, description: 'Of one that does not answer: the age of its last sign of life.' },
    },
  ),
  ShardStatus: recordSchema<ShardStatus>(SHARDS, {
    owner: { ...TEXT, description: 'Left out: it is on its way from one to another.' },
    epoch: WHOLE,
    state: TEXT,
    mailboxCommands: WHOLE,
    mailboxBytes: WHOLE,
    toReplay: WHOLE,
    replayed: WHOLE,
    position: WHOLE,
    lastStoreMs: NUMBER,
    snapshotAtMs: INSTANT,
    load: { ...NUMBER, description: 'The part of a core that its owner works on it.' },
    lag: { ...WHOLE, description: 'Messages of its journal that its owner has not said that it knows of.' },
    wished: TEXT,
  }),
  NatsServer: recordSchema<NatsServerReport>(
    { name: TEXT, state: wordOf(['well', 'no-store', 'missing']) },
    { version: TEXT, hasSyncAlways: FLAG, storedBytes: WHOLE, storeLimitBytes: WHOLE },
  ),
  Stream: recordSchema<StreamReport>(
    {
      stream: TEXT,
      bytes: WHOLE,
      messages: WHOLE,
      lastPosition: WHOLE,
      lagging: listOf(record({ server: TEXT, behind: WHOLE, isOffline: FLAG })),
    },
    { leader: TEXT },
  ),
  Wish: recordSchema<Wish>(WISH, {}),
};

const COUNTS: JsonSchema = listOf(NUMBER);
const LATENCIES: JsonSchema = record({ mean: COUNTS, p99: COUNTS });
const TIMES: JsonSchema = record({ firstAtMs: INSTANT, stepMs: WHOLE, count: WHOLE });
const BEHIND = { behind: record({ positions: WHOLE }, { ms: NUMBER }) };
const series = (names: readonly string[]) => record(Object.fromEntries(names.map((name) => [name, COUNTS])));

const STATISTICS = {
  DatabaseSeries: recordSchema<DatabaseSeries>(
    {
      times: TIMES,
      commands: COUNTS,
      reads: COUNTS,
      writes: COUNTS,
      hits: COUNTS,
      misses: COUNTS,
      bandwidthBytes: COUNTS,
      connections: COUNTS,
      keys: COUNTS,
      storageBytes: COUNTS,
      latency: LATENCIES,
      readLatency: LATENCIES,
      writeLatency: LATENCIES,
      commandCounts: listOf(record({ name: TEXT, counts: COUNTS })),
      days: listOf(schemaNamed('DatabaseDay')),
      current: record({ connections: NUMBER, keys: NUMBER, storageBytes: NUMBER }),
    },
    BEHIND,
  ),
  DatabaseDay: recordSchema<DatabaseDay>(
    { day: WHOLE, commands: NUMBER, writes: NUMBER, scripts: NUMBER, bandwidthBytes: NUMBER, storageBytes: NUMBER },
    {},
  ),
  QueueSeries: recordSchema<AccountSeries>(
    {
      times: TIMES,
      requests: COUNTS,
      workflowRequests: COUNTS,
      bandwidthBytes: COUNTS,
      messages: series(MESSAGE_METRICS),
      workflows: series(WORKFLOW_METRICS),
      days: listOf(schemaNamed('QueueDay')),
      dlqMessages: NUMBER,
    },
    BEHIND,
  ),
  QueueDay: recordSchema<AccountDay>(
    {
      day: WHOLE,
      requests: NUMBER,
      workflowRequests: NUMBER,
      workflowRuns: NUMBER,
      messages: NUMBER,
      bandwidthBytes: NUMBER,
    },
    {},
  ),
};

export const ADMIN_SCHEMAS = { ...PAST, ...KEYS, ...LIVE, ...HEALTH, ...CLUSTER, ...STATISTICS };

export function adminAnswer(name: keyof typeof ADMIN_SCHEMAS): AnswerShape {
  return json(schemaNamed(name));
}
