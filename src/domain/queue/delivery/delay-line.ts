/** Messages that are not due, ordered by due time, and messages that fell due during a downtime, released gradually. */
import { IndexedHeap } from '../collections/indexed-heap.js';
import type { Message, WaitingLine } from '../model/messages/message.js';
import { isDueBefore } from './lanes.js';

export class DelayLine implements WaitingLine {
  protected readonly messages = new IndexedHeap<Message>(isDueBefore);

  get size(): number {
    return this.messages.size;
  }

  add(message: Message): void {
    this.messages.push(message);
    message.waitsIn = this;
  }

  leave(message: Message): void {
    this.messages.delete(message);
    message.waitsIn = undefined;
  }

  /** The release time of the first message. */
  nextAtMs(): number | undefined {
    return this.messages.top?.dueAtMs;
  }

  /** Removes and returns the first message if its time has come. */
  take(nowMs: number): Message | undefined {
    const at = this.nextAtMs();
    if (at === undefined || at > nowMs) return undefined;
    return this.takeFirst();
  }

  protected takeFirst(): Message | undefined {
    const message = this.messages.pop();
    if (message !== undefined) message.waitsIn = undefined;
    return message;
  }
}

/** One minute for destinations to warm up after a downtime of this service. */
const LONGEST_SPREAD_MS = 60_000;

/**
 * Messages that fell due during a downtime: released one per millisecond, or all within one minute when there are
 * more.
 */
export class OverdueLine extends DelayLine {
  #count = 0;
  #taken = 0;

  constructor(private readonly startMs: number) {
    super();
  }

  override add(message: Message): void {
    super.add(message);
    this.#count += 1;
  }

  override nextAtMs(): number | undefined {
    if (this.size === 0) return undefined;
    const spreadMs = Math.min(LONGEST_SPREAD_MS, this.#count);
    return this.startMs + Math.floor((this.#taken * spreadMs) / this.#count);
  }

  protected override takeFirst(): Message | undefined {
    this.#taken += 1;
    return super.takeFirst();
  }
}
