/**
 * The messages that are pending, and for a short while those that were delivered. Their envelopes are shared and their
 * bodies elsewhere.
 *
 *  MSG1 a delivered message is readable for `DELIVERED_GRACE_MS`, then forgotten in the order of delivery, some with
 *       each event
 */
import { assert, type MessageId } from '../../../kernel/index.js';
import { SplitMap } from '../collections/split-map.js';
import { DELIVERED_GRACE_MS } from '../limits.js';
import { DELIVERED, type Message } from './message.js';

/** More than one event brings, so that nothing heaps up; few, so that no event takes long. */
const FORGOTTEN_AT_ONCE = 4;

export class Messages {
  readonly #byId = new SplitMap<MessageId, Message>();
  /** In the order of delivery; `#deliveredFrom` is the oldest that has not been forgotten. */
  #delivered: Message[] = [];
  #deliveredFrom = 0;
  /** They have an open attempt: what is made again after a crash. */
  readonly active = new Set<Message>();

  /** Pending and lately delivered ones. */
  get size(): number {
    return this.#byId.size;
  }

  get pendingCount(): number {
    return this.#byId.size - (this.#delivered.length - this.#deliveredFrom);
  }

  get(id: MessageId): Message | undefined {
    return this.#byId.get(id);
  }

  /** A pending one. */
  pending(id: MessageId): Message {
    const message = this.#byId.get(id);
    assert(message !== undefined && message.status !== DELIVERED, 'an event of a message that is not pending', { id });
    return message;
  }

  add(message: Message): void {
    assert(this.#byId.set(message.id, message), 'a message is accepted twice', { id: message.id });
  }

  delete(message: Message): void {
    this.#byId.delete(message.id);
  }

  setDelivered(message: Message, atMs: number): void {
    message.status = DELIVERED;
    message.sinceMs = atMs;
    this.#delivered.push(message);
  }

  /** @returns those that are forgotten by now; a few at a time */
  forget(nowMs: number): readonly Message[] {
    const oldest = this.#delivered[this.#deliveredFrom];
    if (oldest === undefined || oldest.sinceMs + DELIVERED_GRACE_MS > nowMs) return [];
    const gone: Message[] = [];
    while (gone.length < FORGOTTEN_AT_ONCE) {
      const message = this.#delivered[this.#deliveredFrom];
      if (message === undefined || message.sinceMs + DELIVERED_GRACE_MS > nowMs) break;
      this.#deliveredFrom += 1;
      this.#byId.delete(message.id);
      gone.push(message);
    }
    if (this.#deliveredFrom > 1024 && this.#deliveredFrom * 2 > this.#delivered.length) {
      this.#delivered = this.#delivered.slice(this.#deliveredFrom);
      this.#deliveredFrom = 0;
    }
    return gone;
  }

  all(): IterableIterator<Message> {
    return this.#byId.values();
  }

  *delivered(): Iterable<Message> {
    for (let at = this.#deliveredFrom; at < this.#delivered.length; at += 1) yield this.#delivered[at] as Message;
  }
}
