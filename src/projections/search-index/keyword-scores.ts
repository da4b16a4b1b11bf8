/**
 * Keyword scores: BM25 over the words of the query, with lower weights for longer words with the same prefix and for
 * likely misspellings.
 *
 *  KSC1 for one word of the query a document counts one form: the word itself, else the likeliest
 *  KSC2 misspellings are searched only if hardly any document has the word itself; a rare form is never worth more
 *       than the word of the query
 *  KSC3 the work for one query is bounded; above the bound further forms are left out, but never the words themselves
 */
import { countOf, K1, MAX_QUERY_WORDS, ordinalOf, worthOf } from '../../domain/search/index.js';
import type { NamedIndex } from './named-index.js';
import type { Scratch } from './scratch.js';
import type { IndexedTerm } from './vocabulary.js';

/** Weights of a form relative to the word itself, before its distance counts. */
const PREFIX_WEIGHT = 0.375;
const PREFIX_FALL = 0.3;
const LIKE_WEIGHT = 0.45;
const MIN_PREFIX_CHARACTERS = 2;
/** Shorter words are similar to too many others. */
const MIN_LIKE_CHARACTERS = 4;
const TWO_CHANGES_CHARACTERS = 8;
/** A word in fewer documents may be a misspelling. */
const RARE_DOCUMENTS = 10;
const MAX_PREFIX_FORMS = 32;
const MAX_LIKE_FORMS = 16;
/** Postings of further forms that one query may read, in addition to those of its words. */
const MAX_FORM_POSTINGS = 300_000;
/** About 1 ms of work. A search for misspellings counts as reading every word of the index. */
const SLICE_POSTINGS = 200_000;
/** Numbers and part numbers are taken literally. */
const HAS_DIGIT = /\p{N}/u;

interface Form {
  readonly term: IndexedTerm;
  readonly weight: number;
}

type KeywordScratch = Pick<Scratch, 'keywords' | 'counted'>;

/**
 * Writes scores by ordinal into `keywords`; 0 where no word matches. `counted` marks the words already counted. Both
 * must be zero at the start.
 * @returns the best score of an existing document; 0 if no word matches any
 */
export function* scoreKeywords(
  index: NamedIndex,
  words: readonly string[],
  scratch: KeywordScratch,
): Generator<void, number> {
  const asked = [...new Set(words)].slice(0, MAX_QUERY_WORDS);
  let looked = 0;
  let left = MAX_FORM_POSTINGS;
  for (let at = 0; at < asked.length; at += 1) {
    const word = asked[at] as string;
    const exact = index.vocabulary.get(word);
    const worthOfWord = exact === undefined || exact.documents === 0 ? Number.POSITIVE_INFINITY : worth(index, exact);
    if (exact !== undefined && exact.documents > 0) {
      addTerm(index, exact, worthOfWord, at, scratch);
      looked += exact.postings.length;
    }
    const documents = exact?.documents ?? 0;
    if (mayBeMisspelt(word, documents)) looked += index.vocabulary.size;
    for (const { term, weight } of formsOf(index, word, documents)) {
      left -= term.postings.length;
      if (left < 0) break;
      addTerm(index, term, weight * Math.min(worthOfWord, worth(index, term)), at, scratch);
      looked += term.postings.length;
    }
    if (looked < SLICE_POSTINGS) continue;
    looked = 0;
    yield;
  }
  return bestOf(index, scratch.keywords);
}

/** Likeliest first. */
function formsOf({ vocabulary }: NamedIndex, word: string, documents: number): Form[] {
  const forms = new Map<IndexedTerm, number>();
  const { length } = word;
  if (length >= MIN_PREFIX_CHARACTERS) {
    for (const { term, distance } of vocabulary.withPrefix(word, MAX_PREFIX_FORMS)) {
      const full = term.text.length;
      forms.set(term, (PREFIX_WEIGHT * full) / (full + PREFIX_FALL * distance));
    }
  }
  if (mayBeMisspelt(word, documents)) {
    const maxDistance = length >= TWO_CHANGES_CHARACTERS ? 2 : 1;
    for (const { term, distance } of vocabulary.likeWord(word, maxDistance, MAX_LIKE_FORMS)) {
      const full = term.text.length;
      forms.set(term, Math.max(forms.get(term) ?? 0, (LIKE_WEIGHT * full) / (full + distance)));
    }
  }
  return [...forms]
    .map(([term, weight]) => ({ term, weight }))
    .sort((a, b) => b.weight - a.weight || (a.term.text < b.term.text ? -1 : 1));
}

function mayBeMisspelt(word: string, documents: number): boolean {
  return word.length >= MIN_LIKE_CHARACTERS && documents < RARE_DOCUMENTS && !HAS_DIGIT.test(word);
}

function worth({ size }: NamedIndex, { documents }: IndexedTerm): number {
  return worthOf(size, documents);
}

function addTerm(
  { lengthFactors }: NamedIndex,
  { postings }: IndexedTerm,
  worthOfTerm: number,
  place: number,
  { keywords: scores, counted }: KeywordScratch,
): void {
  const { items, length } = postings;
  const bit = 1 << place;
  const factor = worthOfTerm * (K1 + 1);
  for (let at = 0; at < length; at += 1) {
    const posting = items[at] as number;
    const ordinal = ordinalOf(posting);
    // Added after the search began, so it is not scored.
    if (ordinal >= scores.length) continue;
    const mask = counted[ordinal] as number;
    if ((mask & bit) !== 0) continue;
    counted[ordinal] = mask | bit;
    const count = countOf(posting);
    scores[ordinal] = (scores[ordinal] as number) + (factor * count) / (count + (lengthFactors[ordinal] as number));
  }
}

function bestOf(index: NamedIndex, scores: Float32Array): number {
  let best = 0;
  for (let ordinal = 0; ordinal < scores.length; ordinal += 1) {
    const score = scores[ordinal] as number;
    if (score > best && index.documentAt(ordinal) !== undefined) best = score;
  }
  return best;
}
