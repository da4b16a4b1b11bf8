/** A pending or recently delivered message: one flat object, so that a million of them fit into memory. */
import type { MessageId } from '../../../../kernel/index.js';
import type { BodyRef, MessageStatus } from '../records.js';
import type { SharedEnvelope } from './envelopes.js';

/** Small integers instead of words: the same size, and faster to compare. */
export const WAITING = 0;
export const ACTIVE = 1;
export const DELIVERED = 2;

/** A dispatcher list that a message is in. */
export interface WaitingLine {
  leave(message: Message): void;
}

type StatusNumber = typeof WAITING | typeof ACTIVE | typeof DELIVERED;

const STATUS_BITS = 3;
const CANCEL_REQUESTED = 4;
const HAS_TOKEN = 8;
const WAS_RESTING = 16;
const RESTARTS_SHIFT = 5;

/** 2020-01-01: seconds counted from here fit 31 bits until 2088. */
const FIRST_SECOND = 1_577_836_800;
const MILLIS_BITS = 10;
const MILLIS_MASK = (1 << MILLIS_BITS) - 1;

export interface MessageTimes {
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly dueAtMs: number;
  /** The order of acceptance within the account. */
  readonly order: number;
  readonly holdsPlaceOf: MessageId | undefined;
}

/**
 * Fields are packed because a million messages may wait. Each of its four instants is stored as seconds and
 * milliseconds: V8 stores a number of more than 31 bits as a separate heap object. Small values share a field.
 */
export class Message {
  readonly bodyNumber: number;
  readonly bodyBytes: number;
  readonly order: number;
  readonly holdsPlaceOf: MessageId | undefined;
  /** Retries that have started. */
  retried = 0;
  /** The dispatcher list that contains the message, and the index in it. */
  waitsIn: WaitingLine | undefined = undefined;
  heapIndex = -1;
  private readonly createdSecond: number;
  private readonly notBeforeSecond: number;
  private dueSecond: number;
  private sinceSecond = -FIRST_SECOND;
  private sinceMillis = 0;
  /** The milliseconds of the creation, the earliest start and the due time. */
  private millis: number;
  /** Status and flags in the low bits, the number of restarts above. */
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

  /** The open call holds a token of the flow-control key. */
  get hasToken(): boolean {
    return (this.bits & HAS_TOKEN) !== 0;
  }

  set hasToken(has: boolean) {
    this.bits = has ? this.bits | HAS_TOKEN : this.bits & ~HAS_TOKEN;
  }

  /** The message rested until it was due and has not changed since. */
  get wasDelayed(): boolean {
    return (this.bits & WAS_RESTING) !== 0;
  }

  set wasDelayed(was: boolean) {
    this.bits = was ? this.bits | WAS_RESTING : this.bits & ~WAS_RESTING;
  }

  /** Restarts of the open attempt after crashes. */
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

  /** The earliest start of the next attempt. */
  get dueAtMs(): number {
    return instantOf(this.dueSecond, this.millis >> (2 * MILLIS_BITS));
  }

  set dueAtMs(atMs: number) {
    this.dueSecond = secondOf(atMs);
    const others = this.millis & ((1 << (2 * MILLIS_BITS)) - 1);
    this.millis = (millisOf(atMs) << (2 * MILLIS_BITS)) | others;
  }

  /**
   * Compares the parts, because combined instants would be heap objects and a large heap needs dozens of comparisons
   * per call.
   */
  isDueBefore(other: Message): boolean {
    if (this.dueSecond !== other.dueSecond) return this.dueSecond < other.dueSecond;
    const difference = (this.millis >> (2 * MILLIS_BITS)) - (other.millis >> (2 * MILLIS_BITS));
    return difference === 0 ? this.order < other.order : difference < 0;
  }

  /** Start of the present state: of the attempt, of the delivered state, or of the wait for a retry. */
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
