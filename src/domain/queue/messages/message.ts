/** A message that waits, is attempted, or was delivered a moment ago: one flat object, of which a million fit into memory. */
import type { MessageId } from '../../../kernel/index.js';
import type { BodyRef, MessageStatus } from '../records.js';
import type { SharedEnvelope } from './envelopes.js';

/** Small numbers instead of words: a field costs the same, comparisons less. */
export const WAITING = 0;
export const ACTIVE = 1;
export const DELIVERED = 2;

/** Something of the dispatcher's that messages stand in. */
export interface WaitingLine {
  leave(message: Message): void;
}

type StatusNumber = typeof WAITING | typeof ACTIVE | typeof DELIVERED;

const STATUS_BITS = 3;
const CANCEL_REQUESTED = 4;
const HAS_TOKEN = 8;
const WAS_RESTING = 16;
const RESTARTS_SHIFT = 5;

/** 2020-01-01: what is counted from here fits 31 bits until 2088. */
const FIRST_SECOND = 1_577_836_800;
const MILLIS_BITS = 10;
const MILLIS_MASK = (1 << MILLIS_BITS) - 1;

export interface MessageTimes {
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly dueAtMs: number;
  /** It is the order of acceptance within the account. */
  readonly order: number;
  readonly holdsPlaceOf: MessageId | undefined;
}

/**
 * A million of them wait. Instants are held as seconds and milliseconds apart: V8 keeps a number of more than 31 bits
 * as an object beside the field, and a message has four. What takes few bits shares a field.
 */
export class Message {
  readonly bodyNumber: number;
  readonly bodyBytes: number;
  readonly order: number;
  readonly holdsPlaceOf: MessageId | undefined;
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
  /** They are part of the creation, the earliest start and the next one. */
  private millis: number;
  /** Status and marks, a bit or two each, and above them the restarts. */
  private bits: number = WAITING;

  constructor(
    readonly id: MessageId,
    readonly shared: SharedEnvelope,
    body: BodyRef,
    { createdAtMs, notBeforeMs, dueAtMs, order, holdsPlaceOf }: MessageTimes,
  ) {
    this.bodyNumber = body.number;
    this.bodyBytes = body.bytes;
    this.order = order;
    this.holdsPlaceOf = holdsPlaceOf;
    this.createdSecond = secondOf(createdAtMs);
    this.notBeforeSecond = secondOf(notBeforeMs);
    this.dueSecond = secondOf(dueAtMs);
    const later = (millisOf(dueAtMs) << MILLIS_BITS) | millisOf(notBeforeMs);
    this.millis = (later << MILLIS_BITS) | millisOf(createdAtMs);
  }

  get status(): StatusNumber {
    return (this.bits & STATUS_BITS) as StatusNumber;
  }

  set status(status: StatusNumber) {
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

  /** It has rested until it was due, and nothing has happened to it since. */
  get wasResting(): boolean {
    return (this.bits & WAS_RESTING) !== 0;
  }

  set wasResting(was: boolean) {
    this.bits = was ? this.bits | WAS_RESTING : this.bits & ~WAS_RESTING;
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

  /** Compared part by part: instants put together are objects, and a heap of thousands compares dozens for each call. */
  isDueBefore(other: Message): boolean {
    if (this.dueSecond !== other.dueSecond) return this.dueSecond < other.dueSecond;
    const difference = (this.millis >> (2 * MILLIS_BITS)) - (other.millis >> (2 * MILLIS_BITS));
    return difference === 0 ? this.order < other.order : difference < 0;
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

export function statusWord(message: Message): MessageStatus {
  if (message.status === DELIVERED) return 'delivered';
  return message.status === ACTIVE ? 'active' : 'waiting';
}
