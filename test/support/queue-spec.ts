/**
 * An account's queue with a manual clock, for specs: commands, attempts and events in short form (`accepted a`,
 * `started a`, `failed a, next in 12182`).
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type {
  AccountLimits,
  AccountTerms,
  AccountUsage,
  AttemptOutcome,
  BodySink,
  DeliverySettings,
  EngineOptions,
  HeldBounds,
  PublishItem,
  QueueBounds,
  QueueCommand,
  QueueContext,
  QueueEvent,
  QueueReply,
} from '../../src/domain/queue/index.js';
import { QueueEngine } from '../../src/domain/queue/index.js';
import type { MessageId } from '../../src/kernel/index.js';
import { PLAIN_DELIVERY } from './plain-delivery.js';

export const NOW_MS = Date.UTC(2026, 0, 15, 12);
const URL_A = 'https://a.example/hook';

const LIMITS: AccountLimits = {
  maxMessageBytes: 1024 * 1024,
  maxMessagesPerDay: 0,
  maxMessagesPerDayHard: 0,
  maxRequestsPerSecond: 0,
  maxEndpointsPerGroup: 100,
  maxDlqEntries: 1000,
  maxRetries: 10,
  maxGroups: 10,
  maxSchedules: 10,
  maxEvents: 10_000,
  dlqRetentionMs: 7 * 24 * 3600 * 1000,
  maxDelaySeconds: 365 * 24 * 3600,
  maxParallelism: 10,
  maxGlobalParallelism: 500,
  maxQueues: 10,
  timeoutSeconds: 900,
  budgetCents: 0,
};

export const SETTINGS: DeliverySettings = PLAIN_DELIVERY;

/** Options of a publish; all others have default values. */
export interface ItemOptions extends Partial<DeliverySettings> {
  readonly url?: string;
  readonly queueName?: string;
  readonly body?: string;
  readonly notBeforeMs?: number;
  readonly deduplication?: PublishItem['deduplication'];
}

export function item(id: string, options: ItemOptions = {}): PublishItem {
  const { url = URL_A, queueName, body = `body of ${id}`, notBeforeMs, deduplication, ...settings } = options;
  return {
    id: id as MessageId,
    destination: { kind: 'url', url, settings: { ...SETTINGS, ...settings } },
    queueName,
    body: Buffer.from(body),
    notBeforeMs,
    deduplication,
    callerIp: '192.0.2.1',
    isAlias: false,
  };
}

export function groupItem(id: string, name: string, headers: [string, string][] = []): PublishItem {
  return { ...item(id), destination: { kind: 'group', name, raw: { headers, query: [] } } };
}

const BOUNDLESS: HeldBounds = {
  messages: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  memoryBytes: Number.POSITIVE_INFINITY,
};

/** Stores bodies by number while they are needed. */
class BodyShelf implements BodySink {
  readonly contents = new Map<number, Uint8Array>();
  /** The bodies that are not needed for sending any more. */
  readonly unloaded: number[] = [];
  /** The bodies of messages that wait for a long time. */
  readonly rested: number[] = [];

  put(number: number, content: Uint8Array): void {
    this.contents.set(number, content);
  }

  drop(number: number): void {
    this.contents.delete(number);
  }

  unload(number: number): void {
    this.unloaded.push(number);
  }

  rest(number: number): void {
    this.rested.push(number);
  }
}

export class QueueSpec {
  readonly shelf: BodyShelf;
  readonly engine: QueueEngine;
  /** All recorded events. */
  readonly journal: QueueEvent[] = [];
  nowMs = NOW_MS;
  bounds: QueueBounds = { ofAccount: BOUNDLESS, ofRuns: BOUNDLESS };
  account: AccountTerms = { state: 'active', limits: LIMITS, centsPer100kMessages: 0 };
  #read = 0;

  constructor(
    readonly options: EngineOptions = {},
    shelf = new BodyShelf(),
  ) {
    this.shelf = shelf;
    this.engine = new QueueEngine(shelf, options);
  }

  get context(): QueueContext {
    return { nowMs: this.nowMs, account: this.account, boundsFor: () => this.bounds };
  }

  /** Sets the limits of stored data. @param ofRuns limits of active runs; the same by default */
  bound(ofAccount: Partial<HeldBounds>, ofRuns = ofAccount): this {
    this.bounds = { ofAccount: { ...BOUNDLESS, ...ofAccount }, ofRuns: { ...BOUNDLESS, ...ofRuns } };
    return this;
  }

  get held(): AccountUsage {
    return this.engine.heldAt(this.nowMs);
  }

  limit(limits: Partial<AccountLimits>): this {
    this.account = { ...this.account, limits: { ...this.account.limits, ...limits } };
    return this;
  }

  suspend(isSuspended = true): this {
    this.account = { ...this.account, state: isSuspended ? 'passive' : 'active' };
    return this;
  }

