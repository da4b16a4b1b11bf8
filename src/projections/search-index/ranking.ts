/**
 * A query to one index: score = w · similarity + (1 - w) · keywords / best keywords, each from 0 to 1.
 *
 *  RA1 documents with exactly the query's text come before all others
 *  RA2 scores are from 0 to 1 and never rise along the answer; equal ones are ordered by id
 *  RA3 the work is done in slices. Documents added during the search are left out; if a hit changes during it the
 *      query starts again, so that a replaced document is never missing; after some tries it is left out
 */
import {
  compileFilter,
  FilterMeter,
  type FilterPredicate,
  type JsonObject,
  wordsOf,
} from '../../domain/search/index.js';
import type { SearchHit, SearchQuery } from '../../ports/index.js';
import { BestDocuments } from './best-documents.js';
import { scoreKeywords } from './keyword-scores.js';
import { NO_LIKENESS, scoreLikenessToText, scoreLikenessToVector } from './likeness-scores.js';
import type { IndexedDocument, NamedIndex } from './named-index.js';
import { RERANKED_CANDIDATES, reranked } from './reranking.js';
import type { Scratch } from './scratch.js';

/** The maximum without an exact match; the rest up to 1 is reserved for documents with exactly the query's text. */
const MOST_WITHOUT_EXACT = 0.99;
/** The score of an ordinal that is no hit. */
const NO_HIT = -1;
const MAX_TRIES = 3;
/** Candidates examined first per wanted hit when a filter may reject some. */
const CANDIDATES_FOR_A_HIT = 8;
/** Documents that a filter examines between two pauses: well below 1 ms for a simple filter. */
const SLICE_DOCUMENTS = 2_000;
/** Scores combined or compared between two pauses. */
const SLICE_ORDINALS = 100_000;

interface QueryFilter {
  readonly fits: FilterPredicate;
  readonly meter: FilterMeter;
}

/** @throws INVALID for an invalid filter */
export function* rank(index: NamedIndex, query: SearchQuery): Generator<void, SearchHit[]> {
  const meter = new FilterMeter();
  const fits = compileFilter(query.filter, meter);
  const filter = fits === undefined ? undefined : { fits, meter };
  for (let tries = 1; ; tries += 1) {
    const hits = yield* index.scratch.lend(index.ordinals, (scratch) => hitsNow(index, query, filter, scratch));
    if (!hits.areDisturbed || tries === MAX_TRIES) return hits.all;
  }
}

function* hitsNow(
  index: NamedIndex,
  query: SearchQuery,
  filter: QueryFilter | undefined,
  scratch: Scratch,
): Generator<void, { readonly all: SearchHit[]; readonly areDisturbed: boolean }> {
  const { topK, reranking } = query;
  const wanted = reranking ? Math.max(topK, RERANKED_CANDIDATES) : topK;
  const seen = new SeenDocuments(index, scratch.scores);
  yield* score(index, query, scratch);
  const best = yield* bestOf(index, wanted, scratch.scores, filter, seen);
  const left = best.filter((ordinal) => seen.has(ordinal));
  const worst = best.length < wanted ? NO_HIT : (scratch.scores[best.at(-1) as number] as number);
  return { all: hitsOf(index, query, scratch.scores, left), areDisturbed: seen.bestLost >= worst };
}

/** The documents that existed when the search began and have not changed. */
class SeenDocuments {
  readonly #changes: number;
  #bestLost = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly index: NamedIndex,
    private readonly scores: Float64Array,
  ) {
    this.#changes = index.changes;
  }

  /** The best score among tested documents that have changed since. */
  get bestLost(): number {
    return this.#bestLost;
  }

  has(ordinal: number): boolean {
    const isAsBefore = this.index.changedAt(ordinal) <= this.#changes;
    if (!isAsBefore) this.#bestLost = Math.max(this.#bestLost, this.scores[ordinal] as number);
    return isAsBefore && this.index.documentAt(ordinal) !== undefined;
  }
}

/** Writes a score for every ordinal into `scratch.scores`. */
function* score(index: NamedIndex, query: SearchQuery, scratch: Scratch): Generator<void> {
  const words = wordsOf(query.text);
  const { vector } = query;
  const weight = vector !== undefined && words.length === 0 ? 1 : query.semanticWeight;
  const bestKeywords = weight < 1 ? yield* scoreKeywords(index, words, scratch) : 0;
  if (vector !== undefined) yield* scoreLikenessToVector(index, vector, scratch.likeness);
  else if (weight > 0) yield* scoreLikenessToText(index, query.text, scratch.likeness);
  else scratch.likeness.fill(NO_LIKENESS);
  yield* combine(scratch, bestKeywords, weight, mostOf(query));
  if (vector === undefined) raiseExact(index, words, scratch.scores);
}

function* combine(scratch: Scratch, bestKeywords: number, weight: number, most: number): Generator<void> {
  const ofLikeness = most * weight;
  const ofKeywords = bestKeywords === 0 ? 0 : (most * (1 - weight)) / bestKeywords;
  for (let from = 0; from < scratch.scores.length; from += SLICE_ORDINALS) {
    if (from > 0) yield;
    combineFrom(scratch, from, ofLikeness, ofKeywords, most);
  }
}

