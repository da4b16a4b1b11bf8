/**
 * Schedules: timetables that make messages.
 *
 *  SCD1 each tick is made once or recorded as skipped, never both: the event that says so moves the schedule to its
 *       next tick, in the same entry as the messages. What was not journaled is due again
 *  SCD2 ticks are made in the order of their instants, over all schedules
 *  SCD3 a tick that is more than `MAX_TICK_LATENESS_MS` late is skipped, so is one while the schedule is paused, the
 *       account suspended or holding as much as it may. One event skips all ticks from its `tickAtMs` up to, and
 *       without, its `nextTickAtMs`: a year's absence costs one event a schedule
 *  SCD4 a schedule that is replaced stays paused when it was, keeps when it was made, and, with the same timetable, its
 *       next tick: replacing loses none that is due
 *  SCD5 the body of a schedule has one number, shared by all messages that it makes
 */
import { assert, type MessageId, type ScheduleId } from '../../../kernel/index.js';
import { scheduleBytes, scheduleMemoryBytes } from '../accounts/held.js';
import { type HeapItem, IndexedHeap } from '../collections/indexed-heap.js';
import type { QueueContext } from '../decision.js';
import type { QueueEvent, QueueEventOf } from '../events.js';
import { MAX_TICK_LATENESS_MS } from '../limits.js';
import type { BodyRef, Schedule, ScheduleOutcome, UrlGroup } from '../records.js';
import { NEVER_MS, tickAfter } from './schedule-setting.js';
import { messagesOfTick, type TickMessage } from './schedule-ticks.js';

/** Who counts what refers to a body: a schedule refers to its own for as long as it is there. */
export interface BodyHolders {
  hold(body: BodyRef): void;
  drop(body: BodyRef): void;
}

/** One call of `dueTicks` has so many, with the messages of the last tick in full: about a millisecond. */
const TICKS_AT_ONCE = 16;
const MESSAGES_AT_ONCE = 128;

type Evolve = (event: QueueEvent) => void;

/** A schedule with its place among the next ticks. */
interface Entry extends HeapItem {
  schedule: Schedule;
  /** The schedule's own map; copied before it changes when somebody may be looking at it. */
  outcomes: Map<MessageId, ScheduleOutcome>;
  isShown: boolean;
  /** It counts its settings, and what it takes of the memory. */
  bytes: number;
  memoryBytes: number;
}

export class Schedules {
  readonly #byId = new Map<ScheduleId, Entry>();
  readonly #next = new IndexedHeap<Entry>(isBefore);
  #bytes = 0;
  #memoryBytes = 0;

  constructor(
    private readonly groups: { get(name: string): UrlGroup | undefined },
    private readonly holders: BodyHolders,
  ) {}

  get size(): number {
    return this.#byId.size;
  }

  /** It counts the settings of all; bodies are counted where they are held. */
  get bytes(): number {
    return this.#bytes;
  }

  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  get(id: ScheduleId): Schedule | undefined {
    const entry = this.#byId.get(id);
    return entry === undefined ? undefined : shown(entry);
  }

