/** Read models over an in-memory journal with the entries of an account's owner. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteFiles } from '../../src/adapters/sqlite/index.js';
import type { ReadEntry } from '../../src/codec/envelope/index.js';
import { encodeQueueEvent } from '../../src/codec/queue/index.js';
import type {
  CarriedBody,
  DeliverySettings,
  Envelope,
  QueueEvent,
  QueueEventOf,
} from '../../src/domain/queue/index.js';
import type { AccountId, DlqId, MessageId, ShardName } from '../../src/kernel/index.js';
import type { LogQuery, Timer } from '../../src/ports/index.js';
import { type ReadModelOptions, ReadModels } from '../../src/projections/index.js';
import { queuePartition } from '../../src/protocol/index.js';
import { CLUSTER, ShardHistory } from '../spec/journal/shard-history.js';
import { eventually } from './eventually.js';
import { MemoryJournal, MemoryObjectStore } from './memory/index.js';
import { PLAIN_DELIVERY, PLAIN_ENVELOPE as SENT_ENVELOPE } from './plain-delivery.js';
import { RealTime, realTime } from './real-time.js';
import { silentLog } from './silent-log.js';

export const QUEUE_SHARD = 'QUEUE_0' as ShardName;
export const ACCOUNT = 'ac-aaaaaaaaaaaaaaaa' as AccountId;
export const OTHER_ACCOUNT = 'ac-bbbbbbbbbbbbbbbb' as AccountId;
export const T0 = 1_790_000_000_000;

export const PLAIN_SETTINGS: DeliverySettings = { ...PLAIN_DELIVERY, header: [['Content-Type', 'text/plain']] };

export const PLAIN_ENVELOPE: Envelope = { ...SENT_ENVELOPE, settings: PLAIN_SETTINGS };

export const ANYTHING: LogQuery = { filter: {}, states: [], order: 'earliestFirst', count: 100, cursor: undefined };

let bodies = 0;

/** A body with a unique number. */
export function bodyOf(text: string): CarriedBody {
  bodies += 1;
  const content = Buffer.from(text);
  return { number: bodies, bytes: content.length, content: new Uint8Array(content) };
}

export function accepted(
  id: string,
  changes: Partial<Extract<QueueEvent, { type: 'MessageAccepted' }>> = {},
): QueueEvent {
  const atMs = changes.atMs ?? T0;
  return {
    type: 'MessageAccepted',
    id: id as MessageId,
    atMs,
    envelope: PLAIN_ENVELOPE,
    body: bodyOf(`body of ${id}`),
    notBeforeMs: atMs,
    deduplication: undefined,
    retryOf: undefined,
    holdsPlaceOf: undefined,
    ...changes,
  };
}

export function started(id: string, atMs = T0, retried = 0): QueueEvent {
  return { type: 'AttemptStarted', id: id as MessageId, atMs, retried, restarts: 0 };
}

export function delivered(id: string, atMs = T0): QueueEventOf<'MessageDelivered'> {
  return { type: 'MessageDelivered', id: id as MessageId, atMs, status: 200, durationMs: 3 };
}

export function failed(id: string, atMs: number, nextAtMs: number | undefined): QueueEvent {
  return {
    type: 'AttemptFailed',
    id: id as MessageId,
    atMs,
    status: 500,
    durationMs: 3,
    error: 'HTTP status 500',
    header: [['X-Why', 'because']],
    response: new Uint8Array(Buffer.from('out of order')),
    nextAtMs,
  };
}

export function deadLettered(id: string, dlqId: string, atMs: number, status = 500): QueueEvent {
  return {
    type: 'MessageDeadLettered',
    id: id as MessageId,
    dlqId: dlqId as DlqId,
    atMs,
    status,
    error: `HTTP status ${status}`,
    header: [['X-Why', 'because']],
    response: bodyOf('out of order'),
  };
}

/** Pruning runs twenty times as often, because tests wait for it. */
class QuickRounds extends RealTime {
  override roughlyAfter(delayMs: number, action: () => void): Timer {
    return this.after(delayMs / 20, action);
  }
}

const quickRounds = new QuickRounds();

export class MessageLogStand {
  readonly journal = new MemoryJournal({ clock: realTime, timers: realTime, aliveEveryMs: 20 });
  readonly objects = new MemoryObjectStore();
  readonly folder = mkdtempSync(join(tmpdir(), 'millrace-read-models-'));
  readonly snapshotBodies = new Map<number, Uint8Array>();
  readonly #reads: ReadEntry[] = [];
  readonly #opened: ReadModels[] = [];
  history: ShardHistory;

  constructor() {
    this.journal.createStream(QUEUE_SHARD);
    this.history = new ShardHistory(this.journal, { shard: QUEUE_SHARD });
  }

  /** Stores one entry with one section. */
  async store(events: readonly QueueEvent[], account = ACCOUNT): Promise<void> {
    if (this.history.epoch === 0) await this.history.claim();
    const effects = Buffer.concat(events.map((event) => encodeQueueEvent(event)));
    const section = this.history.section(queuePartition(account), new Uint8Array(effects));
    const entry = this.history.entry({ kind: 'batch', commandIds: [], sections: [section] });
    const { hash, position } = await this.history.append(entry.body);
    this.#reads.push({ entry, hash, totalBytes: effects.length, position, firstPosition: position });
  }

  /** All entries of `store`, as a follower reads them. */
  reads(): readonly ReadEntry[] {
    return this.#reads;
  }

  files(name = 'messages.db'): SqliteFiles {
    return new SqliteFiles(join(this.folder, name));
  }

  open(options: Partial<ReadModelOptions> = {}, name = 'messages.db'): ReadModels {
    const { journal, objects } = this;
    const bodiesOfSnapshot = {
      read: async (_shard: ShardName, _partition: string, number: number) =>
        this.snapshotBodies.get(number) ?? Buffer.from('?'),
    };
    const ports = { clock: realTime, timers: quickRounds, journal, objects, bodies: bodiesOfSnapshot, log: silentLog };
    const models = new ReadModels(ports, this.files(name), {
      clusterId: CLUSTER,
      shards: [QUEUE_SHARD],
      follower: { lingerMs: 1, retryMs: 10 },
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 1_000_000 },
      // The long wait prevents a page without the newest events on a busy machine.
      waitMs: 60_000,
      ...options,
    });
    models.start();
    this.#opened.push(models);
    return models;
  }

  async close(models: ReadModels): Promise<void> {
    this.#opened.splice(this.#opened.indexOf(models), 1);
    await models.stop();
  }

  /** All events of an account, page by page, as a reader of the log gets them. */
  async all(models: ReadModels, query: Partial<LogQuery> = {}, account = ACCOUNT) {
    const events = [];
    let cursor: string | undefined;
    do {
      const page = await models.events(account, { ...ANYTHING, ...query, cursor }, this.history.head.position);
      events.push(...page.events);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return events;
  }

  async untilPruned(models: ReadModels, count: number, account = ACCOUNT): Promise<void> {
    await eventually(async () => {
      const found = (await this.all(models, {}, account)).length;
      if (found !== count) throw new Error(`${found} events are there`);
    });
  }

  async end(): Promise<void> {
    for (const models of [...this.#opened]) await this.close(models);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
