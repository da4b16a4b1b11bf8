/** Waiting steps of all runs, by event and by deadline; the envelopes of their results are held. */
import { getOrCreate } from '../../../../kernel/index.js';
import { IndexedHeap } from '../../collections/indexed-heap.js';
import type { EventWaiter } from '../run-records.js';
import { type Run, Waiting } from './run.js';
import { heldWaiter, type RunHolds, weighWaiting } from './run-holds.js';

const NO_WAITERS: ReadonlySet<Waiting> = new Set();

export class Waiters {
  readonly #byEvent = new Map<string, Set<Waiting>>();
  readonly #deadlines = new IndexedHeap<Waiting>(isEarlier);

  constructor(private readonly holds: RunHolds) {}

  get size(): number {
    return this.#deadlines.size;
  }

  /** In the order in which they started to wait. */
  of(eventId: string): ReadonlySet<Waiting> {
    return this.#byEvent.get(eventId) ?? NO_WAITERS;
  }

  /** Waiters that come or go during the iteration may or may not be seen. */
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
    getOrCreate(this.#byEvent, waiter.eventId, () => new Set()).add(waiting);
  }

  remove(waiting: Waiting): void {
    const { waiting: all } = waiting.run;
    all.splice(all.indexOf(waiting), 1);
    this.#unlink(waiting);
  }

  removeAll(run: Run): void {
    // The last ones first, because they are mostly near the end of the heap.
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

/** A total order, so that equal histories give equal orders. */
function isEarlier(a: Waiting, b: Waiting): boolean {
  if (a.waiter.deadlineMs !== b.waiter.deadlineMs) return a.waiter.deadlineMs < b.waiter.deadlineMs;
  if (a.run.id !== b.run.id) return a.run.id < b.run.id;
  return a.waiter.step.stepId < b.waiter.step.stepId;
}
