/**
 * Documents that match a condition, with their scores: ordinals in ascending order. All operations run in slices.
 */
import { SLICE_POSTINGS } from './limits.js';

export interface Matches {
  readonly ordinals: Uint32Array;
  readonly scores: Float64Array;
}

export const NO_MATCHES: Matches = { ordinals: new Uint32Array(0), scores: new Float64Array(0) };

/** Collects matches in ascending order. */
export class MatchList {
  #ordinals: Uint32Array;
  #scores: Float64Array;
  #length = 0;

  constructor(room: number) {
    this.#ordinals = new Uint32Array(room);
    this.#scores = new Float64Array(room);
  }

  add(ordinal: number, score: number): void {
    this.#ordinals[this.#length] = ordinal;
    this.#scores[this.#length] = score;
    this.#length += 1;
  }

  get matches(): Matches {
    return { ordinals: this.#ordinals.subarray(0, this.#length), scores: this.#scores.subarray(0, this.#length) };
  }
}

/** Documents of both; scores are added. */
export function* intersection(a: Matches, b: Matches): Generator<void, Matches> {
  const list = new MatchList(Math.min(a.ordinals.length, b.ordinals.length));
  let j = 0;
  for (let i = 0; i < a.ordinals.length; i += 1) {
    if (i % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    const ordinal = a.ordinals[i] as number;
    j = firstAtLeast(b.ordinals, ordinal, j);
    if (j === b.ordinals.length) break;
    if (b.ordinals[j] === ordinal) list.add(ordinal, (a.scores[i] as number) + (b.scores[j] as number));
  }
  return list.matches;
}

/** Documents of either; scores are added. */
export function* union(a: Matches, b: Matches): Generator<void, Matches> {
  if (a.ordinals.length === 0) return b;
  if (b.ordinals.length === 0) return a;
  const list = new MatchList(a.ordinals.length + b.ordinals.length);
  let i = 0;
  let j = 0;
  for (let done = 1; i < a.ordinals.length || j < b.ordinals.length; done += 1) {
    if (done % SLICE_POSTINGS === 0) yield;
    const left = a.ordinals[i] ?? Number.POSITIVE_INFINITY;
    const right = b.ordinals[j] ?? Number.POSITIVE_INFINITY;
    let score = 0;
    if (left <= right) {
      score += a.scores[i] as number;
      i += 1;
    }
    if (right <= left) {
      score += b.scores[j] as number;
      j += 1;
    }
    list.add(Math.min(left, right), score);
  }
  return list.matches;
}

/**
 * The union of many. Unions of equally many sets are joined, so that a document is copied few times and only a few sets
 * are held.
 */
export class GrowingUnion {
  /** By the binary logarithm of the number of sets that are joined in it. */
  readonly #parts: (Matches | undefined)[] = [];

  *add(matches: Matches): Generator<void, void> {
    let joined = matches;
    let level = 0;
    for (let same = this.#parts[level]; same !== undefined; same = this.#parts[level]) {
      joined = yield* union(same, joined);
      this.#parts[level] = undefined;
      level += 1;
    }
    this.#parts[level] = joined;
  }

  *whole(): Generator<void, Matches> {
    let joined = NO_MATCHES;
    for (const part of this.#parts) if (part !== undefined) joined = yield* union(part, joined);
    return joined;
  }
}

/** Documents of `a` that are not in `b`. */
export function* difference(a: Matches, b: Matches): Generator<void, Matches> {
  const list = new MatchList(a.ordinals.length);
  let j = 0;
  for (let i = 0; i < a.ordinals.length; i += 1) {
    if (i % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    const ordinal = a.ordinals[i] as number;
    j = firstAtLeast(b.ordinals, ordinal, j);
    if (b.ordinals[j] !== ordinal) list.add(ordinal, a.scores[i] as number);
  }
  return list.matches;
}

/** Documents of `a`; the scores of those that are in `b` too are added. */
export function* withAdded(a: Matches, b: Matches): Generator<void, Matches> {
  const scores = a.scores.slice();
  let j = 0;
  for (let i = 0; i < a.ordinals.length; i += 1) {
    if (i % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    const ordinal = a.ordinals[i] as number;
    j = firstAtLeast(b.ordinals, ordinal, j);
    if (b.ordinals[j] === ordinal) scores[i] = (scores[i] as number) + (b.scores[j] as number);
  }
  return { ordinals: a.ordinals, scores };
}

export function boosted(matches: Matches, boost: number): Matches {
  if (boost === 1) return matches;
  return { ordinals: matches.ordinals, scores: matches.scores.map((score) => score * boost) };
}

/** The first place from `from` on of at least this number in an ascending list; it is searched in growing steps. */
export function firstAtLeast(
  numbers: ArrayLike<number>,
  wanted: number,
  from: number,
  length = numbers.length,
): number {
  let step = 1;
  let low = from;
  while (low + step < length && (numbers[low + step] as number) < wanted) {
    low += step;
    step *= 2;
  }
  let high = Math.min(length, low + step + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
