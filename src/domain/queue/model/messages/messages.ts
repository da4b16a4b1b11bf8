/**
 * Pending messages, and delivered ones for a short time. Their envelopes are shared and their bodies are stored
 * elsewhere.
 *
 *  MSG1 a delivered message is readable for `DELIVERED_GRACE_MS` and then forgotten in the order of delivery, a few
 *       with each event
 *  MSG2 a message that waits for a later time rests as bytes from its acceptance until it is due or an event changes
 *       it; all others are awake, as objects. Whether an event has changed a message follows from events alone
 */
import { assert, type MessageId } from '../../../../kernel/index.js';
import { SplitMap } from '../../collections/split-map.js';
import { DELIVERED_GRACE_MS } from '../limits.js';
import { DelayedMessageStore } from './delayed-message-store.js';
import { DELIVERED, type Message, WAITING } from './message.js';

/** More than one event adds, so that they do not accumulate; few, so that no event takes long. */
const FORGOTTEN_AT_ONCE = 4;

export class Messages {
  readonly #byId = new SplitMap<MessageId, Message>();
  readonly #delayed = new DelayedMessageStore();
  /** Awake messages that only came due and were not changed, and the time up to which messages were woken. */
  #wokenCount = 0;
  #wokenUpToMs = 0;
  /** In the order of delivery; entries before `#deliveredFrom` are forgotten. */
  #delivered: (Message | undefined)[] = [];
  #deliveredFrom = 0;
  /** Messages with an open attempt, which is repeated after a crash. */
  readonly active = new Set<Message>();

  /** Pending and recently delivered messages. */
  get size(): number {
    return this.#byId.size + this.#delayed.size;
  }

  get pendingCount(): number {
    return this.size - (this.#delivered.length - this.#deliveredFrom);
  }

  /** The number of delayed messages at `nowMs`. For a time before the last wake-up, woken messages count as delayed. */
  delayedCount(nowMs: number): number {
    return this.#delayed.size + (nowMs < this.#wokenUpToMs ? this.#wokenCount : 0);
  }

  /** For reading only: of a delayed message this is a copy. */
  get(id: MessageId): Message | undefined {
    return this.#byId.get(id) ?? this.#delayed.look(id);
  }

  /** The due time of a delayed message. */
  restsUntilMs(id: MessageId): number | undefined {
    return this.#delayed.dueAtMs(id);
  }

  isWaiting(id: MessageId): boolean {
    const message = this.#byId.get(id);
    return message === undefined ? this.#delayed.has(id) : message.status === WAITING;
  }

  /** A pending message that an event is about to change; it is awake afterwards. */
  pending(id: MessageId): Message {
    const message = this.#byId.get(id) ?? this.#wake(id);
    assert(message !== undefined && message.status !== DELIVERED, 'an event of a message that is not pending', { id });
    if (message.wasDelayed) {
      message.wasDelayed = false;
      this.#wokenCount -= 1;
    }
    return message;
  }

  /** @returns whether the message is awake */
  add(message: Message): boolean {
    const { id } = message;
    const isAwake = !this.#delayed.add(message);
    const isNew = isAwake ? this.#byId.set(id, message) && !this.#delayed.has(id) : !this.#byId.has(id);
    assert(isNew, 'a message is accepted twice', { id });
    return isAwake;
  }

  /** The due time of the first delayed message. */
  get nextDueAtMs(): number | undefined {
    return this.#delayed.nextDueAtMs;
  }

  /** Wakes the first delayed message that is due. */
  wakeDue(nowMs: number): Message | undefined {
    const message = this.#delayed.wakeDue(nowMs);
    if (message === undefined) return undefined;
    message.wasDelayed = true;
    this.#wokenCount += 1;
    this.#wokenUpToMs = Math.max(this.#wokenUpToMs, nowMs);
    this.#byId.set(message.id, message);
    return message;
  }

  #wake(id: MessageId): Message | undefined {
    const message = this.#delayed.wake(id);
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

  /** @returns a few of the messages that are to be forgotten */
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

  /** Delayed messages first: one that wakes during the iteration is then seen among the others. */
  *all(): IterableIterator<Message> {
    yield* this.#delayed.all();
    yield* this.awake();
  }

  awake(): IterableIterator<Message> {
    return this.#byId.values();
  }

  *delivered(): Iterable<Message> {
    for (let at = this.#deliveredFrom; at < this.#delivered.length; at += 1) yield this.#delivered[at] as Message;
  }
}
