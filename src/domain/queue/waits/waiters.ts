/** Steps of all runs that wait for events, by event and by deadline; the envelopes of their results are held. */
import { obtain } from '../../../kernel/index.js';
import { IndexedHeap } from '../collections/indexed-heap.js';
import type { EventWaiter } from '../runs/records.js';
import { type Run, Waiting } from '../runs/run.js';
import { heldWaiter, type RunHolds, weighWaiting } from '../runs/run-holds.js';

const NOBODY: ReadonlySet<Waiting> = new Set();

export class Waiters {
  readonly #byEvent = new Map<string, Set<Waiting>>();
  readonly #deadlines = new IndexedHeap<Waiting>(isEarlier);

  constructor(private readonly holds: RunHolds) {}

  get size(): number {
    return this.#deadlines.size;
  }

  /** In the order in which they came. */
  of(eventId: string): ReadonlySet<Waiting> {
    return this.#byEvent.get(eventId) ?? NOBODY;
  }

  /** May or may not have those that come or go meanwhile. */
  *all(): IterableIterator<Waiting> {
    for (const ofEvent of this.#byEvent.values()) yield* ofEvent;
  }

  get nextDeadline(): Waiting | undefined {
    return this.#deadlines.top;
  }

  add(run: Run, waiter: EventWaiter): void {
    const waiting = new Waiting(heldWaiter(waiter, this.holds), run);
    run.waiting.push(waiting);
    weighWaiting(waiting, 1, this.holds);
    this.#deadlines.push(waiting);
    obtain(this.#byEvent, waiter.eventId, () => new Set()).add(waiting);
  }

  remove(waiting: Waiting): void {
    const { waiting: all } = waiting.run;
    all.splice(all.indexOf(waiting), 1);
    this.#unlink(waiting);
  }

  removeAll(run: Run): void {
    // The last ones first: they mostly stand at the heap's end.
    for (const waiting of run.waiting.splice(0).reverse()) this.#unlink(waiting);
  }

  #unlink(waiting: Waiting): void {
    const { waiter } = waiting;
    this.#deadlines.delete(waiting);
    weighWaiting(waiting, -1, this.holds);
    const others = this.#byEvent.get(waiter.eventId);
    others?.delete(waiting);
    if (others?.size === 0) this.#byEvent.delete(waiter.eventId);
    this.holds.dropEnvelopeOf(waiter.onNotify.envelope);
    this.holds.dropEnvelopeOf(waiter.onTimeout.envelope);
  }
}

/** A total order: equal histories take equal turns. */
function isEarlier(a: Waiting, b: Waiting): boolean {
  if (a.waiter.deadlineMs !== b.waiter.deadlineMs) return a.waiter.deadlineMs < b.waiter.deadlineMs;
  if (a.run.id !== b.run.id) return a.run.id < b.run.id;
  return a.waiter.step.stepId < b.waiter.step.stepId;
}
