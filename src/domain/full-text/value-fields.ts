/** The values of fields other than texts: numbers, dates and truth values by document, keywords and facets by value. */
import { ordinalOf, Postings, postingOf } from '../search/index.js';
import type { ContentsReader, ContentsWriter } from './contents-bytes.js';
import type { IndexField } from './definition.js';
import { compareValues, type FieldValue, facetLevels, typedValueOf } from './field-values.js';
import { SLICE_POSTINGS } from './limits.js';
import { type IndexTerm, type Renumbered, TERM_WORK, WritingPace } from './text-field.js';

const GROWTH = 1.5;
const COLUMN_BYTES = 10;
const TERM_BYTES = 260;
const POSTING_BYTES = 9;
/** Memory of a value that is kept apart. */
const APART_BYTES = 64;

/** A field whose values are kept by document. */
export interface Column {
  /** The first value of the document; undefined: it has none. */
  first(ordinal: number): FieldValue | undefined;
  /** All values of the document. */
  values(ordinal: number): readonly FieldValue[];
}

const NONE: readonly FieldValue[] = [];

/** Numbers, dates (as numbers) and truth values (as 0 and 1), by ordinal. */
export class NumberField implements Column {
  #values = new Float64Array(16).fill(Number.NaN);
  /** Documents with several values, or one that a number does not hold exactly. */
  readonly #apart = new Map<number, readonly FieldValue[]>();
  readonly #isBoolean: boolean;

  constructor(readonly field: IndexField) {
    this.#isBoolean = field.type === 'BOOL';
  }

