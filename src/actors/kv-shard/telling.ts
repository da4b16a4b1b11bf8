/**
 * What an owner says about one partition, on its way to those of this process who listen: some of it at a time, so
 * that thousands of listeners do not hold the loop.
 *
 *  TE1 everybody hears what there is in the order in which it was said; of one who has stopped listening nothing is
 *      left
 *  TE2 who begins to listen hears nothing that was said before
 *  TE3 while something is left whoever says more of the same database waits: an answer means that everybody was told
 */
import type { KvEvent } from '../../messages/index.js';
import { ALL_THAT_MAY_WAIT_BYTES, type BroadcastItem, type Broadcasts } from '../../ports/index.js';

export interface EventListener {
  readonly tell: (event: KvEvent) => void;
  /** So many had begun to listen before. */
  readonly number: number;
}

interface Said {
  readonly event: KvEvent;
  /** So many had begun to listen. (TE2) */
  readonly listeners: number;
}

/** Listeners that are told between two looks at the clock. */
const TOLD_A_LOOK = 32;

export class Telling implements BroadcastItem {
  readonly #said: Said[] = [];
  #head = 0;
  /** Those who have not been told of the first event yet. Whoever stops listening leaves them. (TE1) */
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

  /** At once, as far as there is time. */
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
