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
    const count = isInAll ? countIn(cursors, slop) : 0;
    if (count > 0) take(ordinal, count);
    looked += isInAll ? 5 : 1;
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

/** The first positions from which all other words follow in order; the nearest following ones are the best. */
function countIn(cursors: readonly Cursor[], slop: number): number {
  const [first] = cursors as [Cursor];
  let count = 0;
  for (let at = first.from; at < first.to; at += 1) {
    const start = first.positions[at] as number;
    let last = start;
    for (let place = 1; place < cursors.length && last >= 0; place += 1) {
      last = positionAfter(cursors[place] as Cursor, last);
    }
    if (last >= 0 && last - start - (cursors.length - 1) <= slop) count += 1;
  }
  return count;
}

/** -1: there is none. */
function positionAfter(cursor: Cursor, position: number): number {
  for (let at = cursor.from; at < cursor.to; at += 1) {
    const next = cursor.positions[at] as number;
    if (next > position) return next;
  }
  return -1;
}

/** The occurrences of one term, or those of several as one list. */
function* occurrencesOf(terms: readonly TextTerm[]): Generator<void, Occurrences> {
  const [only] = terms;
  if (only !== undefined && terms.length === 1) {
    const { items, length } = only.postings;
    return { items, length, positions: only.positions.items };
  }
  const positionsByOrdinal = new Map<number, number[]>();
  let looked = 0;
  for (const { postings, positions } of terms) {
    let from = 0;
    for (let index = 0; index < postings.length; index += 1) {
      const posting = postings.items[index] as number;
      const own = Array.from({ length: countOf(posting) }, (_, at) => positions.items[from + at] as number);
      from += own.length;
      const ordinal = ordinalOf(posting);
      positionsByOrdinal.set(ordinal, [...(positionsByOrdinal.get(ordinal) ?? []), ...own]);
      looked += 8;
      if (looked < SLICE_POSTINGS) continue;
      looked = 0;
      yield;
    }
  }
  const ordinals = Uint32Array.from(positionsByOrdinal.keys()).sort();
  const items: number[] = [];
  const joined: number[] = [];
  for (const ordinal of ordinals) {
    const own = (positionsByOrdinal.get(ordinal) as number[]).sort((a, b) => a - b).slice(0, MAX_COUNT);
    items.push(ordinal * COUNT_SPAN + own.length);
    for (const position of own) joined.push(position);
  }
  return { items, length: items.length, positions: joined };
}