  /** @returns bytes of memory */
  add(ordinal: number, values: readonly FieldValue[]): number {
    if (values.length === 0) return 0;
    if (ordinal >= this.#values.length) {
      const larger = new Float64Array(Math.ceil((ordinal + 1) * GROWTH)).fill(Number.NaN);
      larger.set(this.#values);
      this.#values = larger;
    }
    const [first] = values as [FieldValue];
    this.#values[ordinal] = Number(first);
    if (values.length === 1 && typeof first !== 'bigint') return COLUMN_BYTES;
    this.#apart.set(ordinal, values);
    return COLUMN_BYTES + values.length * APART_BYTES;
  }

  *write(writer: ContentsWriter, { from }: Renumbered): Generator<void, void> {
    const apart: [number, readonly FieldValue[]][] = [];
    for (const [ordinal, present] of from.entries()) {
      writer.float(this.#values[present] ?? Number.NaN);
      const values = this.#apart.get(present);
      if (values !== undefined) apart.push([ordinal, values]);
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    }
    writer.integer(apart.length);
    for (const [ordinal, values] of apart) {
      writer.integer(ordinal);
      writer.integer(values.length);
      for (const value of values) writer.text(String(value));
    }
  }

  *read(reader: ContentsReader, documents: number): Generator<void, void> {
    this.#values = new Float64Array(documents);
    for (let ordinal = 0; ordinal < documents; ordinal += 1) {
      this.#values[ordinal] = reader.float();
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    }
    for (let left = reader.integer(); left > 0; left -= 1) {
      const ordinal = reader.integer();
      const values: FieldValue[] = [];
      for (let more = reader.integer(); more > 0; more -= 1) {
        const text = reader.text();
        // A date is stored as the number that it is.
        const value = this.field.type === 'DATE' ? Number(text) : typedValueOf(this.field.type, text);
        if (value !== undefined) values.push(value);
      }
      this.#apart.set(ordinal, values);
    }
  }

  forget(ordinal: number): void {
    if (ordinal >= this.#values.length) return;
    this.#values[ordinal] = Number.NaN;
    if (this.#apart.size > 0) this.#apart.delete(ordinal);
  }

  first(ordinal: number): FieldValue | undefined {
    return this.values(ordinal)[0];
  }

  values(ordinal: number): readonly FieldValue[] {
    const value = this.#values[ordinal];
    if (value === undefined || Number.isNaN(value)) return NONE;
    const apart = this.#apart.size > 0 ? this.#apart.get(ordinal) : undefined;
    return apart ?? [this.#isBoolean ? value === 1 : value];
  }

  /** Whether the test accepts any value of the document; false without one. */
  anyAt(ordinal: number, test: (value: FieldValue) => boolean): boolean {
    const value = this.#values[ordinal];
    if (value === undefined || Number.isNaN(value)) return false;
    if (this.#apart.size > 0) {
      const apart = this.#apart.get(ordinal);
      if (apart !== undefined) return apart.some(test);
    }
    return test(this.#isBoolean ? value === 1 : value);
  }
}

/** Keywords and facets: postings by value, and the values by ordinal. A facet is also in the postings of its parents. */
export class KeywordField implements Column {
  readonly #byText = new Map<string, KeywordTerm>();
  readonly #terms: KeywordTerm[] = [];
  /** By ordinal: the place of the document's only value in `#terms`, plus 1; 0: none, or several. */
  #places = new Uint32Array(16);
  /** Documents with several values. */
  readonly #several = new Map<number, readonly string[]>();

  constructor(
    readonly field: IndexField,
    private readonly nextId: () => number,
    private readonly onTerm: (term: IndexTerm) => void,
  ) {}

  /** @param note is told each of its terms @returns bytes of memory */
  add(ordinal: number, given: readonly string[], note: (id: number) => void): number {
    if (given.length === 0) return 0;
    const isFacet = this.field.type === 'FACET';
    const values = given.length === 1 ? given : [...new Set(given)];
    let bytes = COLUMN_BYTES;
    for (const text of isFacet ? new Set(values.flatMap(facetLevels)) : values) {
      let term = this.#byText.get(text);
      if (term === undefined) {
        term = this.#newTerm(text);
        bytes += TERM_BYTES + 2 * text.length;
      }
      term.documents += 1;
      term.postings.add(ordinal, 1);
      bytes += POSTING_BYTES;
      note(term.id);
    }
    return bytes + this.#keep(ordinal, values);
  }

  *write(writer: ContentsWriter, renumbered: Renumbered): Generator<void, void> {
    const { length } = this.#terms;
    writer.integer(length);
    const pace = new WritingPace();
    for (const { text, postings } of this.#terms.slice(0, length)) {
      const { items, length: count } = postings;
      let stored = 0;
      for (let index = 0; index < count; index += 1) {
        if (renumbered.at(ordinalOf(items[index] as number)) >= 0) stored += 1;
        if (pace.isSliceOver(1)) yield;
      }
      writer.text(text);
      writer.integer(stored);
      for (let index = 0; index < count; index += 1) {
        const ordinal = renumbered.at(ordinalOf(items[index] as number));
        if (ordinal >= 0) writer.integer(postingOf(ordinal, 1));
        if (pace.isSliceOver(1)) yield;
      }
      if (pace.isSliceOver(TERM_WORK)) yield;
    }
    const several: [number, readonly string[]][] = [];
    for (const [ordinal, present] of renumbered.from.entries()) {
      const place = this.#places[present] ?? 0;
      writer.integer(place <= length ? place : 0);
      const values = this.#several.get(present);
      if (values !== undefined) several.push([ordinal, values]);
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    }
    writer.integer(several.length);
    for (const [ordinal, values] of several) {
      writer.integer(ordinal);
      writer.integers(values.map((text) => this.#byText.get(text)?.place ?? 0));
    }
  }

  *read(reader: ContentsReader, documents: number): Generator<void, void> {
    let done = 0;
    for (let left = reader.integer(); left > 0; left -= 1) {
      const items = this.#readTerm(reader);
      done += 64 + items;
      if (done < SLICE_POSTINGS) continue;
      done = 0;
      yield;
    }
    this.#places = new Uint32Array(documents);
    for (let ordinal = 0; ordinal < documents; ordinal += 1) {
      this.#places[ordinal] = reader.integer();
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    }
    for (let left = reader.integer(); left > 0; left -= 1) {
      const ordinal = reader.integer();
      const places = [...reader.integers()];
      this.#several.set(
        ordinal,
        places.flatMap((place) => this.#terms[place]?.text ?? []),
      );
    }
  }

  #readTerm(reader: ContentsReader): number {
    const text = reader.text();
    const items = reader.integers();
    this.#newTerm(text, Postings.of(items)).documents = items.length;
    return items.length;
  }

  forget(ordinal: number): void {
    if (ordinal < this.#places.length) this.#places[ordinal] = 0;
    if (this.#several.size > 0) this.#several.delete(ordinal);
  }

  first(ordinal: number): FieldValue | undefined {
    const place = this.#places[ordinal] ?? 0;
    return place === 0 ? this.#several.get(ordinal)?.[0] : this.#terms[place - 1]?.text;
  }

  values(ordinal: number): readonly FieldValue[] {
    const place = this.#places[ordinal] ?? 0;
    return place === 0 ? (this.#several.get(ordinal) ?? NONE) : [(this.#terms[place - 1] as KeywordTerm).text];
  }

  get(text: string): IndexTerm | undefined {
    return this.#byText.get(text);
  }

  /** All values of documents. */
  *terms(): Iterable<IndexTerm> {
    for (const term of this.#terms) if (term.documents > 0) yield term;
  }

  #newTerm(text: string, postings = new Postings()): KeywordTerm {
    const term = { text, id: this.nextId(), place: this.#terms.length, documents: 0, postings };
    this.#byText.set(text, term);
    this.#terms.push(term);
    this.onTerm(term);
    return term;
  }

  #keep(ordinal: number, values: readonly string[]): number {
    // The strings of the terms are shared, so that a value is in memory once.
    const terms = values.map((text) => this.#byText.get(text) as KeywordTerm);
    if (terms.length > 1) {
      this.#several.set(
        ordinal,
        terms.map(({ text }) => text),
      );
      return terms.length * APART_BYTES;
    }
    if (ordinal >= this.#places.length) {
      const larger = new Uint32Array(Math.ceil((ordinal + 1) * GROWTH));
      larger.set(this.#places);
      this.#places = larger;
    }
    this.#places[ordinal] = (terms[0] as KeywordTerm).place + 1;
    return 0;
  }
}

interface KeywordTerm extends IndexTerm {
  /** In the list of the field. */
  readonly place: number;
}

/** A test of values: all bounds hold. */
export interface FieldRange {
  readonly above?: FieldValue;
  readonly from?: FieldValue;
  readonly below?: FieldValue;
  readonly to?: FieldValue;
}

export function isWithin(value: FieldValue, { above, from, below, to }: FieldRange): boolean {
  if (above !== undefined && compareValues(value, above) <= 0) return false;
  if (from !== undefined && compareValues(value, from) < 0) return false;
  if (below !== undefined && compareValues(value, below) >= 0) return false;
  return to === undefined || compareValues(value, to) <= 0;
}
