/** The terms of one text field with their postings, and the lengths of its documents. */
import { countOf, ordinalOf, Postings, postingOf, withNumber } from '../search/index.js';
import type { ContentsReader, ContentsWriter } from './contents-bytes.js';
import type { IndexField } from './definition.js';
import { firstOf } from './first-places.js';
import {
  MAX_EXPANDED_TERMS,
  MAX_FIELD_CHARACTERS,
  MAX_FIELD_WORDS,
  MAX_REGEX_TEXT_CHARACTERS,
  MAX_SIMILAR_CHARACTERS,
  SLICE_ADDED_WORDS,
  SLICE_POSTINGS,
  SLICE_REGEX_CHARACTERS,
  SLICE_TERMS,
} from './limits.js';
import { type Nearness, type NearTerm, TermTree } from './term-tree.js';
import { type Analysis, analysisOf } from './text-analysis.js';

const GROWTH = 1.5;
/** Longer lists are packed; a short typed array costs more than it saves. */
const PACKED_FROM = 32;
/** The positions between the last word of one value and the first of the next, so that no phrase spans both. */
const VALUE_GAP = 100;
const MAX_POSITION = 0xffff;
const MAX_COUNT = countOf(0xff);
/** Words in each of two maps of known terms. A Map of more words takes milliseconds when it grows. */
const MAX_KNOWN_WORDS = 20_000;
/** Writing the text of a term takes as long as so many numbers. */
export const TERM_WORK = 16;
/** Memory of a term and its place in the tree, without its characters. */
const TERM_BYTES = 460;
/** Memory of a word of a document, with spare room: the posting and its place in the list of the document's terms, … */
const POSTING_BYTES = 11;
/** … each position, … */
const POSITION_BYTES = 3;
/** … and both while the lists of the term are short: each number has eight bytes then, and packed lists have a header. */
const SHORT_LIST_BYTES = 13;

/** The ordinals of documents that are stored: those that are left, without gaps. */
export interface Renumbered {
  /** By new ordinal the present one. */
  readonly from: readonly number[];
  /** The new ordinal; -1: the document is not stored. */
  at(ordinal: number): number;
}

/** A word of an index, or a value of a field. */
export interface IndexTerm {
  readonly text: string;
  /** Its number among the terms of the index. */
  readonly id: number;
  /** Documents in which it is. */
  documents: number;
  readonly postings: Postings;
}

export class TextTerm implements IndexTerm {
  documents = 0;
  /** The document that was added last, and how often the word is in it so far. */
  ordinal = -1;
  count = 0;

  /** @param positions for each posting its positions, as many as its count */
  constructor(
    readonly text: string,
    readonly id: number,
    readonly postings = new Postings(),
    readonly positions = new Positions(),
  ) {}
}

/** Words of a text in these places of a list. */
interface Words {
  readonly of: readonly string[];
  readonly from: number;
  readonly to: number;
  /** The position in the field of the first word of the list. */
  readonly position: number;
}

/** A list of numbers of 16 bits that grows at its end. */
export class Positions {
  #items: number[] | Uint16Array = [];
  #length = 0;

  get items(): ArrayLike<number> {
    return this.#items;
  }

  static of(items: Uint32Array): Positions {
    const positions = new Positions();
    positions.#items = items.length > PACKED_FROM ? Uint16Array.from(items) : [...items];
    positions.#length = items.length;
    return positions;
  }

