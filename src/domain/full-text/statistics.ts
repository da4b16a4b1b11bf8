/**
 * The numbers on which scores of words depend, for indexes of which each partition has a part: every partition lists
 * its own for a filter, in the same order, and the sums are given to all.
 *
 *  CRS1 with the sums, a document has the score that it would have in one index of all documents
 */
import type { Condition, DocumentFilter } from './filter.js';
import type { IndexContents } from './index-contents.js';
import { MAX_CLAUSE_WORDS, SLICE_TERMS } from './limits.js';
import { TextField, type TextTerm } from './text-field.js';

/** The documents and words of an index. */
export interface CorpusStatistics {
  readonly size: number;
  averageLength(field: TextField): number;
  /** Documents with any of the terms. @param word the term, or with `isPrefix` the beginning of the terms */
  documentsWith(field: TextField, terms: readonly TextTerm[], word: string, isPrefix: boolean): number;
}

/** Those of the index alone. */
export class OwnStatistics implements CorpusStatistics {
  constructor(private readonly contents: IndexContents) {}

  get size(): number {
    return this.contents.size;
  }

  averageLength({ words, documents }: TextField): number {
    return averageOf(words, documents);
  }

  documentsWith(_field: TextField, terms: readonly TextTerm[]): number {
    return terms.reduce((sum, { documents }) => sum + documents, 0);
  }
}

/** Sums over several indexes. */
export class SharedStatistics implements CorpusStatistics {
  readonly #totals: readonly number[];
  readonly #placesByField = new Map<string, number>();
  readonly #placesByTerm = new Map<string, number>();

  /** @param totals the sums of `statisticsFor` the same filter */
  constructor(filter: DocumentFilter, contents: IndexContents, totals: readonly number[]) {
    this.#totals = totals;
    let place = 1;
    for (const { field } of contents.textFields) {
      this.#placesByField.set(field.path, place);
      place += 2;
    }
    for (const { key } of termsIn(filter, contents)) {
      this.#placesByTerm.set(key, place);
      place += 1;
    }
  }

  get size(): number {
    return this.#totals[0] ?? 0;
  }

  averageLength({ field }: TextField): number {
    const place = this.#placesByField.get(field.path) ?? 0;
    return averageOf(this.#totals[place] ?? 0, this.#totals[place + 1] ?? 0);
  }

  documentsWith({ field }: TextField, _terms: readonly TextTerm[], word: string, isPrefix: boolean): number {
    const place = this.#placesByTerm.get(keyOf(field.path, word, isPrefix));
    return place === undefined ? 0 : (this.#totals[place] ?? 0);
  }
}

/** The numbers of this index: its documents, words and documents by field, documents by term of the filter. */
export function* statisticsFor(filter: DocumentFilter, contents: IndexContents): Generator<void, number[]> {
  const numbers = [contents.size];
  for (const { words, documents } of contents.textFields) numbers.push(words, documents);
  for (const { field, word, isPrefix } of termsIn(filter, contents)) {
    if (isPrefix) {
      const terms = yield* field.withPrefix(word);
      numbers.push(terms.reduce((sum, { documents }) => sum + documents, 0));
    } else numbers.push(field.get(word)?.documents ?? 0);
    if (numbers.length % SLICE_TERMS === 0) yield;
  }
  return numbers;
}

/** Whether the scores of the filter's documents depend on other documents. */
export function dependsOnStatistics(filter: DocumentFilter, contents: IndexContents): boolean {
  return termsIn(filter, contents).length > 0;
}

interface CountedTerm {
  readonly key: string;
  readonly field: TextField;
  readonly word: string;
  readonly isPrefix: boolean;
}

/** In the order of the filter; a term may be there several times. */
function termsIn(filter: DocumentFilter, contents: IndexContents): CountedTerm[] {
  if (filter.kind === 'all') return [];
  if (filter.kind === 'boolean') {
    const { must, any, should, mustNot } = filter;
    return [...must, ...any, ...should, ...mustNot].flatMap((part) => termsIn(part, contents));
  }
  const field = contents.field(filter.field.path);
  return field instanceof TextField ? termsOf(filter.condition, field) : [];
}

function termsOf(condition: Condition, field: TextField): CountedTerm[] {
  const counted: CountedTerm[] = [];
  const add = (word: string, isPrefix: boolean) =>
    counted.push({ key: keyOf(field.field.path, word, isPrefix), field, word, isPrefix });
  const addAll = (text: string, isPrefix: boolean) => {
    const terms = field.analysis.terms(text).slice(0, MAX_CLAUSE_WORDS);
    for (const term of terms) add(term, false);
    if (isPrefix) add(field.analysis.words(text).at(-1) ?? '', true);
  };
  if (condition.kind === 'equals' || condition.kind === 'smart') addAll(String(condition.value), false);
  else if (condition.kind === 'phrase') addAll(condition.value, condition.isPrefix);
  else if (condition.kind === 'in') for (const value of condition.values) addAll(String(value), false);
  return counted;
}

function keyOf(path: string, word: string, isPrefix: boolean): string {
  return `${path}\0${isPrefix ? '*' : '='}${word}`;
}

function averageOf(words: number, documents: number): number {
  return documents === 0 ? 1 : words / documents;
}