  all(): readonly Schedule[] {
    return Array.from(this.#byId.values(), shown);
  }

  /** When there is something to do next. */
  nextTickAtMs(): number | undefined {
    const at = this.#next.top?.schedule.nextTickAtMs;
    return at === NEVER_MS ? undefined : at;
  }

  set({ schedule, body: { number, bytes } }: QueueEventOf<'ScheduleSet'>): void {
    const before = this.#byId.get(schedule.id);
    const body = { number, bytes };
    this.holders.hold(body);
    if (before !== undefined) this.holders.drop(before.schedule.body);
    if (before === undefined) this.#add({ ...schedule, body, lastTickAtMs: 0, lastOutcomes: new Map() });
    else this.#update(schedule.id, { ...schedule, body });
  }

  restore({ schedule }: QueueEventOf<'ScheduleRestored'>): void {
    this.holders.hold(schedule.body);
    this.#add(schedule);
  }

  delete({ id }: QueueEventOf<'ScheduleDeleted'>): void {
    const entry = this.#entry(id);
    this.#next.delete(entry);
    this.#byId.delete(id);
    this.#bytes -= entry.bytes;
    this.#memoryBytes -= entry.memoryBytes;
    this.holders.drop(entry.schedule.body);
  }

  pause({ id, isPaused, nextTickAtMs }: QueueEventOf<'SchedulePaused'>): void {
    this.#update(id, { isPaused, nextTickAtMs });
  }

  skip({ id, nextTickAtMs }: QueueEventOf<'ScheduleSkipped'>): void {
    this.#update(id, { nextTickAtMs });
  }

  fire({ id, messages, nextTickAtMs, tickAtMs }: QueueEventOf<'ScheduleFired'>): void {
    const outcomes = new Map<MessageId, ScheduleOutcome>(messages.map((message) => [message, 'IN_PROGRESS']));
    this.#update(id, { nextTickAtMs, lastTickAtMs: tickAtMs, lastOutcomes: outcomes });
    const entry = this.#entry(id);
    entry.outcomes = outcomes;
    entry.isShown = false;
  }

  /** A message of a schedule has come to its end. Of an earlier tick, or of a schedule that is gone: nothing. */
  noteOutcome(id: ScheduleId, message: MessageId, outcome: 'SUCCESS' | 'FAIL'): void {
    const entry = this.#byId.get(id);
    if (entry?.outcomes.has(message) !== true) return;
    if (entry.isShown) {
      entry.outcomes = new Map(entry.outcomes);
      entry.isShown = false;
      entry.schedule = { ...entry.schedule, lastOutcomes: entry.outcomes };
    }
    entry.outcomes.set(message, outcome);
  }

  *rebuildingEvents(): Iterable<QueueEventOf<'ScheduleRestored'>> {
    for (const entry of this.#byId.values()) yield { type: 'ScheduleRestored', schedule: shown(entry) };
  }

  /**
   * Makes or skips the ticks that are due, a bounded number of them.
   * @param accept takes a message of a tick, and records its acceptance
   * @param isFull is there no room for the messages of a tick?
   * @returns more are due
   */
  dueTicks(
    context: QueueContext,
    accept: (message: TickMessage) => void,
    evolve: Evolve,
    isFull: (messages: readonly TickMessage[]) => boolean = () => false,
  ): boolean {
    let messages = 0;
    for (let ticks = 0; ticks < TICKS_AT_ONCE && messages < MESSAGES_AT_ONCE; ticks += 1) {
      const schedule = this.#next.top?.schedule;
      if (schedule === undefined || schedule.nextTickAtMs > context.nowMs) return false;
      messages += this.#tick(schedule, context, accept, evolve, isFull);
    }
    return (this.nextTickAtMs() ?? NEVER_MS) <= context.nowMs;
  }

  /** @returns how many messages it has made */
  #tick(
    schedule: Schedule,
    context: QueueContext,
    accept: (message: TickMessage) => void,
    evolve: Evolve,
    isFull: (messages: readonly TickMessage[]) => boolean,
  ): number {
    const { id, cron, nextTickAtMs: tickAtMs } = schedule;
    const { nowMs, account } = context;
    const skip = (reason: QueueEventOf<'ScheduleSkipped'>['reason'], afterMs: number): number => {
      evolve({ type: 'ScheduleSkipped', id, tickAtMs, nextTickAtMs: tickAfter(cron, afterMs), reason, atMs: nowMs });
      return 0;
    };
    if (schedule.isPaused) return skip('paused', nowMs);
    if (account.state === 'passive') return skip('suspended', nowMs);
    const punctualFromMs = nowMs - MAX_TICK_LATENESS_MS;
    if (tickAtMs < punctualFromMs) return skip('late', punctualFromMs - 1);
    const messages = messagesOfTick(schedule, tickAtMs, this.groups, context);
    if (messages === undefined) return skip('no-destination', tickAtMs);
    if (isFull(messages)) return skip('full', tickAtMs);
    for (const message of messages) accept(message);
    const ids = messages.map((message) => message.id);
    const nextTickAtMs = tickAfter(cron, tickAtMs);
    evolve({ type: 'ScheduleFired', id, tickAtMs, messages: ids, nextTickAtMs, atMs: nowMs });
    return messages.length;
  }

  #add(schedule: Schedule): void {
    const outcomes = new Map(schedule.lastOutcomes);
    const shown = { ...schedule, lastOutcomes: outcomes };
    const entry = { schedule: shown, outcomes, isShown: false, bytes: 0, memoryBytes: 0, heapIndex: -1 };
    this.#weigh(entry);
    this.#byId.set(schedule.id, entry);
    this.#next.push(entry);
  }

  #update(id: ScheduleId, changes: Partial<Schedule>): void {
    const entry = this.#entry(id);
    this.#next.delete(entry);
    entry.schedule = { ...entry.schedule, ...changes };
    if (changes.settings !== undefined) this.#weigh(entry);
    this.#next.push(entry);
  }

  #weigh(entry: Entry): void {
    this.#bytes -= entry.bytes;
    this.#memoryBytes -= entry.memoryBytes;
    entry.bytes = scheduleBytes(entry.schedule);
    entry.memoryBytes = scheduleMemoryBytes(entry.schedule);
    this.#bytes += entry.bytes;
    this.#memoryBytes += entry.memoryBytes;
  }

  #entry(id: ScheduleId): Entry {
    const entry = this.#byId.get(id);
    assert(entry !== undefined, 'something happens to a schedule that is not there', { id });
    return entry;
  }
}

function isBefore({ schedule: a }: Entry, { schedule: b }: Entry): boolean {
  return a.nextTickAtMs === b.nextTickAtMs ? a.id < b.id : a.nextTickAtMs < b.nextTickAtMs;
}

function shown(entry: Entry): Schedule {
  entry.isShown = true;
  return entry.schedule;
}