  add(position: number): void {
    if (Array.isArray(this.#items)) {
      this.#items = withNumber(this.#items, this.#length, position);
      this.#length += 1;
      if (this.#length > PACKED_FROM) this.#items = grown(this.#items, this.#length);
      return;
    }
    if (this.#length === this.#items.length) this.#items = grown(this.#items, this.#length);
    this.#items[this.#length] = position;
    this.#length += 1;
  }
}

function grown(items: ArrayLike<number>, length: number): Uint16Array {
  const larger = new Uint16Array(Math.ceil(length * GROWTH));
  larger.set(items);
  return larger;
}

export class TextField {
  readonly analysis: Analysis;
  readonly #byText = new Map<string, TextTerm>();
  /** The terms of recent words, with their stems found, and of the words before: frequent words stay known. */
  #byWord = new Map<string, TextTerm>();
  #byEarlierWord = new Map<string, TextTerm>();
  readonly #tree = new TermTree<TextTerm>();
  /** By ordinal: the words of the document's field. */
  #lengths = new Uint16Array(16);
  #words = 0;
  #documents = 0;

  constructor(
    readonly field: IndexField,
    language: string,
    private readonly nextId: () => number,
    private readonly onTerm: (term: IndexTerm) => void,
  ) {
    this.analysis = analysisOf(field, language);
  }

  /** Words of all documents. */
  get words(): number {
    return this.#words;
  }

  /** Documents that have the field. */
  get documents(): number {
    return this.#documents;
  }

  lengthAt(ordinal: number): number {
    return this.#lengths[ordinal] ?? 0;
  }

  get(text: string): TextTerm | undefined {
    return this.#byText.get(text);
  }

  /**
   * Adds a document, in slices, which yield the bytes of memory that they take. @param note is told each of its terms
   */
  *add(ordinal: number, values: readonly string[], note: (id: number) => void): Generator<number, void> {
    const terms: TextTerm[] = [];
    let words = 0;
    let gaps = 0;
    for (const value of values) {
      for (const part of this.analysis.wordsByPart(value.slice(0, MAX_FIELD_CHARACTERS))) {
        const left = Math.min(part.length, MAX_FIELD_WORDS - words);
        for (let from = 0; from < left; from += SLICE_ADDED_WORDS) {
          const to = Math.min(from + SLICE_ADDED_WORDS, left);
          yield this.#addWords({ of: part, from, to, position: words + gaps }, ordinal, terms);
        }
        words += left;
      }
      gaps += VALUE_GAP;
    }
    if (words === 0) return;
    // Loops over each word count places: an iterator's pairs are half of the memory that indexing takes and frees.
    for (let place = 0; place < terms.length; place += 1) {
      const term = terms[place] as TextTerm;
      term.documents += 1;
      term.postings.add(ordinal, term.count);
      note(term.id);
      if (place % SLICE_ADDED_WORDS === SLICE_ADDED_WORDS - 1) yield 0;
    }
    this.#keepLength(ordinal, words);
  }

  /** @param terms those of the document, in the order of their first words @returns bytes of memory */
  #addWords(words: Words, ordinal: number, terms: TextTerm[]): number {
    const { of, from, to, position } = words;
    let bytes = 0;
    for (let place = from; place < to; place += 1) {
      const known = this.#byText.size;
      const term = this.#termOf(of[place] as string);
      if (this.#byText.size > known) bytes += TERM_BYTES + 2 * term.text.length;
      if (term.ordinal !== ordinal) {
        term.ordinal = ordinal;
        term.count = 0;
        terms.push(term);
        bytes += POSTING_BYTES;
      }
      if (term.count === MAX_COUNT) continue;
      term.count += 1;
      bytes += term.postings.length < PACKED_FROM ? POSITION_BYTES + SHORT_LIST_BYTES : POSITION_BYTES;
      term.positions.add(Math.min(position + place, MAX_POSITION));
    }
    return bytes;
  }

  /** To be called for a removed document; its terms are told by their ids. */
  forget(ordinal: number): void {
    const length = this.lengthAt(ordinal);
    if (length === 0) return;
    this.#words -= length;
    this.#documents -= 1;
    this.#lengths[ordinal] = 0;
  }

  /** Writes the parts of the documents that have a new ordinal. Documents may be added during it. */
  *write(writer: ContentsWriter, renumbered: Renumbered): Generator<void, void> {
    for (const [ordinal, present] of renumbered.from.entries()) {
      writer.integer(this.lengthAt(present));
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    }
    const terms = [...this.#byText.values()];
    writer.integer(terms.length);
    const pace = new WritingPace();
    for (const term of terms) yield* writeTerm(writer, term, renumbered, pace);
  }

  /** Reads the parts that `write` wrote, into an empty field. */
  *read(reader: ContentsReader, documents: number): Generator<void, void> {
    for (let ordinal = 0; ordinal < documents; ordinal += 1) {
      const length = reader.integer();
      if (length > 0) this.#keepLength(ordinal, length);
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    }
    let done = 0;
    for (let left = reader.integer(); left > 0; left -= 1) {
      const text = reader.text();
      const items = reader.integers();
      const positions = Positions.of(reader.integers());
      if (items.length === 0) continue;
      const term = this.#newTerm(text, Postings.of(items), positions);
      term.documents = items.length;
      done += 64 + items.length;
      if (done < SLICE_POSTINGS) continue;
      done = 0;
      yield;
    }
  }

  /** The terms of most documents with the prefix, in slices. */
  *withPrefix(prefix: string): Generator<void, TextTerm[]> {
    const found: TextTerm[] = [];
    let looked = 0;
    for (const term of this.#tree.withPrefix(prefix)) {
      looked += 1;
      if (looked % SLICE_TERMS === 0) yield;
      if (term.documents > 0) found.push(term);
    }
    return yield* mostFrequent(found);
  }

  *near(word: string, nearness: Nearness): Generator<void, NearTerm<TextTerm>[]> {
    if (word.length > MAX_SIMILAR_CHARACTERS) {
      const same = nearness.isPrefix ? yield* this.withPrefix(word) : [this.get(word)];
      return same.flatMap((term) => (term === undefined || term.documents === 0 ? [] : [{ term, distance: 0 }]));
    }
    const found = yield* this.#tree.near(word, nearness);
    const live = found.filter(({ term }) => term.documents > 0);
    const before = (a: number, b: number) => {
      const [one, other] = [live[a] as NearTerm<TextTerm>, live[b] as NearTerm<TextTerm>];
      return one.distance - other.distance || other.term.documents - one.term.documents || a - b;
    };
    return (yield* firstOf(live.length, MAX_EXPANDED_TERMS, before)).map((at) => live[at] as NearTerm<TextTerm>);
  }

  /** The terms that the test accepts, in slices. */
  *passing(test: (text: string) => boolean): Generator<void, TextTerm[]> {
    const found: TextTerm[] = [];
    let read = 0;
    for (const term of this.#byText.values()) {
      const { text, documents } = term;
      // A term that is not read takes some time too.
      read += 1;
      if (documents > 0 && text.length <= MAX_REGEX_TEXT_CHARACTERS) {
        read += text.length;
        if (test(text)) found.push(term);
      }
      if (read < SLICE_REGEX_CHARACTERS) continue;
      read = 0;
      yield;
    }
    return yield* mostFrequent(found);
  }

  #termOf(word: string): TextTerm {
    const known = this.#byWord.get(word);
    if (known !== undefined) return known;
    const term = this.#byEarlierWord.get(word) ?? this.#findTerm(this.analysis.termOf(word));
    if (this.#byWord.size >= MAX_KNOWN_WORDS) {
      this.#byEarlierWord = this.#byWord;
      this.#byWord = new Map();
    }
    this.#byWord.set(word, term);
    return term;
  }

  #findTerm(text: string): TextTerm {
    return this.#byText.get(text) ?? this.#newTerm(text);
  }

  #newTerm(text: string, postings?: Postings, positions?: Positions): TextTerm {
    const term = new TextTerm(text, this.nextId(), postings, positions);
    this.#byText.set(text, term);
    this.#tree.set(text, term);
    this.onTerm(term);
    return term;
  }

  #keepLength(ordinal: number, length: number): void {
    if (ordinal >= this.#lengths.length) {
      const larger = new Uint16Array(Math.ceil((ordinal + 1) * GROWTH));
      larger.set(this.#lengths);
      this.#lengths = larger;
    }
    this.#lengths[ordinal] = length;
    this.#words += length;
    this.#documents += 1;
  }
}

/** Counts written numbers, to pause after each slice. */
export class WritingPace {
  #done = 0;

