/** Messages that are not due, by the instant at which they are; and those that were due long ago, let go at a pace. */
import { IndexedHeap } from '../collections/indexed-heap.js';
import type { Message, WaitingLine } from '../messages/message.js';
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

  /** When the first may go. */
  nextAtMs(): number | undefined {
    return this.messages.top?.dueAtMs;
  }

  /** The first, when it may go by now. */
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

/** A minute is what destinations need to get warm again after a downtime of ours. */
const LONGEST_SPREAD_MS = 60_000;

/** What fell due during a downtime: one a millisecond, or all within a minute when there are more. */
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
