/**
 * Virtual time and the order of events. Each completion in the simulated world — a timer, a message, an answer — is an
 * event; between two events every promise that can settle settles.
 *
 *  SIS1 the same seed gives the same events in the same order, which `trace.hash` shows
 *  SIS2 events of a paused process wait for its resumption, events of a crashed process never run
 *  SIS3 events due at the same instant run in an order drawn from the seed
 */
import type { SeededRandom } from './seeded-random.js';
import { Trace } from './trace.js';

/** A process; its events can be held back or dropped. */
export interface Owner {
  readonly name: string;
  /** The virtual time until which its events wait; a past time while it runs. */
  readonly pausedUntilMs: number;
  readonly isCrashed: boolean;
  /** True if it gets its timers before its messages when it resumes. */
  readonly wakesTimersFirst: boolean;
}

export type EventKind = 'timer' | 'message';

interface ScheduledEvent {
  atMs: number;
  /** The order among events that one resumption releases. */
  phase: number;
  readonly dueMs: number;
  readonly tie: number;
  readonly kind: EventKind;
  readonly owner: Owner | undefined;
  readonly label: string;
  action: (() => void) | undefined;
}

export interface Cancellable {
  cancel(): void;
}

/** The number of events before the real event loop gets a turn, for the timers of the test runner. */
const EVENTS_PER_REAL_TURN = 2000;

export class Scheduler {
  readonly trace = new Trace(() => this.nowMs);
  nowMs = 0;
  eventsRun = 0;
  private readonly heap: ScheduledEvent[] = [];

  constructor(private readonly random: SeededRandom) {}

  /** Runs `action` at `atMs`, or after a pause of its owner. Without an owner the event belongs to no process. */
  at(atMs: number, owner: Owner | undefined, kind: EventKind, label: string, action: () => void): Cancellable {
    const dueMs = Math.max(atMs, this.nowMs);
    const event = { atMs: dueMs, phase: 0, dueMs, tie: this.random.uint32(), kind, owner, label, action };
    this.push(event);
    return {
      cancel: () => {
        (event as ScheduledEvent).action = undefined;
      },
    };
  }

  /** Runs events until `untilMs` or until `isDone` returns true. */
  async run(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    await microtasksDrained();
    while (!isDone()) {
      const event = this.heap[0];
      if (event === undefined || event.atMs > untilMs) {
        this.nowMs = Math.max(this.nowMs, untilMs);
        return;
      }
      this.pop();
      this.nowMs = event.atMs;
      if (event.action === undefined || event.owner?.isCrashed) continue;
      if (event.owner !== undefined && event.owner.pausedUntilMs > this.nowMs) {
        event.atMs = event.owner.pausedUntilMs;
        event.phase = (event.kind === 'timer') === event.owner.wakesTimersFirst ? 0 : 1;
        this.push(event);
        continue;
      }
      this.trace.event(event.owner?.name ?? 'world', event.label);
      this.eventsRun += 1;
      event.action();
      await microtasksDrained();
      if (this.eventsRun % EVENTS_PER_REAL_TURN === 0) await realTurn();
    }
  }

  private push(event: ScheduledEvent): void {
    const heap = this.heap;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as ScheduledEvent;
      if (!isBefore(event, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = event;
  }

  private pop(): void {
    const heap = this.heap;
    const last = heap.pop() as ScheduledEvent;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child =
        right < heap.length && isBefore(heap[right] as ScheduledEvent, heap[left] as ScheduledEvent) ? right : left;
      const below = heap[child] as ScheduledEvent;
      if (!isBefore(below, last)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs;
  if (a.phase !== b.phase) return a.phase < b.phase;
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs;
  return a.tie < b.tie;
}

/**
 * Resolves when every promise reaction has run. Node runs a tick only when the queue of micro-tasks is empty, and
 * this function is always awaited inside a micro-task. It costs a tenth of a macro-task.
 */
function microtasksDrained(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function realTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
