/**
 * The waiting messages of one lane, by class of priority. Classes take passes (stride scheduling): each start adds the
 * stride of its class to the class's pass, and the class with the lowest pass starts next.
 *
 *  PRI1 while messages of all classes wait, 16 of the highest start for 8, 4, 2 and 1 of the others
 *  PRI2 no class waits for ever: a class with messages starts within the sum of the others' shares
 *  PRI3 within a class the order is that of the lane
 *  PRI4 a class that was empty begins at the pass of the latest start, so that it can neither save starts nor owe them
 *
 * A lane with messages of the normal class alone has one heap and no passes.
 */
import { IndexedHeap } from '../collections/indexed-heap.js';
import type { Message } from '../model/messages/message.js';
import type { Priority } from '../model/records.js';

type IsBefore = (a: Message, b: Message) => boolean;

/** Starts of a class for one of the lowest. */
export const PRIORITY_SHARES: Readonly<Record<Priority, number>> = {
  highest: 16,
  high: 8,
  normal: 4,
  low: 2,
  lowest: 1,
};

interface MessageClass {
  /** The pass grows by this with each start: the reciprocal of the share, as a whole number. */
  readonly stride: number;
  readonly messages: IndexedHeap<Message>;
  pass: number;
}

export class ClassedMessages {
  readonly #normal: IndexedHeap<Message>;
  /** In the order of `PRIORITY_SHARES`; undefined: all messages so far were of the normal class. */
  #classes: Readonly<Record<Priority, MessageClass>> | undefined;
  /** The pass of the latest start. */
  #passed = 0;
  size = 0;

  constructor(private readonly isBefore: IsBefore) {
    this.#normal = new IndexedHeap(isBefore);
  }

  /** The message that starts next. */
  get top(): Message | undefined {
    if (this.#classes === undefined) return this.#normal.top;
    let next: MessageClass | undefined;
    for (const each of Object.values(this.#classes)) {
      if (each.messages.size > 0 && (next === undefined || each.pass < next.pass)) next = each;
    }
    return next?.messages.top;
  }

  push(message: Message): void {
    const { priority } = message.shared.envelope.settings;
    this.size += 1;
    if (priority === undefined && this.#classes === undefined) {
      this.#normal.push(message);
      return;
    }
    this.#classes ??= this.#made();
    const own = this.#classes[priority ?? 'normal'];
    if (own.messages.size === 0) own.pass = Math.max(own.pass, this.#passed);
    own.messages.push(message);
  }

  /** The message must be here. */
  delete(message: Message): void {
    this.size -= 1;
    this.#heapOf(message).delete(message);
  }

  /** Called before the message starts. */
  starts({ shared }: Message): void {
    if (this.#classes === undefined) return;
    const own = this.#classes[shared.envelope.settings.priority ?? 'normal'];
    this.#passed = own.pass;
    own.pass += own.stride;
  }

  #heapOf({ shared }: Message): IndexedHeap<Message> {
    return this.#classes === undefined
      ? this.#normal
      : this.#classes[shared.envelope.settings.priority ?? 'normal'].messages;
  }

  #made(): Readonly<Record<Priority, MessageClass>> {
    const made = (share: number, messages = new IndexedHeap(this.isBefore)): MessageClass => {
      return { stride: PRIORITY_SHARES.highest / share, messages, pass: 0 };
    };
    const { highest, high, normal, low, lowest } = PRIORITY_SHARES;
    return {
      highest: made(highest),
      high: made(high),
      normal: made(normal, this.#normal),
      low: made(low),
      lowest: made(lowest),
    };
  }
}
