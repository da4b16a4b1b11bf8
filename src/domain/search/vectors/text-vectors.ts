/**
 * Vectors of texts, and the scores of vectors. The inner product of a query's and a document's sparse vector is BM25
 * without the rarity of words: that is a weight of the query. Texts are English: common words are left out, and words are reduced to their stem.
 */
import { stemmer } from '@orama/stemmers/english';
import type { PackedVectors, QueryVector } from '../../vector-graph/index.js';
import { HashedNgrams } from '../embedding.js';
import { wordsOf } from '../words.js';
import type { SparseVector } from './vector-documents.js';
import { MAX_SPARSE_VALUES, type VectorSimilarity } from './vector-shape.js';

/** The score of a vector without a direction, by cosine. */
const NEITHER = 0.5;

type VectorScore = (vectors: PackedVectors, query: QueryVector, ordinal: number) => number;

const SCORES: Readonly<Record<VectorSimilarity, VectorScore>> = {
  COSINE: (vectors, query, ordinal) => {
    const cosine = vectors.cosine(query, ordinal);
    return cosine === undefined ? NEITHER : (1 + cosine) / 2;
  },
  EUCLIDEAN: (vectors, query, ordinal) => 1 / (1 + vectors.squaredDistance(query, ordinal)),
  DOT_PRODUCT: (vectors, query, ordinal) => (1 + vectors.product(query, ordinal)) / 2,
};

/** Scores of dense vectors, from 0 to 1; equal vectors have exactly 1 by cosine and by distance. */
export function scoreOf(metric: VectorSimilarity): VectorScore {
  return SCORES[metric];
}

/** The weight of a dimension that `having` of `all` sparse vectors have. */
export function inverseFrequency(all: number, having: number): number {
  return Math.log((all - having + 0.5) / (having + 0.5) + 1);
}

const K1 = 1.2;
const B = 0.75;
/** A text with more words counts as long. A constant, so that a document's vector does not depend on others. */
const AVERAGE_WORDS = 32;

const COMMON_WORDS: ReadonlySet<string> = new Set(
  `a an and are as at be but by for from had has have he her his i if in into is it its no not of on or she such that
  the their then there these they this to was we were will with you your`.split(/\s+/),
);

/** The vector of a document's text; no dimension if it has no word. */
export function sparseOfDocument(text: string): SparseVector {
  const counts = countsOf(text);
  let words = 0;
  for (const count of counts.values()) words += count;
  const length = K1 * (1 - B + (B * words) / AVERAGE_WORDS);
  return vectorOf(counts, (count) => (count * (K1 + 1)) / (count + length));
}

/** The vector of a query's text. */
export function sparseOfQuery(text: string): SparseVector {
  return vectorOf(countsOf(text), (count) => count);
}

/** Stems of the text with their number of occurrences, as dimensions. */
function countsOf(text: string): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of wordsOf(text)) {
    if (COMMON_WORDS.has(word)) continue;
    const dimension = dimensionOf(stemmer(word));
    counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  }
  return counts;
}

function vectorOf(counts: ReadonlyMap<number, number>, weightOf: (count: number) => number): SparseVector {
  // The most frequent words of a long text.
  const kept = [...counts].sort(([a, some], [b, others]) => others - some || a - b).slice(0, MAX_SPARSE_VALUES);
  return {
    indices: Int32Array.from(kept, ([dimension]) => dimension),
    values: Float32Array.from(kept, ([, count]) => weightOf(count)),
  };
}

/** FNV-1a with a final mix, 31 bits: two of 10,000 words have the same dimension with a probability of 2 %. */
function dimensionOf(stem: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < stem.length; at += 1) hash = Math.imul(hash ^ stem.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) & 0x7fffffff;
}

/** @returns a vector of length 1; the same for the same text */
export function hashedText(text: string, dimension: number): Float32Array {
  const vector = new HashedNgrams(dimension).embed(text);
  // A text without words, such as punctuation, has only itself as a feature.
  if (vector.every((value) => value === 0)) vector[codesOf(text) % dimension] = 1;
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

function codesOf(text: string): number {
  let sum = 0;
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
