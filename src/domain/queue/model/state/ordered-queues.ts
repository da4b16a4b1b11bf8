/**
 * Named queues: messages are delivered in order, with a limited parallelism.
 *
 *  OQ1 a message takes a place with its first attempt and holds it through retries until the message and its
 *      callbacks have ended
 *  OQ2 no more places are taken than the queue's parallelism; lowering it takes no place away
 */
import { assert, getOrCreate, type MessageId } from '../../../../kernel/index.js';
import type { QueueView } from '../commands.js';
import type { QueueEventOf } from '../events.js';

export interface QueuePlace {
  readonly queue: OrderedQueue;
  /** Callbacks of the holder that have not ended. */
  callbacks: number;
  /** The holder itself has ended. */
  hasEnded: boolean;
}

export class OrderedQueue {
  isPaused = false;
  updatedAtMs: number;
  /** Holders in the order in which they took their places. */
  readonly places = new Map<MessageId, QueuePlace>();
  /** Messages that have not ended. */
  lag = 0;
  /** Messages that have not ended and have no open attempt. */
  waiting = 0;

  constructor(
    readonly name: string,
    public parallelism: number,
    readonly createdAtMs: number,
  ) {
    this.updatedAtMs = createdAtMs;
  }

  get hasFreePlace(): boolean {
    return this.places.size < this.parallelism;
  }

  view(): QueueView {
    const { name, parallelism, isPaused, createdAtMs, updatedAtMs, lag } = this;
    return { name, parallelism, isPaused, createdAtMs, updatedAtMs, lag };
  }
}

export class OrderedQueues {
  readonly #byName = new Map<string, OrderedQueue>();
  readonly #places = new Map<MessageId, QueuePlace>();

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): OrderedQueue | undefined {
    return this.#byName.get(name);
  }

  all(): IterableIterator<OrderedQueue> {
    return this.#byName.values();
  }

  set({ name, parallelism, isPaused, atMs }: QueueEventOf<'QueueSet'>): OrderedQueue {
    const queue = getOrCreate(this.#byName, name, () => new OrderedQueue(name, parallelism, atMs));
    queue.parallelism = parallelism;
    queue.isPaused = isPaused;
    queue.updatedAtMs = atMs;
    return queue;
  }

  delete(name: string): OrderedQueue {
    const queue = this.#byName.get(name);
    assert(queue !== undefined && queue.waiting === 0, 'a queue goes that is not there, or not empty', { name });
    for (const holder of queue.places.keys()) this.#places.delete(holder);
    this.#byName.delete(name);
    return queue;
  }

  placeOf(holder: MessageId): QueuePlace | undefined {
    return this.#places.get(holder);
  }

  take(queue: OrderedQueue, holder: MessageId): void {
    const place: QueuePlace = { queue, callbacks: 0, hasEnded: false };
    queue.places.set(holder, place);
    this.#places.set(holder, place);
  }

  addCallback(holder: MessageId): void {
    const place = this.#places.get(holder);
    if (place !== undefined) place.callbacks += 1;
  }

  /** @returns the queue, if this freed a place */
  endCallback(holder: MessageId): OrderedQueue | undefined {
    const place = this.#places.get(holder);
    if (place === undefined) return undefined;
    place.callbacks -= 1;
    return this.#free(holder, place);
  }

  /** @returns the queue, if this freed a place */
  endHolder(holder: MessageId): OrderedQueue | undefined {
    const place = this.#places.get(holder);
    if (place === undefined) return undefined;
    place.hasEnded = true;
    return this.#free(holder, place);
  }

  restore(event: QueueEventOf<'QueueRestored'>): void {
    const queue = new OrderedQueue(event.name, event.parallelism, event.createdAtMs);
    queue.isPaused = event.isPaused;
    queue.updatedAtMs = event.updatedAtMs;
    this.#byName.set(event.name, queue);
    for (const [holder, callbacks] of event.places) {
      // A pending holder follows in the snapshot and then sets `hasEnded` to false.
      const place: QueuePlace = { queue, callbacks, hasEnded: true };
      queue.places.set(holder, place);
      this.#places.set(holder, place);
    }
  }

  *rebuildingEvents(): Iterable<QueueEventOf<'QueueRestored'>> {
    for (const { name, parallelism, isPaused, createdAtMs, updatedAtMs, places } of this.#byName.values()) {
      const holders = [...places].map(([holder, { callbacks }]) => [holder, callbacks] as const);
      yield { type: 'QueueRestored', name, parallelism, isPaused, createdAtMs, updatedAtMs, places: holders };
    }
  }

  #free(holder: MessageId, place: QueuePlace): OrderedQueue | undefined {
    if (place.callbacks > 0 || !place.hasEnded) return undefined;
    this.#places.delete(holder);
    place.queue.places.delete(holder);
    return place.queue;
  }
}
