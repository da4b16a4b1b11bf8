/**
 * Evaluates a filter: the matching documents with their scores, in slices. Scores are BM25 for words and phrases of
 * texts, and constants for all other conditions.
 *
 *  FEV1 the documents are those of a comparison with every document
 *  FEV2 the contents must not change between two slices
 */
import { bm25, countOf, lengthFactor, ordinalOf, worthOf } from '../search/index.js';
import { AllWords, WordPart } from './all-words.js';
import type { FieldValue } from './field-values.js';
import type { Condition, DocumentFilter } from './filter.js';
import type { IndexContents } from './index-contents.js';
import { MAX_CLAUSE_WORDS, SLICE_POSTINGS } from './limits.js';
import {
  boosted,
  difference,
  GrowingUnion,
  intersection,
  type Matches,
  MatchList,
  NO_MATCHES,
  union,
  withAdded,
} from './matches.js';
import { eachPhrase } from './phrase-matching.js';
import { BestMatches, bestOf, type RankedDocument } from './result-order.js';
import { type CorpusStatistics, OwnStatistics } from './statistics.js';
import type { Nearness, NearTerm } from './term-tree.js';
import { type IndexTerm, TextField, type TextTerm } from './text-field.js';
import { isWithin, KeywordField, NumberField } from './value-fields.js';

type Steps<T> = Generator<void, T>;
type FieldFilter = Extract<DocumentFilter, { kind: 'field' }>;
type BooleanFilter = Extract<DocumentFilter, { kind: 'boolean' }>;

/** A smart match: how much more than a similar word the words themselves and their phrase are worth. */
const SMART_WORD = 3;
const SMART_PHRASE = 3;
/** Shorter words are similar to too many others. */
const MIN_SMART_CHARACTERS = 3;
/** Values of `$in` that are looked up between two pauses. */
const SLICE_VALUES = 16;
const SIMILAR: Nearness = { distance: 1, isSwapOne: true, isPrefix: false };
const BEGINNING: Nearness = { distance: 1, isSwapOne: true, isPrefix: true };
const EXACT_BEGINNING: Nearness = { distance: 0, isSwapOne: true, isPrefix: true };

export class FilterEvaluation {
  /** The terms that conditions looked for, by field: to mark them in texts. */
  readonly termsByField = new Map<string, Set<string>>();
  #isNegative = false;

  /** @param statistics of all documents, where the contents are a part of them */
  constructor(
    private readonly contents: IndexContents,
    private readonly statistics: CorpusStatistics = new OwnStatistics(contents),
  ) {}

  *matches(filter: DocumentFilter): Steps<Matches> {
    // Many short conditions take long too.
    yield;
    if (filter.kind === 'all') return yield* this.#all(filter.boost);
    if (filter.kind === 'field') return boosted(yield* this.#ofField(filter), filter.boost);
    return boosted(yield* this.#ofBoolean(filter), filter.boost);
  }

  /** The best documents. Those that match words only are not listed: most have a worse score than the best so far. */
  *best(filter: DocumentFilter, most: number): Steps<RankedDocument[]> {
    const words = this.#onlyWords(filter);
    if (words === undefined) return yield* bestOf(yield* this.matches(filter), most);
    const best = new BestMatches(most);
    const all = this.#allWords(words);
    if (all !== undefined) yield* all.addTo(best);
    return best.documents;
  }

  /** The words, if a document matches by having all of them. */
  #onlyWords(filter: DocumentFilter): readonly WantedWord[] | undefined {
    if (filter.kind !== 'boolean' || filter.must.length < 2 || filter.boost !== 1) return undefined;
    const { must, any, should, mustNot } = filter;
    if (any.length > 0 || should.length > 0 || mustNot.length > 0) return undefined;
    const words = this.#wordsIn(must);
    return words.length < must.length ? undefined : words.map(({ word }) => word);
  }

  *#ofBoolean({ must, any, should, mustNot }: BooleanFilter): Steps<Matches> {
    // Few sets are held at the same time: each may have all documents.
    const words = must.length > 1 ? this.#wordsIn(must) : [];
    let all = words.length > 1 ? yield* this.#withAllWords(words.map(({ word }) => word)) : undefined;
    for (const part of must) {
      if (words.length > 1 && words.some(({ filter }) => filter === part)) continue;
      all = yield* this.#both(all, yield* this.matches(part));
    }
    if (any.length > 0) all = yield* this.#both(all, yield* this.#union(any));
    let found = all ?? NO_MATCHES;
    if (should.length > 0) {
      const wanted = yield* this.#union(should);
      found = all === undefined ? wanted : yield* withAdded(all, wanted);
    }
    if (mustNot.length === 0 || found.ordinals.length === 0) return found;
    const wasNegative = this.#isNegative;
    this.#isNegative = true;
    const unwanted = yield* this.#union(mustNot);
    this.#isNegative = wasNegative;
    return yield* difference(found, unwanted);
  }

