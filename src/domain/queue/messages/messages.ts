/**
 * The messages that are pending, and for a short while those that were delivered. A million of them fit into
 * memory because a message is one flat object, its envelope is shared and its body elsewhere.
 *
 *  M1 a delivered message is readable for `DELIVERED_GRACE_MS`, then forgotten in the order of delivery, some with each event
 */
import { assert, type MessageId } from '../../../kernel/index.js';
import { SplitMap } from '../collections/split-map.js';
import { DELIVERED_GRACE_MS } from '../limits.js';
import type { SharedEnvelope } from './envelopes.js';

/** Small numbers instead of words: a field costs the same, comparisons less. */
export const WAITING = 0;
export const ACTIVE = 1;
export const DELIVERED = 2;

/** More than one event brings, so that nothing heaps up; few, so that no event takes long. */
const FORGOTTEN_AT_ONCE = 4;

/** Something of the dispatcher's that messages stand in. */
export interface WaitingLine {
  leave(message: Message): void;
}

export type MessageStatus = typeof WAITING | typeof ACTIVE | typeof DELIVERED;

const STATUS_BITS = 3;
const CANCEL_REQUESTED = 4;
const HAS_TOKEN = 8;
const RESTARTS_SHIFT = 4;

/** 2020-01-01: what is counted from here fits 31 bits until 2088. */
const FIRST_SECOND = 1_577_836_800;
const MILLIS_BITS = 10;
const MILLIS_MASK = (1 << MILLIS_BITS) - 1;

/**
 * A million of them wait. Instants are held as seconds and milliseconds apart: V8 keeps a number of more than 31 bits
 * as an object beside the field, and a message has four. What takes few bits shares a field.
 */
export class Message {
  /** Retries that were begun. */
  retried = 0;
  /** Where the dispatcher has it, and its index there. */
  waitsIn: WaitingLine | undefined = undefined;
  heapIndex = -1;
  private readonly createdSecond: number;
  private readonly notBeforeSecond: number;
  private dueSecond: number;
  private sinceSecond = -FIRST_SECOND;
  private sinceMillis = 0;
  /** Of the creation, the earliest start and the next one. */
  private millis: number;
  /** Status and marks, a bit or two each, and above them the restarts. */
  private bits: number = WAITING;

  constructor(
    readonly id: MessageId,
    readonly shared: SharedEnvelope,
    readonly bodyNumber: number,
    readonly bodyBytes: number,
    createdAtMs: number,
    notBeforeMs: number,
    dueAtMs: number,
    /** Of acceptance within the account. */
    readonly order: number,
    readonly holdsPlaceOf: MessageId | undefined,
  ) {
    this.createdSecond = secondOf(createdAtMs);
    this.notBeforeSecond = secondOf(notBeforeMs);
    this.dueSecond = secondOf(dueAtMs);
    const later = (millisOf(dueAtMs) << MILLIS_BITS) | millisOf(notBeforeMs);
    this.millis = (later << MILLIS_BITS) | millisOf(createdAtMs);
  }

  get status(): MessageStatus {
    return (this.bits & STATUS_BITS) as MessageStatus;
  }

  set status(status: MessageStatus) {
    this.bits = (this.bits & ~STATUS_BITS) | status;
  }

  get isCancelRequested(): boolean {
    return (this.bits & CANCEL_REQUESTED) !== 0;
  }

  set isCancelRequested(is: boolean) {
    this.bits = is ? this.bits | CANCEL_REQUESTED : this.bits & ~CANCEL_REQUESTED;
  }

  /** Its active call counts for its flow-control key. */
  get hasToken(): boolean {
    return (this.bits & HAS_TOKEN) !== 0;
  }

  set hasToken(has: boolean) {
    this.bits = has ? this.bits | HAS_TOKEN : this.bits & ~HAS_TOKEN;
  }

  /** Of the open attempt, after crashes. */
  get restarts(): number {
    return this.bits >>> RESTARTS_SHIFT;
  }

  set restarts(count: number) {
    this.bits = (this.bits & ((1 << RESTARTS_SHIFT) - 1)) | (count << RESTARTS_SHIFT);
  }

  get createdAtMs(): number {
    return instantOf(this.createdSecond, this.millis & MILLIS_MASK);
  }

  get notBeforeMs(): number {
    return instantOf(this.notBeforeSecond, (this.millis >> MILLIS_BITS) & MILLIS_MASK);
  }

  /** When the next attempt may begin. */
  get dueAtMs(): number {
    return instantOf(this.dueSecond, this.millis >> (2 * MILLIS_BITS));
  }

  set dueAtMs(atMs: number) {
    this.dueSecond = secondOf(atMs);
    const others = this.millis & ((1 << (2 * MILLIS_BITS)) - 1);
    this.millis = (millisOf(atMs) << (2 * MILLIS_BITS)) | others;
  }

  /** Since when it is what it is: the attempt open, the message delivered, the retry awaited. */
  get sinceMs(): number {
    return instantOf(this.sinceSecond, this.sinceMillis);
  }

  set sinceMs(atMs: number) {
    this.sinceSecond = secondOf(atMs);
    this.sinceMillis = millisOf(atMs);
  }
}

function secondOf(atMs: number): number {
  return Math.floor(atMs / 1000) - FIRST_SECOND;
}

function millisOf(atMs: number): number {
  return atMs - Math.floor(atMs / 1000) * 1000;
}

function instantOf(second: number, millis: number): number {
  return (second + FIRST_SECOND) * 1000 + millis;
}

export class Messages {
  readonly #byId = new SplitMap<MessageId, Message>();
  /** In the order of delivery; `#deliveredFrom` is the oldest that has not been forgotten. */
  #delivered: Message[] = [];
  #deliveredFrom = 0;
  /** With an open attempt: what is made again after a crash. */
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

export function statusWord(message: Message): 'waiting' | 'active' | 'delivered' {
  if (message.status === DELIVERED) return 'delivered';
  return message.status === ACTIVE ? 'active' : 'waiting';
}
