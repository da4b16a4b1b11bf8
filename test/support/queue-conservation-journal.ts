/**
 * Checks the journal of a queue for consistency, and compares it with the calls at destinations. The journal has
 * exact facts that destinations see only with network delays: the start of each attempt and its window.
 *
 *  QCJ1 a message is accepted once and ends once; no event of it comes before or after
 *  QCJ2 every call belongs to a journaled attempt; an attempt that is journaled as delivered was answered
 *  QCJ3 within each window a key starts no more attempts than its rate, and has no more active than its parallelism
 *  QCJ4 each tick of a schedule is executed once
 *  QCJ5 a run starts once and ends once
 */
import { decodeQueueEvents } from '../../src/codec/queue/index.js';
import type { QueueEvent, QueueEventOf } from '../../src/domain/queue/index.js';
import type { AccountId } from '../../src/kernel/index.js';
import { isQueuePartition, queuePartition } from '../../src/protocol/index.js';
import type { JournalReader } from './journal-reader.js';
import { type CallRecord, isDelivery } from './queue-conservation-history.js';

const MAX_VIOLATIONS = 20;

/** Reads the events of one account, or of the only one, in order. The journal must be complete from its start. */
export async function queueEventsOf(journal: JournalReader, shard: string, account?: AccountId): Promise<QueueEvent[]> {
  const isMeant = (partition: string): boolean =>
    account === undefined ? isQueuePartition(partition) : partition === queuePartition(account);
  const events: QueueEvent[] = [];
  for (const { entry } of await journal.entries(shard)) {
    if (entry.body.kind !== 'batch') continue;
    for (const { partition, effects } of entry.body.sections) {
      if (isMeant(partition)) for (const event of decodeQueueEvents(effects)) events.push(event);
    }
  }
  return events;
}

/** @param isWatched returns true if all calls of a destination are recorded. @returns one line for each violation */
export function judgeQueueJournal(
  events: readonly QueueEvent[],
  calls: readonly CallRecord[],
  isWatched: (url: string) => boolean,
): string[] {
  const fold = new JournalJudge();
  for (const event of events) fold.take(event);
  fold.compare(calls, isWatched);
  return fold.violations.slice(0, MAX_VIOLATIONS);
}

/**
 * Marks answers that the caller did not read: on a busy machine a process may read no data for as long as an
 * attempt's time limit. The destination sees these calls as answered, and the journal as timed out.
 */
export function markUnreported(events: readonly QueueEvent[], calls: readonly CallRecord[]): void {
  const retriedById = new Map<string, number>();
  const givenUp = new Set<string>();
  for (const event of events) {
    if (event.type === 'AttemptStarted') retriedById.set(event.id, event.retried);
    else if (event.type === 'AttemptFailed' && event.error?.startsWith('timed out') === true)
      givenUp.add(`${event.id} ${retriedById.get(event.id)}`);
  }
  for (const call of calls)
    if (givenUp.has(`${call.id} ${call.retried}`) && call.end === 'answered') call.end = 'closed';
}

interface Flow {
  windowStartedAtMs: number;
  started: number;
  readonly active: Set<string>;
}

class JournalJudge {
  readonly violations: string[] = [];
  readonly #accepted = new Map<string, QueueEventOf<'MessageAccepted'>>();
  readonly #ended = new Map<string, string>();
  readonly #started = new Set<string>();
  readonly #flows = new Map<string, Flow>();
  readonly #ticks = new Set<string>();
  readonly #runs = new Set<string>();

  take(event: QueueEvent): void {
    switch (event.type) {
      case 'MessageAccepted':
        if (this.#accepted.has(event.id)) this.violations.push(`${event.id} is accepted twice`);
        this.#accepted.set(event.id, event);
        break;
      case 'AttemptStarted':
        this.#expectAlive(event);
        this.#started.add(`${event.id} ${event.retried}`);
        this.#startInFlow(event);
        break;
      case 'AttemptFailed':
        this.#expectAlive(event);
        this.#flowOf(event.id)?.active.delete(event.id);
        break;
      case 'MessageDelivered':
      case 'MessageDeadLettered':
      case 'MessageCancelled':
        this.#expectAlive(event);
        this.#ended.set(event.id, event.type);
        this.#flowOf(event.id)?.active.delete(event.id);
        break;
      case 'RunStarted':
      case 'RunEnded': {
        const step = `${event.type} of ${event.runId}`;
        if (this.#runs.has(step)) this.violations.push(`${step} is there twice`);
        this.#runs.add(step);
        break;
      }
      case 'ScheduleFired':
      case 'ScheduleSkipped': {
        const tick = `${event.id} at ${event.tickAtMs}`;
        if (this.#ticks.has(tick)) this.violations.push(`tick ${tick} is taken twice`);
        this.#ticks.add(tick);
        break;
      }
    }
  }

  /** QCJ2. */
  compare(calls: readonly CallRecord[], isWatched: (url: string) => boolean): void {
    const answered = new Set<string>();
    for (const call of calls) {
      if (isDelivery(call)) answered.add(call.id);
      if (!this.#started.has(`${call.id} ${call.retried}`)) {
        this.violations.push(`${call.id}: attempt ${call.retried} was called and not journaled`);
      }
    }
    for (const [id, end] of this.#ended) {
      if (end !== 'MessageDelivered' || answered.has(id)) continue;
      if (isWatched(this.#accepted.get(id)?.envelope.url ?? ''))
        this.violations.push(`${id} is journaled as delivered`);
    }
  }

  #expectAlive({ id, type }: { readonly id: string; readonly type: string }): void {
    const end = this.#ended.get(id);
    if (!this.#accepted.has(id)) this.violations.push(`${id}: ${type} before it was accepted`);
    if (end !== undefined) this.violations.push(`${id}: ${type} after ${end}`);
  }

  #flowOf(id: string): Flow | undefined {
    const key = this.#accepted.get(id)?.envelope.settings.flowControl?.key;
    return key === undefined ? undefined : this.#flows.get(key);
  }

  /** QCJ3. A repeated attempt keeps its token and is counted without a check. */
  #startInFlow({ id, atMs, restarts }: QueueEventOf<'AttemptStarted'>): void {
    const setting = this.#accepted.get(id)?.envelope.settings.flowControl;
    if (setting === undefined) return;
    const { key, rate, parallelism, periodSeconds } = setting;
    const flow = this.#flows.get(key) ?? { windowStartedAtMs: Number.NEGATIVE_INFINITY, started: 0, active: new Set() };
    this.#flows.set(key, flow);
    if (flow.windowStartedAtMs + periodSeconds * 1000 <= atMs) {
      flow.windowStartedAtMs = atMs;
      flow.started = 0;
    }
    flow.started += 1;
    flow.active.add(id);
    if (restarts === 0 && rate !== undefined && flow.started > rate) {
      this.violations.push(`${key}: ${id} is start ${flow.started} of the window at ${flow.windowStartedAtMs}`);
    }
    if (parallelism !== undefined && flow.active.size > parallelism) {
      this.violations.push(`${key}: ${flow.active.size} are active with ${id}`);
    }
  }
}
