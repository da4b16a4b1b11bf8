/**
 * Delivers an owner's events of one partition to the listeners in this process, a few at a time, so that thousands of
 * listeners do not block the event loop.
 *
 *  TE1 each listener receives the events in their order; one that unsubscribes receives no more
 *  TE2 a new listener receives no earlier event
 *  TE3 while events are left, further publishers of the same database wait: a reply means that every listener was told
 */

import { ALL_THAT_MAY_WAIT_BYTES, type BroadcastItem, type Broadcasts } from '../../ports/index.js';
import type { KvEvent } from '../../protocol/index.js';

export interface EventListener {
  readonly tell: (event: KvEvent) => void;
  /** The number of listeners that began before this one. */
  readonly number: number;
}

interface Said {
  readonly event: KvEvent;
  /** The number of listeners that had begun when the event was made (TE2). */
  readonly listeners: number;
}

/** Listeners that are told between two readings of the clock. */
const TOLD_A_LOOK = 32;

export class EventFanout implements BroadcastItem {
  readonly #said: Said[] = [];
  #head = 0;
  /** Listeners that were not told of the first event yet; one that unsubscribes leaves the iteration (TE1). */
  #untold: Iterator<EventListener> | undefined;
  #told = 0;
  #hasTurn = false;

  constructor(
    private readonly tenant: string,
    private readonly broadcasts: Broadcasts,
    private readonly listenersOf: (event: KvEvent) => Iterator<EventListener>,
  ) {}

  say(event: KvEvent, listeners: number): void {
    this.#said.push({ event, listeners });
  }

  /** Starts immediately, for as long as there is time. */
  begin(): void {
    if (!this.#hasTurn) this.broadcasts.handOnNow(this.tenant, this);
  }

  handOn(mayGoOn: () => boolean): number {
    for (; this.#head < this.#said.length; this.#head += 1) {
      const { event, listeners } = this.#said[this.#head] as Said;
      this.#untold ??= this.listenersOf(event);
      for (let step = this.#untold.next(); step.done !== true; step = this.#untold.next()) {
        if (step.value.number < listeners) step.value.tell(event);
        this.#told += 1;
        if (this.#told % TOLD_A_LOOK !== 0 || mayGoOn()) continue;
        this.#hasTurn = true;
        return ALL_THAT_MAY_WAIT_BYTES;
      }
      this.#untold = undefined;
    }
    this.#said.length = 0;
    this.#head = 0;
    this.#hasTurn = false;
    return 0;
  }
}