function combineFrom(
  { keywords, likeness, scores }: Scratch,
  from: number,
  ofLikeness: number,
  ofKeywords: number,
  most: number,
): void {
  const to = Math.min(scores.length, from + SLICE_ORDINALS);
  for (let ordinal = from; ordinal < to; ordinal += 1) {
    const alike = likeness[ordinal] as number;
    scores[ordinal] = alike === NO_LIKENESS ? NO_HIT : ofLikeness * alike;
  }
  for (let ordinal = from; ordinal < to && ofKeywords > 0; ordinal += 1) {
    const fit = keywords[ordinal] as number;
    if (fit > 0) scores[ordinal] = Math.min(most, Math.max(0, scores[ordinal] as number) + ofKeywords * fit);
  }
}

function raiseExact(index: NamedIndex, words: readonly string[], scores: Float64Array): void {
  if (words.length === 0) return;
  for (const ordinal of index.exactTexts.ordinalsOf(words.join(' '))) {
    const scored = scores[ordinal];
    if (scored !== undefined) scores[ordinal] = MOST_WITHOUT_EXACT + (1 - MOST_WITHOUT_EXACT) * Math.max(0, scored);
  }
}

/** The maximum score without an exact match; vectors have no exact matches. */
function mostOf({ vector }: SearchQuery): number {
  return vector === undefined ? MOST_WITHOUT_EXACT : 1;
}

/** The best ordinals that pass the filter, best first: as many as are wanted or reranked. */
function* bestOf(
  index: NamedIndex,
  wanted: number,
  scores: Float64Array,
  filter: QueryFilter | undefined,
  seen: SeenDocuments,
): Generator<void, number[]> {
  if (filter === undefined) return (yield* select(index, scores, wanted, seen)).sorted();
  const fits = (ordinal: number) => seen.has(ordinal) && filter.fits(index.documentAt(ordinal) as IndexedDocument);
  // Most filters pass many documents, so the first candidates usually suffice without examining all.
  const candidates = yield* select(index, scores, wanted * CANDIDATES_FOR_A_HIT, seen);
  const found: number[] = [];
  for (const ordinal of candidates.sorted()) {
    if (fits(ordinal)) found.push(ordinal);
    if (filter.meter.isPauseDue()) yield;
  }
  if (found.length >= wanted || candidates.size < wanted * CANDIDATES_FOR_A_HIT) return found.slice(0, wanted);
  const best = emptyBest(index, scores, wanted);
  for (let ordinal = 0; ordinal < scores.length; ordinal += 1) {
    const score = scores[ordinal] as number;
    if (score !== NO_HIT && score >= best.floor && fits(ordinal)) best.offer(ordinal);
    if (filter.meter.isPauseDue() || ordinal % SLICE_DOCUMENTS === SLICE_DOCUMENTS - 1) yield;
  }
  return best.sorted();
}

function* select(
  index: NamedIndex,
  scores: Float64Array,
  most: number,
  seen: SeenDocuments,
): Generator<void, BestDocuments> {
  const best = emptyBest(index, scores, most);
  for (let from = 0; from < scores.length; from += SLICE_ORDINALS) {
    if (from > 0) yield;
    let { floor } = best;
    const to = Math.min(scores.length, from + SLICE_ORDINALS);
    for (let ordinal = from; ordinal < to; ordinal += 1) {
      const scored = scores[ordinal] as number;
      if (scored === NO_HIT || scored < floor || !seen.has(ordinal)) continue;
      best.offer(ordinal);
      floor = best.floor;
    }
  }
  return best;
}

function emptyBest(index: NamedIndex, scores: Float64Array, most: number): BestDocuments {
  return new BestDocuments(
    most,
    (ordinal) => scores[ordinal] as number,
    (ordinal) => index.documentAt(ordinal)?.id ?? '',
  );
}

function hitsOf(index: NamedIndex, query: SearchQuery, scores: Float64Array, ordinals: readonly number[]): SearchHit[] {
  const { topK, includeData, includeMetadata } = query;
  const words = wordsOf(query.text);
  const hits = ordinals.map((ordinal, place) => {
    const document = index.documentAt(ordinal) as IndexedDocument;
    const scored = scores[ordinal] as number;
    if (!query.reranking || words.length === 0) return { document, score: scored };
    const content = place < RERANKED_CANDIDATES ? document.content : undefined;
    return { document, score: withOrder(scored, mostOf(query), words, content) };
  });
  if (query.reranking) hits.sort((a, b) => b.score - a.score || (a.document.id < b.document.id ? -1 : 1));
  return hits.slice(0, topK).map(({ document: { id, content, metadata }, score }) => ({
    id,
    score,
    ...(includeData ? { content } : {}),
    ...(includeMetadata && metadata !== undefined ? { metadata } : {}),
  }));
}

/** Keeps the score on its side of the mark of RA1 (exact matches come before all others). */
function withOrder(scored: number, most: number, words: readonly string[], content: JsonObject | undefined): number {
  const from = scored > most ? most : 0;
  const span = from === 0 ? most : 1 - most;
  return from + span * reranked((scored - from) / span, words, content);
}
