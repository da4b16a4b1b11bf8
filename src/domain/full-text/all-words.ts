/**
 * Documents that have all of several words, scored by BM25. The postings of the rarest word are read, and those of the
 * others only at its documents: a rare and a frequent word take the time of the rare one.
 */
import { bm25, countOf, lengthFactor, ordinalOf, type Postings, postingOf } from '../search/index.js';
import type { IndexContents } from './index-contents.js';
import { SLICE_POSTINGS } from './limits.js';
import { firstAtLeast, type Matches, MatchList } from './matches.js';
import type { TextField } from './text-field.js';

/** Postings of a frequent word that are read one after the other, before those after them are searched. */
const NEAR_POSTINGS = 4;
/** A second word with so many times the postings of the first is searched, not read. */
const FAR_MORE = 16;
const KNOWN_FACTORS = 256;

export interface WordScoring {
  /** Of the word in the whole corpus. */
  readonly worth: number;
  /** Of the field, in words. */
  readonly averageLength: number;
  readonly boost: number;
}

/** The postings of one word, and the place up to which they were read. */
export class WordPart {
  place = 0;
  /** The length factors of short documents. */
  readonly #factors = new Float64Array(KNOWN_FACTORS);

  readonly items: Uint32Array;
  readonly length: number;
  readonly #worth: number;
  readonly #averageLength: number;
  readonly #boost: number;

  constructor(
    private readonly field: TextField,
    postings: Postings,
    { worth, averageLength, boost }: WordScoring,
  ) {
    this.items = postings.packed;
    this.length = postings.length;
    this.#worth = worth;
    this.#averageLength = averageLength;
    this.#boost = boost;
  }

  /** Moves to the document. @returns whether it has the word */
  moveTo(ordinal: number): boolean {
    const { items, length } = this;
    let { place } = this;
    // Frequent words have one of the next documents.
    const near = Math.min(place + NEAR_POSTINGS, length);
    while (place < near && ordinalOf(items[place] as number) < ordinal) place += 1;
    if (place === near) place = firstAtLeast(items, postingOf(ordinal, 0), place, length);
    this.place = place;
    return place < length && ordinalOf(items[place] as number) === ordinal;
  }

  scoreOf(posting: number): number {
    const length = this.field.lengthAt(ordinalOf(posting));
    return bm25(this.#worth, countOf(posting), this.#factorOf(length)) * this.#boost;
  }

  #factorOf(length: number): number {
    if (length >= KNOWN_FACTORS) return lengthFactor(length, this.#averageLength);
    const known = this.#factors[length] as number;
    if (known > 0) return known;
    const factor = lengthFactor(length, this.#averageLength);
    this.#factors[length] = factor;
    return factor;
  }
}

export class AllWords {
  readonly #rarest: WordPart;
  readonly #others: readonly WordPart[];
  readonly #list: MatchList;

  /** @param parts of at least one word */
  constructor(
    private readonly contents: IndexContents,
    private readonly parts: readonly WordPart[],
  ) {
    const rarest = parts.reduce((least, part) => (part.length < least.length ? part : least));
    this.#rarest = rarest;
    this.#others = parts.filter((part) => part !== rarest);
    this.#list = new MatchList(rarest.length);
  }

  /** In slices. */
  *matches(): Generator<void, Matches> {
    const [other] = this.#others;
    const isPair = this.#others.length === 1 && other !== undefined && other.length < this.#rarest.length * FAR_MORE;
    // Each posting of the rarest word is looked for in the others.
    const slice = Math.ceil(SLICE_POSTINGS / this.parts.length);
    for (let from = 0; from < this.#rarest.length; from += slice) {
      if (from > 0) yield;
      const to = Math.min(from + slice, this.#rarest.length);
      if (isPair) this.#addPair(other, from, to);
      else this.#addAll(from, to);
    }
    return this.#list.matches;
  }

  #addAll(from: number, to: number): void {
    const [contents, parts, others, rarest] = [this.contents, this.parts, this.#others, this.#rarest];
    for (let at = from; at < to; at += 1) {
      const ordinal = ordinalOf(rarest.items[at] as number);
      if (!contents.isAlive(ordinal) || !haveAll(others, ordinal)) continue;
      rarest.place = at;
      let score = 0;
      for (let place = 0; place < parts.length; place += 1) {
        const part = parts[place] as WordPart;
        score += part.scoreOf(part.items[part.place] as number);
      }
      this.#list.add(ordinal, score);
    }
  }

  /** Two frequent words are the most expensive: one loop over both lists takes half of the time of `#addAll`. */
  #addPair(other: WordPart, from: number, to: number): void {
    const [contents, rarest, list] = [this.contents, this.#rarest, this.#list];
    const [items, otherItems, otherLength] = [rarest.items, other.items, other.length];
    let { place } = other;
    for (let at = from; at < to; at += 1) {
      const posting = items[at] as number;
      const ordinal = ordinalOf(posting);
      while (place < otherLength && ordinalOf(otherItems[place] as number) < ordinal) place += 1;
      if (place === otherLength) break;
      const otherPosting = otherItems[place] as number;
      if (ordinalOf(otherPosting) !== ordinal || !contents.isAlive(ordinal)) continue;
      list.add(ordinal, rarest.scoreOf(posting) + other.scoreOf(otherPosting));
    }
    other.place = place;
  }
}

function haveAll(parts: readonly WordPart[], ordinal: number): boolean {
  for (let at = 0; at < parts.length; at += 1) if (!(parts[at] as WordPart).moveTo(ordinal)) return false;
  return true;
}