  *#both(one: Matches | undefined, other: Matches): Steps<Matches> {
    if (one === undefined) return other;
    return one.ordinals.length <= other.ordinals.length
      ? yield* intersection(one, other)
      : yield* intersection(other, one);
  }

  *#union(filters: readonly DocumentFilter[]): Steps<Matches> {
    const union = new GrowingUnion();
    for (const part of filters) yield* union.add(yield* this.matches(part));
    return yield* union.whole();
  }

  *#ofField({ field, condition }: FieldFilter): Steps<Matches> {
    const contents = this.contents.field(field.path);
    if (contents instanceof TextField) return yield* this.#ofText(contents, condition);
    if (contents instanceof KeywordField) return yield* this.#ofKeyword(contents, condition);
    return contents instanceof NumberField ? yield* this.#ofNumber(contents, condition) : NO_MATCHES;
  }

  *#ofText(field: TextField, condition: Condition): Steps<Matches> {
    switch (condition.kind) {
      case 'equals':
        return yield* this.#phrase(field, String(condition.value), 0, false);
      case 'in': {
        const union = new GrowingUnion();
        for (const [at, value] of condition.values.entries()) {
          if (at % SLICE_VALUES === SLICE_VALUES - 1) yield;
          yield* union.add(yield* this.#phrase(field, String(value), 0, false));
        }
        return yield* union.whole();
      }
      case 'phrase':
        return yield* this.#phrase(field, condition.value, condition.slop, condition.isPrefix);
      case 'fuzzy':
        return yield* this.#fuzzy(field, condition.value, condition);
      case 'regex':
        return yield* this.#constant(field, yield* field.passing(condition.test));
      case 'smart':
        return yield* this.#smart(field, condition.value);
      default:
        return NO_MATCHES;
    }
  }

  /** One word: the word. Several: the phrase. */
  *#phrase(field: TextField, text: string, slop: number, isPrefix: boolean): Steps<Matches> {
    const terms = termsOf(field.analysis.terms(text));
    if (terms.length === 0) return NO_MATCHES;
    const parts = terms.map((term) => ({ terms: this.#known(field, term), word: term, isPrefix: false }));
    const last = parts.length - 1;
    if (isPrefix) {
      const word = field.analysis.words(text).at(-1) ?? '';
      parts[last] = { terms: yield* this.#withPrefix(field, word), word, isPrefix };
    }
    if (parts.some((part) => part.terms.length === 0)) return NO_MATCHES;
    let worth = 0;
    for (const part of parts) {
      worth += this.#worthOf(this.statistics.documentsWith(field, part.terms, part.word, part.isPrefix));
    }
    const [only] = parts;
    if (only !== undefined && parts.length === 1) {
      if (only.terms.length === 1) return yield* this.#scored(field, only.terms[0] as TextTerm, 1);
      return yield* this.#constant(field, only.terms);
    }
    const list = new MatchList(Math.min(...parts.map((part) => postingsOf(part.terms))));
    const average = this.statistics.averageLength(field);
    yield* eachPhrase(parts, slop, (ordinal, count) => {
      if (!this.contents.isAlive(ordinal)) return;
      list.add(ordinal, bm25(worth, count, lengthFactor(field.lengthAt(ordinal), average)));
    });
    return list.matches;
  }

  *#withPrefix(field: TextField, word: string): Steps<readonly TextTerm[]> {
    const terms = yield* field.withPrefix(word);
    this.#note(field, terms);
    return terms;
  }

  /** Every word has to be near a word of the document. */
  *#fuzzy(field: TextField, text: string, nearness: Nearness): Steps<Matches> {
    const words = termsOf(field.analysis.words(text));
    const terms = field.analysis.terms(text);
    let found: Matches | undefined;
    for (const [place, word] of words.entries()) {
      const isPrefix = nearness.isPrefix && place === words.length - 1;
      const near = yield* similar(field, word, terms[place] as string, { ...nearness, isPrefix });
      const own = yield* this.#nearby(field, near);
      found = found === undefined ? own : yield* intersection(found, own);
    }
    return found ?? NO_MATCHES;
  }

  /** A document's score is that of its nearest word. */
  *#nearby(field: TextField, near: readonly NearTerm<TextTerm>[]): Steps<Matches> {
    if (near.length === 0) return NO_MATCHES;
    const scores = new Float64Array(this.contents.ordinals);
    const terms = near.map(({ term }) => term);
    this.#note(field, terms);
    let done = 0;
    for (const { term, distance } of near) {
      const score = 1 / (1 + distance);
      const { items, length } = term.postings;
      for (let at = 0; at < length; at += 1) {
        const ordinal = ordinalOf(items[at] as number);
        if (score > (scores[ordinal] as number)) scores[ordinal] = score;
      }
      done += length;
      if (done < SLICE_POSTINGS) continue;
      done = 0;
      yield;
    }
    return yield* this.#positive(scores);
  }

  *#positive(scores: Float64Array): Steps<Matches> {
    let count = 0;
    for (const score of scores) if (score > 0) count += 1;
    const list = new MatchList(count);
    for (let ordinal = 0; ordinal < scores.length; ordinal += 1) {
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
      const score = scores[ordinal] as number;
      if (score > 0 && this.contents.isAlive(ordinal)) list.add(ordinal, score);
    }
    return list.matches;
  }

  /** Similar words find a document; the words themselves and their phrase raise its score. */
  *#smart(field: TextField, text: string): Steps<Matches> {
    const terms = termsOf(field.analysis.terms(text));
    const words = termsOf(field.analysis.words(text));
    let found: Matches | undefined;
    for (const [place, term] of terms.entries()) {
      const isLast = place === terms.length - 1;
      const own = yield* this.#smartWord(field, term, words[place] as string, isLast);
      found = found === undefined ? own : yield* intersection(found, own);
    }
    if (found === undefined) return NO_MATCHES;
    for (const term of terms) {
      const [known] = this.#known(field, term);
      if (known !== undefined) found = yield* withAdded(found, yield* this.#scored(field, known, SMART_WORD));
    }
    if (terms.length === 1 || field.field.isWhole) return found;
    return yield* withAdded(found, boosted(yield* this.#phrase(field, text, 0, false), SMART_PHRASE));
  }

  /** @param mayBeUnfinished whether the word may be the beginning of one */
  *#smartWord(field: TextField, term: string, word: string, mayBeUnfinished: boolean): Steps<Matches> {
    if (field.field.isWhole) return yield* this.#nearby(field, yield* field.near(term, SIMILAR));
    const isShort = term.length < MIN_SMART_CHARACTERS;
    const near = isShort
      ? this.#known(field, term).map((known) => ({ term: known, distance: 0 }))
      : yield* similar(field, word, term, SIMILAR);
    const found = yield* this.#nearby(field, near);
    if (!mayBeUnfinished) return found;
    const nearness = word.length <= MIN_SMART_CHARACTERS ? EXACT_BEGINNING : BEGINNING;
    return yield* union(found, yield* this.#nearby(field, yield* field.near(word, nearness)));
  }

  /** The conditions that are single words of texts, which are looked for together. */
  #wordsIn(filters: readonly DocumentFilter[]): { readonly filter: DocumentFilter; readonly word: WantedWord }[] {
    const words: { readonly filter: DocumentFilter; readonly word: WantedWord }[] = [];
    for (const filter of filters) {
      if (filter.kind !== 'field' || filter.condition.kind !== 'equals') continue;
      const field = this.contents.field(filter.field.path);
      if (!(field instanceof TextField)) continue;
      const terms = field.analysis.terms(String(filter.condition.value));
      const [text] = terms;
      if (text === undefined || terms.length > 1) continue;
      words.push({ filter, word: { field, term: this.#known(field, text)[0], boost: filter.boost } });
    }
    return words;
  }

  /** Documents with all words, scored by BM25. */
  *#withAllWords(words: readonly WantedWord[]): Steps<Matches> {
    const all = this.#allWords(words);
    if (all === undefined) return NO_MATCHES;
    const list = new MatchList(all.most);
    yield* all.addTo(list);
    return list.matches;
  }

  /** Undefined: no document has one of the words. */
  #allWords(words: readonly WantedWord[]): AllWords | undefined {
    const parts = words.flatMap(({ field, term, boost }) =>
      term === undefined ? [] : [this.#partOf(field, term, boost)],
    );
    return parts.length < words.length ? undefined : new AllWords(this.contents, parts);
  }

  #partOf(field: TextField, term: TextTerm, boost: number): WordPart {
    const worth = this.#worthOf(this.statistics.documentsWith(field, [term], term.text, false));
    const averageLength = this.statistics.averageLength(field);
    return new WordPart(field, term.postings, { worth, averageLength, boost });
  }

  /** Documents with the word, scored by BM25. */
  *#scored(field: TextField, term: TextTerm, boost: number): Steps<Matches> {
    const { items, length } = term.postings;
    const list = new MatchList(length);
    const worth = this.#worthOf(this.statistics.documentsWith(field, [term], term.text, false)) * boost;
    const average = this.statistics.averageLength(field);
    for (let at = 0; at < length; at += 1) {
      if (at % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
      const posting = items[at] as number;
      const ordinal = ordinalOf(posting);
      if (!this.contents.isAlive(ordinal)) continue;
      list.add(ordinal, bm25(worth, countOf(posting), lengthFactor(field.lengthAt(ordinal), average)));
    }
    return list.matches;
  }

  /** Documents with any of the words. */
  *#constant(field: TextField, terms: readonly TextTerm[]): Steps<Matches> {
    return yield* this.#nearby(
      field,
      terms.map((term) => ({ term, distance: 0 })),
    );
  }

  *#ofKeyword(field: KeywordField, condition: Condition): Steps<Matches> {
    switch (condition.kind) {
      case 'equals':
        return yield* this.#withTerms(existing([field.get(String(condition.value))]));
      case 'in':
        return yield* this.#withTerms(existing(condition.values.map((value) => field.get(String(value)))));
      case 'range': {
        const terms: IndexTerm[] = [];
        let looked = 0;
        for (const term of field.terms()) {
          looked += 1;
          if (looked % SLICE_POSTINGS === 0) yield;
          if (isWithin(term.text, condition.range)) terms.push(term);
        }
        return yield* this.#withTerms(terms);
      }
      default:
        return NO_MATCHES;
    }
  }

  *#withTerms(terms: readonly IndexTerm[]): Steps<Matches> {
    if (terms.length === 0) return NO_MATCHES;
    const scores = new Float64Array(this.contents.ordinals);
    let done = 0;
    for (const { postings } of terms) {
      const { items, length } = postings;
      for (let at = 0; at < length; at += 1) scores[ordinalOf(items[at] as number)] = 1;
      done += length;
      if (done < SLICE_POSTINGS) continue;
      done = 0;
      yield;
    }
    return yield* this.#positive(scores);
  }

  *#ofNumber(field: NumberField, condition: Condition): Steps<Matches> {
    const test = testOf(condition);
    const { ordinals } = this.contents;
    const list = new MatchList(this.contents.size);
    for (let ordinal = 0; ordinal < ordinals; ordinal += 1) {
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
      if (field.anyAt(ordinal, test)) list.add(ordinal, 1);
    }
    return list.matches;
  }

  *#all(score: number): Steps<Matches> {
    const { ordinals } = this.contents;
    const list = new MatchList(this.contents.size);
    for (let ordinal = 0; ordinal < ordinals; ordinal += 1) {
      if (ordinal % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
      if (this.contents.isAlive(ordinal)) list.add(ordinal, score);
    }
    return list.matches;
  }

  #known(field: TextField, text: string): readonly TextTerm[] {
    const term = field.get(text);
    if (term === undefined || term.documents === 0) return [];
    this.#note(field, [term]);
    return [term];
  }

  #worthOf(documents: number): number {
    const { size } = this.statistics;
    return worthOf(size, Math.min(documents, size));
  }

  #note({ field }: TextField, terms: readonly TextTerm[]): void {
    if (this.#isNegative) return;
    let known = this.termsByField.get(field.path);
    if (known === undefined) {
      known = new Set();
      this.termsByField.set(field.path, known);
    }
    for (const { text } of terms) known.add(text);
  }
}

/** A word that all documents must have; without a term, no document has it. */
interface WantedWord {
  readonly field: TextField;
  readonly term: TextTerm | undefined;
  readonly boost: number;
}

function postingsOf(terms: readonly TextTerm[]): number {
  return terms.reduce((sum, { postings }) => sum + postings.length, 0);
}

/** Terms near the word or near its stem: the stem of a misspelt word may be far from that of the right one. */
function* similar(field: TextField, word: string, stem: string, nearness: Nearness): Steps<NearTerm<TextTerm>[]> {
  const near = yield* field.near(word, nearness);
  return word === stem ? near : [...near, ...(yield* field.near(stem, nearness))];
}

function testOf(condition: Condition): (value: FieldValue) => boolean {
  switch (condition.kind) {
    case 'equals':
      return (value) => value === condition.value;
    case 'in': {
      const values = new Set(condition.values);
      return (value) => values.has(value);
    }
    case 'range':
      return (value) => isWithin(value, condition.range);
    default:
      return () => false;
  }
}

function existing(terms: readonly (IndexTerm | undefined)[]): IndexTerm[] {
  return terms.filter((term) => term !== undefined);
}

function termsOf(all: readonly string[]): string[] {
  return all.slice(0, MAX_CLAUSE_WORDS);
}
