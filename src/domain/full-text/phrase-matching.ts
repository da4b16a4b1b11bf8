/** Phrases: words in their order, with at most `slop` other words between them. */
import { countOf, ordinalOf } from '../search/index.js';
import { SLICE_POSTINGS } from './limits.js';
import type { TextTerm } from './text-field.js';

/** A place in a phrase: one word, or any of several. */
export interface PhrasePart {
  readonly terms: readonly TextTerm[];
}

interface Occurrences {
  /** Postings in ascending order. */
  readonly items: ArrayLike<number>;
  readonly length: number;
  /** For each posting its positions, as many as its count. */
  readonly positions: ArrayLike<number>;
}

const COUNT_SPAN = 256;
const MAX_COUNT = COUNT_SPAN - 1;

/** @param take is told each document with the phrase, in ascending order, and how often it has it */
export function* eachPhrase(
  parts: readonly PhrasePart[],
  slop: number,
  take: (ordinal: number, count: number) => void,
): Generator<void, void> {
  const cursors: Cursor[] = [];
  for (const { terms } of parts) cursors.push(new Cursor(yield* occurrencesOf(terms)));
  // The rarest word leads, so that most documents of the others are passed over.
  const lead = cursors.reduce((rarest, cursor) => (cursor.length < rarest.length ? cursor : rarest));
  let looked = 0;
  for (; !lead.isAtEnd; lead.step()) {
    const { ordinal } = lead;
    let isInAll = true;
    for (const cursor of cursors) {
      if (cursor === lead) continue;
      looked += cursor.seek(ordinal);
      if (cursor.isAtEnd) return;
      if (cursor.ordinal !== ordinal) {
        isInAll = false;
        break;
      }
    }
    if (isInAll) {
      const { count, work } = countIn(cursors, slop);
      if (count > 0) take(ordinal, count);
      looked += 4 + work;
    }
    looked += 1;
    if (looked < SLICE_POSTINGS) continue;
    looked = 0;
    yield;
  }
}

class Cursor {
  #index = 0;
  /** Where the positions of the present posting begin. */
  from = 0;

  constructor(private readonly list: Occurrences) {}

  get length(): number {
    return this.list.length;
  }

  get isAtEnd(): boolean {
    return this.#index >= this.list.length;
  }

  get ordinal(): number {
    return ordinalOf(this.list.items[this.#index] as number);
  }

  get to(): number {
    return this.from + countOf(this.list.items[this.#index] as number);
  }

  get positions(): ArrayLike<number> {
    return this.list.positions;
  }

  step(): void {
    this.from = this.to;
    this.#index += 1;
  }

  /** Goes to the first document from `ordinal` on. @returns postings passed */
  seek(ordinal: number): number {
    const before = this.#index;
    while (!this.isAtEnd && this.ordinal < ordinal) this.step();
    return this.#index - before;
  }
}

/**
 * The first positions from which all other words follow in order; the nearest following ones are the best.
 * @returns also the positions that were read
 */
function countIn(cursors: readonly Cursor[], slop: number): { readonly count: number; readonly work: number } {
  const [first] = cursors as [Cursor];
  // A later first position has later followers, so that each position is passed over once.
  const places = cursors.map(({ from }) => from);
  let count = 0;
  let work = 0;
  for (let at = first.from; at < first.to; at += 1) {
    const start = first.positions[at] as number;
    let last = start;
    for (let part = 1; part < cursors.length; part += 1) {
      const { positions, to } = cursors[part] as Cursor;
      let place = places[part] as number;
      while (place < to && (positions[place] as number) <= last) place += 1;
      work += place - (places[part] as number) + 1;
      places[part] = place;
      if (place === to) return { count, work };
      last = positions[place] as number;
    }
    if (last - start - (cursors.length - 1) <= slop) count += 1;
  }
  return { count, work };
}

/** Room for a mark of each document that may have one of the terms. */
function ordinalsOf(terms: readonly TextTerm[]): Uint8Array {
  let last = -1;
  for (const { postings } of terms) {
    if (postings.length > 0) last = Math.max(last, ordinalOf(postings.items[postings.length - 1] as number));
  }
  return new Uint8Array(last + 1);
}

/** The occurrences of one term, or those of several as one list. */
function* occurrencesOf(terms: readonly TextTerm[]): Generator<void, Occurrences> {
  const [only] = terms;
  if (only !== undefined && terms.length === 1) {
    const { items, length } = only.postings;
    return { items, length, positions: only.positions.items };
  }
  const positionsByOrdinal = new Map<number, number[]>();
  const ordinals = ordinalsOf(terms);
  let looked = 0;
  for (const { postings, positions } of terms) {
    let from = 0;
    for (let index = 0; index < postings.length; index += 1) {
      const posting = postings.items[index] as number;
      const ordinal = ordinalOf(posting);
      let own = positionsByOrdinal.get(ordinal);
      if (own === undefined) {
        own = [];
        positionsByOrdinal.set(ordinal, own);
        ordinals[ordinal] = 1;
      }
      const to = from + countOf(posting);
      looked += 8 + to - from;
      for (; from < to; from += 1) own.push(positions.items[from] as number);
      if (looked < SLICE_POSTINGS) continue;
      looked = 0;
      yield;
    }
  }
  const items: number[] = [];
  const joined: number[] = [];
  for (let ordinal = ordinals.indexOf(1); ordinal >= 0; ordinal = ordinals.indexOf(1, ordinal + 1)) {
    const all = positionsByOrdinal.get(ordinal) as number[];
    const own = all.sort((a, b) => a - b).slice(0, MAX_COUNT);
    items.push(ordinal * COUNT_SPAN + own.length);
    for (const position of own) joined.push(position);
    looked += 8 + 4 * all.length;
    if (looked < SLICE_POSTINGS) continue;
    looked = 0;
    yield;
  }
  return { items, length: items.length, positions: joined };
}
