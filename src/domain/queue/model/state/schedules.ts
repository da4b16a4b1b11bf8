/**
 * Schedules: timetables that make messages.
 *
 *  SCD1 each tick is either made once or recorded as skipped: the event moves the schedule to its next tick, in the
 *       same entry as the messages. A tick that was not journaled is due again
 *  SCD2 ticks are made in the order of their instants, over all schedules
 *  SCD3 a tick that is more than `MAX_TICK_LATENESS_MS` late is skipped, and so is one while the schedule is paused,
 *       or the account is suspended or full. One event skips all ticks from its `tickAtMs` up to but not including
 *       its `nextTickAtMs`: a downtime of a year costs one event per schedule
 *  SCD4 a replaced schedule stays paused if it was, keeps its creation time and, with an unchanged timetable, its
 *       next tick: replacing loses no due tick
 *  SCD5 the body of a schedule has one number, shared by all its messages
 *  SCD6 a stored next tick is a cache of the timetable. The first work after a start computes it again if the
 *       timetable has a zone, because another release may know the zone's rules better
 */
import { assert, type MessageId, type ScheduleId } from '../../../../kernel/index.js';
import { type HeapItem, IndexedHeap } from '../../collections/indexed-heap.js';
import type { QueueContext } from '../decision.js';
import type { QueueEvent, QueueEventOf } from '../events.js';
import { scheduleBytes, scheduleMemoryBytes } from '../held.js';
import { MAX_TICK_LATENESS_MS } from '../limits.js';
import type { BodyRef, Schedule, ScheduleOutcome, UrlGroup } from '../records.js';
import { hasZone, nextTickAfter } from '../settings/cron.js';
import { messagesOfTick, type TickMessage } from './schedule-ticks.js';

/** The next tick of a timetable without further ticks. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/**
 * The first tick later than an instant.
 * @param anchorMs another tick of the schedule, from which `@every` counts
 */
export function tickAfter(cron: string, afterMs: number, anchorMs?: number): number {
  return nextTickAfter(cron, afterMs, anchorMs) ?? NEVER_MS;
}

/** Counts references to bodies: a schedule refers to its body while it exists. */
export interface BodyHolders {
  hold(body: BodyRef): void;
  drop(body: BodyRef): void;
}

/** Limits of one call of `dueTicks`; the messages of the last tick are made in full: about 1 ms. */
const TICKS_AT_ONCE = 16;
const MESSAGES_AT_ONCE = 128;
/** Computing a tick in a zone takes about 50 µs. */
const CHECKED_AT_ONCE = 16;

type Evolve = (event: QueueEvent) => void;

/** A schedule with its place in the heap of next ticks. */
interface Entry extends HeapItem {
  schedule: Schedule;
  /** The schedule's own map; copied before a change if a reader may hold it. */
  outcomes: Map<MessageId, ScheduleOutcome>;
  isShown: boolean;
  /** Bytes of the settings, and their memory. */
  bytes: number;
  memoryBytes: number;
}

export class Schedules {
  readonly #byId = new Map<ScheduleId, Entry>();
  readonly #next = new IndexedHeap<Entry>(isBefore);
  #bytes = 0;
  #memoryBytes = 0;
  /** Schedules with a next tick that must be computed again; undefined before the first work. */
  #unchecked: ScheduleId[] | undefined;

  constructor(
    private readonly groups: { get(name: string): UrlGroup | undefined },
    private readonly holders: BodyHolders,
  ) {}

  get size(): number {
    return this.#byId.size;
  }

  /** Bytes of all settings; bodies are counted where they are held. */
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

  /** The time of the next tick of any schedule. */
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

  /** A message of a schedule has ended. Messages of earlier ticks and of deleted schedules are ignored. */
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
   * Makes or skips a bounded number of due ticks.
   * @param accept records the acceptance of a tick's message
   * @param isFull whether the account has no room for the messages of a tick
   * @returns whether more are due
   */
  dueTicks(
    context: QueueContext,
    accept: (message: TickMessage) => void,
    evolve: Evolve,
    isFull: (messages: readonly TickMessage[]) => boolean = () => false,
  ): boolean {
    const hasUnchecked = this.#checkNextTicks(context, evolve);
    let messages = 0;
    for (let ticks = 0; ticks < TICKS_AT_ONCE && messages < MESSAGES_AT_ONCE; ticks += 1) {
      const schedule = this.#next.top?.schedule;
      if (schedule === undefined || schedule.nextTickAtMs > context.nowMs) return hasUnchecked;
      messages += this.#tick(schedule, context, accept, evolve, isFull);
    }
    return hasUnchecked || (this.nextTickAtMs() ?? NEVER_MS) <= context.nowMs;
  }

  /**
   * Applies SCD6 (a stored next tick is a cache of the timetable) to a bounded number of schedules.
   * @returns whether schedules are left
   */
  #checkNextTicks({ nowMs }: QueueContext, evolve: Evolve): boolean {
    this.#unchecked ??= Array.from(this.#byId.keys()).filter((id) => hasZone(this.#entry(id).schedule.cron));
    for (let checked = 0; checked < CHECKED_AT_ONCE; checked += 1) {
      const id = this.#unchecked.pop();
      if (id === undefined) return false;
      const schedule = this.#byId.get(id)?.schedule;
      // A due tick is made or skipped as it was stored.
      if (schedule === undefined || schedule.nextTickAtMs <= nowMs) continue;
      const { cron, isPaused, lastTickAtMs, nextTickAtMs: stored } = schedule;
      // Never earlier than the last tick, even if the machine's clock was set back.
      const nextTickAtMs = tickAfter(cron, Math.max(nowMs, lastTickAtMs), stored);
      if (nextTickAtMs !== stored) evolve({ type: 'SchedulePaused', id, isPaused, nextTickAtMs, atMs: nowMs });
    }
    return this.#unchecked.length > 0;
  }

  /** @returns the number of messages made */
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
      evolve({
        type: 'ScheduleSkipped',
        id,
        tickAtMs,
        nextTickAtMs: tickAfter(cron, afterMs, tickAtMs),
        reason,
        atMs: nowMs,
      });
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