  /**
   * Executes a command with all steps of a long one.
   * @param take called for each step; the default runs the step
   */
  ask(command: QueueCommand, take: (step: () => void) => void = (step) => step()): QueueReply {
    const result = this.engine.execute(command, this.context, this.#record);
    if (!('next' in result)) return result;
    let reply: QueueReply | undefined;
    while (reply === undefined) {
      take(() => {
        const step = result.next();
        if (step.done === true) reply = step.value;
      });
    }
    return reply;
  }

  publish(...items: PublishItem[]): QueueReply {
    return this.ask({ type: 'Publish', items, isTold: false });
  }

  /**
   * Does all due work; `spare` is the number of free delivery slots of the process. @returns the number of started
   * attempts
   */
  work(room = 10_000, spare = Number.POSITIVE_INFINITY): number {
    let started = 0;
    do {
      const before = this.journal.length;
      started += this.engine.work(this.context, room - started, this.#record, spare - started);
      if (this.journal.length === before && started >= room) break;
    } while (this.engine.isBehind && started < room);
    return started;
  }

  /** Advances the clock and does due work at its instant. */
  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const at = this.engine.nextDueAtMs(this.context);
      if (at === undefined || at > untilMs) break;
      this.nowMs = Math.max(this.nowMs, at);
      const before = this.journal.length;
      this.work();
      if (this.journal.length === before && this.engine.nextDueAtMs(this.context) === at) break;
    }
    this.nowMs = untilMs;
    this.work();
  }

  /** Sets the outcome of the open attempt and does the following work. */
  outcome(id: string, outcome: number | AttemptOutcome, sentBody?: Uint8Array): QueueReply {
    const attempt = this.engine.attemptOf(id as MessageId);
    expect(attempt, `an open attempt of ${id}`).to.not.equal(undefined);
    const { retried, restarts } = attempt as NonNullable<typeof attempt>;
    const whole = typeof outcome === 'number' ? response(outcome) : outcome;
    return this.ask({ type: 'RecordAttempt', id: id as MessageId, retried, restarts, outcome: whole, sentBody });
  }

  /** The events since the previous call, in short form. */
  news(): string[] {
    const events = this.journal.slice(this.#read);
    this.#read = this.journal.length;
    return events.map(brief);
  }

  skipEvents(): this {
    this.news();
    return this;
  }

  /** A spec with the state of a replay, as after a crash. */
  replayed(): QueueSpec {
    return this.#copied(this.journal);
  }

  /** A spec with the state of a snapshot. */
  rebuilt(): QueueSpec {
    return this.#copied([...this.engine.rebuildingEvents()]);
  }

  /** A digest of all data of a snapshot, independent of order, and of the derived state. */
  digest(): string {
    const parts = [...this.engine.rebuildingEvents()].map((event) => JSON.stringify(event, plain));
    parts.push(JSON.stringify(this.engine.heldAt(0)));
    return createHash('sha256').update(parts.sort().join('\n')).digest('hex');
  }

  #copied(events: readonly QueueEvent[]): QueueSpec {
    const shelf = new BodyShelf();
    const copy = new QueueSpec(this.options, shelf);
    for (const event of events) copy.engine.evolve(event);
    for (const [number, content] of this.shelf.contents) shelf.contents.set(number, content);
    copy.account = this.account;
    copy.bounds = this.bounds;
    copy.nowMs = this.nowMs;
    copy.prepare();
    return copy;
  }

  prepare(): void {
    for (const _ of this.engine.prepare(this.nowMs));
  }

  readonly #record = (event: QueueEvent): void => {
    this.journal.push(event);
  };
}

export function response(status: number, header: [string, string][] = [], body = ''): AttemptOutcome {
  return { kind: 'response', status, header, body: Buffer.from(body), isCut: false, durationMs: 5 };
}

export function noResponse(error = 'connection refused'): AttemptOutcome {
  return { kind: 'no-response', error, durationMs: 5 };
}

/** Converts maps and bytes to a complete JSON form. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Map) return [...value].sort();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return value;
}

export function brief(event: QueueEvent): string {
  switch (event.type) {
    case 'MessageAccepted':
      return `accepted ${event.id}`;
    case 'AttemptStarted': {
      const { id, retried, restarts } = event;
      return `started ${id}${retried > 0 ? `, retry ${retried}` : ''}${restarts > 0 ? `, restart ${restarts}` : ''}`;
    }
    case 'MessageDelivered':
      return `delivered ${event.id}`;
    case 'AttemptFailed': {
      const next = event.nextAtMs === undefined ? 'for good' : `next in ${event.nextAtMs - event.atMs}`;
      return `failed ${event.id}, ${next}`;
    }
    case 'MessageDeadLettered':
      return `dead-lettered ${event.id}`;
    case 'CancelRequested':
      return `cancel requested ${event.id}`;
    case 'MessageCancelled':
      return `cancelled ${event.id}`;
    case 'DlqDeleted':
    case 'DlqExpired':
      return `${event.type} ${event.dlqIds.length}`;
    case 'QueueSet':
      return `queue ${event.name} set, ${event.parallelism}${event.isPaused ? ', paused' : ''}`;
    default:
      return event.type;
  }
}
