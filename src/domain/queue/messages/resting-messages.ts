/**
 * Messages that wait for later, as bytes outside of the heap: 72 for each, 4 in the order of due times and some 12 to
 * be found by its id, where an object with its id and its place in two collections takes 264. One is made an object
 * again when it is due, or when something happens to it.
 *
 *  RST1 one that rests has never been attempted: what an attempt leaves in a message is not kept here
 *  RST2 what is looked at is a copy; nobody but the one who wakes a message may change it
 */
import { assert, type MessageId } from '../../../kernel/index.js';
import { NumberList } from '../collections/number-list.js';
import { RecordIndex } from '../collections/record-index.js';
import { type RecordPage, RecordPages } from '../collections/record-pages.js';
import type { SharedEnvelope } from './envelopes.js';
import { Message, WAITING } from './message.js';
import { hashOfId, ID_WORDS, packId, unpackId } from './packed-ids.js';
import { RestingEnvelopes } from './resting-envelopes.js';

/** What is over sooner is not worth the two moves. */
const RESTS_FOR_MS = 60_000;

const RECORD_BYTES = 72;
/** Words, behind those of the id. */
const BODY_BYTES = ID_WORDS;
const ENVELOPE = BODY_BYTES + 1;
/** Its place in the order of due times, by one more; 0: no message is here. */
const RANK = ENVELOPE + 1;
/** Numbers, behind the words. */
const BODY_NUMBER = 5;
const ORDER = BODY_NUMBER + 1;
const CREATED = ORDER + 1;
const DUE = CREATED + 1;

/** Everything else of such a message follows from that. */
function canRest(message: Message): boolean {
  const { notBeforeMs, createdAtMs, dueAtMs, status, retried, restarts, sinceMs, isCancelRequested } = message;
  return (
    notBeforeMs - createdAtMs >= RESTS_FOR_MS &&
    dueAtMs === notBeforeMs &&
    status === WAITING &&
    retried === 0 &&
    restarts === 0 &&
    sinceMs === 0 &&
    !isCancelRequested &&
    message.holdsPlaceOf === undefined
  );
}

export class RestingMessages {
  readonly #records = new RecordPages(RECORD_BYTES);
  readonly #envelopes = new RestingEnvelopes();
  /** Slots: a binary heap, the first that is due at its top. */
  readonly #order = new NumberList();
  readonly #sought = new Uint32Array(ID_WORDS);
  readonly #index = new RecordIndex((slot) => this.#isSought(slot));

  get size(): number {
    return this.#records.size;
  }

  /** When the first of them is due. */
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

  /** RST2 */
  look(id: MessageId): Message | undefined {
    const slot = this.#find(id);
    return slot === -1 ? undefined : this.#messageAt(slot);
  }

  /** @returns false: it stays an object */
  add(message: Message): boolean {
    if (!canRest(message) || !packId(message.id, this.#sought)) return false;
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

  /** It is an object from now on, and not here. */
  wake(id: MessageId): Message | undefined {
    const slot = this.#find(id);
    return slot === -1 ? undefined : this.#take(slot);
  }

  /** The first one, when it is due by now. */
  wakeDue(nowMs: number): Message | undefined {
    if (this.#order.length === 0) return undefined;
    const first = this.#order.at(0);
    return this.#dueOf(first) > nowMs ? undefined : this.#take(first);
  }

  /** RST2. Sees what is there all the time; may or may not see what comes or goes meanwhile. */
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

  /** As `isDueBefore` of lanes. */
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
