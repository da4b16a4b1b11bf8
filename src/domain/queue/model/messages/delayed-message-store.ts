/**
 * Messages that wait for a later time, as bytes outside the JavaScript heap: 72 bytes each, 4 in the order of due
 * times and about 12 in the index of ids, instead of 264 as an object. A message becomes an object when it is due or
 * an event changes it.
 *
 *  RST1 a delayed message was never attempted: the fields that an attempt sets are not stored here
 *  RST2 reads return a copy; only a woken message may be changed
 */
import { assert, type MessageId } from '../../../../kernel/index.js';
import { NumberList, RecordIndex } from '../../../collections/index.js';
import { type RecordPage, RecordPages } from '../../collections/record-pages.js';
import type { SharedEnvelope } from './envelopes.js';
import { Message, WAITING } from './message.js';
import { NumberedEnvelopes } from './numbered-envelopes.js';
import { hashOfId, ID_WORDS, packId, unpackId } from './packed-ids.js';

/** A shorter wait is not worth the two conversions. */
const STORED_FROM_DELAY_MS = 60_000;

const RECORD_BYTES = 72;
/** Word offsets, after the id. */
const BODY_BYTES = ID_WORDS;
const ENVELOPE = BODY_BYTES + 1;
/** The place in the order of due times plus one; 0: the record is empty. */
const RANK = ENVELOPE + 1;
/** Offsets of 64-bit numbers, after the words. */
const BODY_NUMBER = 5;
const ORDER = BODY_NUMBER + 1;
const CREATED = ORDER + 1;
const DUE = CREATED + 1;

/** Whether all fields that a record does not store have their initial values. */
function canBeStored(message: Message): boolean {
  const { notBeforeMs, createdAtMs, dueAtMs, status, retried, restarts, sinceMs, isCancelRequested } = message;
  return (
    notBeforeMs - createdAtMs >= STORED_FROM_DELAY_MS &&
    dueAtMs === notBeforeMs &&
    status === WAITING &&
    retried === 0 &&
    restarts === 0 &&
    sinceMs === 0 &&
    !isCancelRequested &&
    message.holdsPlaceOf === undefined
  );
}

export class DelayedMessageStore {
  readonly #records = new RecordPages(RECORD_BYTES);
  readonly #envelopes = new NumberedEnvelopes();
  /** Slots as a binary heap with the earliest due time on top. */
  readonly #order = new NumberList();
  readonly #sought = new Uint32Array(ID_WORDS);
  readonly #index = new RecordIndex((slot) => this.#isSought(slot));

  get size(): number {
    return this.#records.size;
  }

  /** The due time of the first delayed message. */
  get nextDueAtMs(): number | undefined {
    return this.#order.length === 0 ? undefined : this.#dueOf(this.#order.at(0));
  }

  has(id: MessageId): boolean {
    return this.#find(id) !== -1;
  }

  dueAtMs(id: MessageId): number | undefined {
    const slot = this.#find(id);
    return slot === -1 ? undefined : this.#dueOf(slot);
  }

  /** RST2 (reads return a copy). */
  look(id: MessageId): Message | undefined {
    const slot = this.#find(id);
    return slot === -1 ? undefined : this.#messageAt(slot);
  }

