/**
 * Postings of a word: ordinals of documents with the word's count, packed into one number. Lists only grow at the
 * end; postings of removed documents stay until `retire`, and readers skip them.
 */

/** The formula BM25: the parts that all indexes share. */
export const K1 = 1.2;
const B = 0.75;

/** The worth of a word in `documents` of `size` documents: positive even for a word in all of them. */
export function worthOf(size: number, documents: number): number {
  return Math.log(1 + (size - documents + 0.5) / (documents + 0.5));
}

/** Added to a word's count in a document of `length` words, which damps it: longer documents damp more. */
export function lengthFactor(length: number, average: number): number {
  return K1 * (1 - B + (B * length) / average);
}

/** @param worth of the word @param factor the document's length factor */
export function bm25(worth: number, count: number, factor: number): number {
  return (worth * (K1 + 1) * count) / (count + factor);
}

/** Low bits of a posting: the count of the word in the document, at most `MAX_COUNT`. */
const COUNT_BITS = 8;
const MAX_COUNT = (1 << COUNT_BITS) - 1;
const COUNT_SPAN = 1 << COUNT_BITS;
/** A posting must fit into 32 bits. */
export const MAX_ORDINALS = 2 ** (32 - COUNT_BITS);
/** Longer lists are packed; a short typed array costs more than it saves. */
const PACKED_FROM = 32;
/** Lists up to this length double; a longer list that grows in place has room for 16 more. */
const DOUBLED_UP_TO = 8;
/** By the length of a full list: the spare places after the number that is added. */
const SPARE: readonly (readonly number[])[] = [[], [], [0], [0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]];
const GROWTH = 1.5;

export class Postings {
  #items: number[] | Uint32Array = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The first `length` items are valid. A later `add` or `retire` may replace this array and leaves it unchanged. */
  get items(): ArrayLike<number> {
    return this.#items;
  }

  /** As `items`, always of the same kind, for loops over many. */
  get packed(): Uint32Array {
    return Array.isArray(this.#items) ? Uint32Array.from(this.#items) : this.#items;
  }

  /** A list of these postings. */
  static of(items: Uint32Array): Postings {
    const postings = new Postings();
    postings.#items = items.length > PACKED_FROM ? items : [...items];
    postings.#length = items.length;
    return postings;
  }

  add(ordinal: number, count: number): void {
    const posting = postingOf(ordinal, count);
    if (Array.isArray(this.#items)) {
      this.#items = withNumber(this.#items, this.#length, posting);
      this.#length += 1;
      if (this.#length > PACKED_FROM) this.#items = grown(this.#items, this.#length);
      return;
    }
    if (this.#length === this.#items.length) this.#items = grown(this.#items, this.#length);
    this.#items[this.#length] = posting;
    this.#length += 1;
  }

  /** Drops the postings of these ordinals into a new list, so that readers of the old one are not disturbed. */
  retire(isRetired: (ordinal: number) => boolean): void {
    const kept: number[] = [];
    for (let at = 0; at < this.#length; at += 1) {
      const posting = this.#items[at] as number;
      if (!isRetired(ordinalOf(posting))) kept.push(posting);
    }
    if (kept.length === this.#length) return;
    this.#length = kept.length;
    this.#items = kept.length > PACKED_FROM ? Uint32Array.from(kept) : kept;
  }
}

/** The list, or a larger one, with one more number at the end of the first `length`. Most words are in few documents. */
export function withNumber(items: number[], length: number, added: number): number[] {
  if (length < items.length) items[length] = added;
  else if (length >= DOUBLED_UP_TO) items.push(added);
  else return items.concat(added, ...(SPARE[length] as readonly number[]));
  return items;
}

export function postingOf(ordinal: number, count: number): number {
  return ordinal * COUNT_SPAN + Math.min(count, MAX_COUNT);
}

export function ordinalOf(posting: number): number {
  return posting >>> COUNT_BITS;
}

export function countOf(posting: number): number {
  return posting & MAX_COUNT;
}

function grown(items: ArrayLike<number>, length: number): Uint32Array {
  const larger = new Uint32Array(Math.ceil(length * GROWTH));
  larger.set(items);
  return larger;
}
