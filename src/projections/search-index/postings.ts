/**
 * Where a word occurs: ordinals of documents, each with how often, packed into one number. A list grows at its end; what
 * belongs to documents that are gone stays until `retire`, and readers pass over it.
 */

/** Low bits of a posting: how often the word occurs in the document, at most `MAX_COUNT`. */
const COUNT_BITS = 8;
const MAX_COUNT = (1 << COUNT_BITS) - 1;
const COUNT_SPAN = 1 << COUNT_BITS;
/** So that a posting fits into 32 bits. */
export const MAX_ORDINALS = 2 ** (32 - COUNT_BITS);
/** Longer lists are packed: below it an array of its own costs more than it saves. */
const PACKED_FROM = 32;
const GROWTH = 1.5;

export class Postings {
  #items: number[] | Uint32Array = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The first `length` of them count. A later `add` or `retire` may leave these behind, unchanged. */
  get items(): ArrayLike<number> {
    return this.#items;
  }

  add(ordinal: number, count: number): void {
    const posting = ordinal * COUNT_SPAN + Math.min(count, MAX_COUNT);
    if (Array.isArray(this.#items)) {
      this.#items.push(posting);
      this.#length += 1;
      if (this.#length > PACKED_FROM) this.#items = grown(this.#items, this.#length);
      return;
    }
    if (this.#length === this.#items.length) this.#items = grown(this.#items, this.#length);
    this.#items[this.#length] = posting;
    this.#length += 1;
  }

  /** Drops the postings of these ordinals, in a list of its own: whoever reads the old one is not disturbed. */
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
