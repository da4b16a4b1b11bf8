/**
 * The messages that are pending, and for a short while those that were delivered. Their envelopes are shared and their
 * bodies elsewhere.
 *
 *  MSG1 a delivered message is readable for `DELIVERED_GRACE_MS`, then forgotten in the order of delivery, some with
 *       each event
 *  MSG2 one that waits for later rests as bytes, from its acceptance until it is due or something happens to it; all
 *       others are awake, as objects. Which of them those are that nothing has happened to follows from events alone
 */
import { assert, type MessageId } from '../../../kernel/index.js';
import { SplitMap } from '../collections/split-map.js';
import { DELIVERED_GRACE_MS } from '../limits.js';
import { DELIVERED, type Message, WAITING } from './message.js';
import { RestingMessages } from './resting-messages.js';

/** More than one event brings, so that nothing heaps up; few, so that no event takes long. */
const FORGOTTEN_AT_ONCE = 4;

export class Messages {
  readonly #byId = new SplitMap<MessageId, Message>();
  readonly #resting = new RestingMessages();
  /** Of those that are awake: nothing has happened to them but that they were due, up to this instant. */
  #wokenCount = 0;
  #wokenUpToMs = 0;
  /** In the order of delivery; `#deliveredFrom` is the oldest that has not been forgotten, before it nothing is left. */
  #delivered: (Message | undefined)[] = [];
  #deliveredFrom = 0;
  /** They have an open attempt: what is made again after a crash. */
  readonly active = new Set<Message>();

  /** Pending and lately delivered ones. */
  get size(): number {
    return this.#byId.size + this.#resting.size;
  }

  get pendingCount(): number {
    return this.size - (this.#delivered.length - this.#deliveredFrom);
  }

  /** As bytes, at `nowMs`: asked for an instant before some were due, it is what it was then. */
  restingCount(nowMs: number): number {
    return this.#resting.size + (nowMs < this.#wokenUpToMs ? this.#wokenCount : 0);
  }

  /** To look at it: of one that rests this is a copy. */
  get(id: MessageId): Message | undefined {
    return this.#byId.get(id) ?? this.#resting.look(id);
  }

  /** When one that rests is due. */
  restsUntilMs(id: MessageId): number | undefined {
    return this.#resting.dueAtMs(id);
  }

  isWaiting(id: MessageId): boolean {
    const message = this.#byId.get(id);
    return message === undefined ? this.#resting.has(id) : message.status === WAITING;
  }

  /** A pending one, which something happens to: it is awake from now on. */
  pending(id: MessageId): Message {
    const message = this.#byId.get(id) ?? this.#wake(id);
    assert(message !== undefined && message.status !== DELIVERED, 'an event of a message that is not pending', { id });
    if (message.wasResting) {
      message.wasResting = false;
      this.#wokenCount -= 1;
    }
    return message;
  }

  /** @returns whether it is awake */
  add(message: Message): boolean {
    const { id } = message;
    const isAwake = !this.#resting.add(message);
    const isNew = isAwake ? this.#byId.set(id, message) && !this.#resting.has(id) : !this.#byId.has(id);
    assert(isNew, 'a message is accepted twice', { id });
    return isAwake;
  }

  /** When the first that rests is due. */
  get nextDueAtMs(): number | undefined {
    return this.#resting.nextDueAtMs;
  }

  /** One that rested until now: the first that is due. */
  wakeDue(nowMs: number): Message | undefined {
    const message = this.#resting.wakeDue(nowMs);
    if (message === undefined) return undefined;
    message.wasResting = true;
    this.#wokenCount += 1;
    this.#wokenUpToMs = Math.max(this.#wokenUpToMs, nowMs);
    this.#byId.set(message.id, message);
    return message;
  }

  #wake(id: MessageId): Message | undefined {
    const message = this.#resting.wake(id);
    if (message !== undefined) this.#byId.set(id, message);
    return message;
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
      this.#delivered[this.#deliveredFrom] = undefined;
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

  /** Those that rest come first: one that wakes meanwhile is seen among the others, if it was not seen before. */
  *all(): IterableIterator<Message> {
    yield* this.#resting.all();
    yield* this.awake();
  }

  awake(): IterableIterator<Message> {
    return this.#byId.values();
  }

  *delivered(): Iterable<Message> {
    for (let at = this.#deliveredFrom; at < this.#delivered.length; at += 1) yield this.#delivered[at] as Message;
  }
}