  isSliceOver(numbers: number): boolean {
    this.#done += numbers;
    if (this.#done < SLICE_POSTINGS) return false;
    this.#done = 0;
    return true;
  }
}

/** Writes the text, the postings and the positions of a term, without those of documents that are not stored. */
function* writeTerm(
  writer: ContentsWriter,
  term: TextTerm,
  renumbered: Renumbered,
  pace: WritingPace,
): Generator<void, void> {
  // Postings that are added later are those of documents that are not stored.
  const { length, items } = term.postings;
  const positions = term.positions.items;
  let [stored, storedPositions] = [0, 0];
  for (let at = 0; at < length; at += 1) {
    if (pace.isSliceOver(1)) yield;
    const posting = items[at] as number;
    if (renumbered.at(ordinalOf(posting)) < 0) continue;
    stored += 1;
    storedPositions += countOf(posting);
  }
  writer.text(term.text);
  writer.integer(stored);
  for (let at = 0; at < length; at += 1) {
    if (pace.isSliceOver(1)) yield;
    const posting = items[at] as number;
    const ordinal = renumbered.at(ordinalOf(posting));
    if (ordinal >= 0) writer.integer(postingOf(ordinal, countOf(posting)));
  }
  writer.integer(storedPositions);
  let from = 0;
  for (let at = 0; at < length; at += 1) {
    const posting = items[at] as number;
    const to = from + countOf(posting);
    const isStored = renumbered.at(ordinalOf(posting)) >= 0;
    for (let place = from; place < to; place += 1) {
      if (pace.isSliceOver(1)) yield;
      if (isStored) writer.integer(positions[place] as number);
    }
    from = to;
  }
  if (pace.isSliceOver(TERM_WORK)) yield;
}

function* mostFrequent(terms: TextTerm[]): Generator<void, TextTerm[]> {
  if (terms.length <= MAX_EXPANDED_TERMS) return terms;
  const documentsOf = (place: number) => (terms[place] as TextTerm).documents;
  const places = yield* firstOf(terms.length, MAX_EXPANDED_TERMS, (a, b) => documentsOf(b) - documentsOf(a) || a - b);
  return places.map((place) => terms[place] as TextTerm);
}