  /** @returns false: the message stays an object */
  add(message: Message): boolean {
    if (!canBeStored(message) || !packId(message.id, this.#sought)) return false;
    const hash = hashOfId(this.#sought, 0);
    assert(this.#index.find(hash) === -1, 'a message rests twice', { id: message.id });
    const slot = this.#records.take();
    const { words, doubles } = this.#records.pageOf(slot);
    const word = this.#records.wordOf(slot);
    words.set(this.#sought, word);
    words[word + BODY_BYTES] = message.bodyBytes;
    words[word + ENVELOPE] = this.#envelopes.hold(message.shared);
    const double = this.#records.doubleOf(slot);
    doubles[double + BODY_NUMBER] = message.bodyNumber;
    doubles[double + ORDER] = message.order;
    doubles[double + CREATED] = message.createdAtMs;
    doubles[double + DUE] = message.dueAtMs;
    this.#index.add(hash, slot);
    this.#order.push(slot);
    this.#rise(slot, this.#order.length - 1);
    return true;
  }

  /** Converts the message to an object and removes the record. */
  wake(id: MessageId): Message | undefined {
    const slot = this.#find(id);
    return slot === -1 ? undefined : this.#take(slot);
  }

  /** Wakes the first message if it is due. */
  wakeDue(nowMs: number): Message | undefined {
    if (this.#order.length === 0) return undefined;
    const first = this.#order.at(0);
    return this.#dueOf(first) > nowMs ? undefined : this.#take(first);
  }

  /** RST2 (reads return a copy). Messages added or removed during the iteration may or may not be seen. */
  *all(): IterableIterator<Message> {
    for (const slot of this.#records.slots()) if (this.#isUsed(slot)) yield this.#messageAt(slot);
  }

  #find(id: MessageId): number {
    if (this.size === 0 || !packId(id, this.#sought)) return -1;
    return this.#index.find(hashOfId(this.#sought, 0));
  }

  #isSought(slot: number): boolean {
    const { words } = this.#records.pageOf(slot);
    const from = this.#records.wordOf(slot);
    for (let word = 0; word < ID_WORDS; word += 1) if (words[from + word] !== this.#sought[word]) return false;
    return true;
  }

  #isUsed(slot: number): boolean {
    return this.#records.pageOf(slot).words[this.#records.wordOf(slot) + RANK] !== 0;
  }

  #messageAt(slot: number): Message {
    const { words, doubles } = this.#records.pageOf(slot);
    const word = this.#records.wordOf(slot);
    const double = this.#records.doubleOf(slot);
    const dueAtMs = doubles[double + DUE] as number;
    const body = { number: doubles[double + BODY_NUMBER] as number, bytes: words[word + BODY_BYTES] as number };
    return new Message(unpackId(words, word), this.#envelopeOf(words, word), body, {
      createdAtMs: doubles[double + CREATED] as number,
      notBeforeMs: dueAtMs,
      dueAtMs,
      order: doubles[double + ORDER] as number,
      holdsPlaceOf: undefined,
    });
  }

  #envelopeOf(words: Uint32Array, word: number): SharedEnvelope {
    return this.#envelopes.at(words[word + ENVELOPE] as number);
  }

  #take(slot: number): Message {
    const message = this.#messageAt(slot);
    const { words } = this.#records.pageOf(slot);
    const word = this.#records.wordOf(slot);
    this.#envelopes.release(message.shared);
    this.#index.delete(hashOfId(words, word), slot);
    this.#leave((words[word + RANK] as number) - 1);
    this.#records.release(slot);
    return message;
  }

  // ── the order of due times ──

  #dueOf(slot: number): number {
    return this.#records.pageOf(slot).doubles[this.#records.doubleOf(slot) + DUE] as number;
  }

  /** The same order as `isDueBefore` of lanes. */
  #isBefore(a: number, b: number): boolean {
    const dueA = this.#dueOf(a);
    const dueB = this.#dueOf(b);
    return dueA < dueB || (dueA === dueB && this.#acceptedAs(a) < this.#acceptedAs(b));
  }

  #acceptedAs(slot: number): number {
    return this.#records.pageOf(slot).doubles[this.#records.doubleOf(slot) + ORDER] as number;
  }

  #put(slot: number, rank: number): void {
    this.#order.set(rank, slot);
    const page: RecordPage = this.#records.pageOf(slot);
    page.words[this.#records.wordOf(slot) + RANK] = rank + 1;
  }

  #leave(rank: number): void {
    const last = this.#order.pop();
    if (rank === this.#order.length) return;
    const parent = (rank - 1) >> 1;
    if (rank > 0 && this.#isBefore(last, this.#order.at(parent))) this.#rise(last, rank);
    else this.#sink(last, rank);
  }

  #rise(slot: number, from: number): void {
    let rank = from;
    while (rank > 0) {
      const parent = (rank - 1) >> 1;
      const above = this.#order.at(parent);
      if (!this.#isBefore(slot, above)) break;
      this.#put(above, rank);
      rank = parent;
    }
    this.#put(slot, rank);
  }

  #sink(slot: number, from: number): void {
    const size = this.#order.length;
    let rank = from;
    for (;;) {
      let child = 2 * rank + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isBefore(this.#order.at(child + 1), this.#order.at(child))) child += 1;
      const below = this.#order.at(child);
      if (!this.#isBefore(below, slot)) break;
      this.#put(below, rank);
      rank = child;
    }
    this.#put(slot, rank);
  }
}
