/** Scores of dense vectors, from 0 to 1; equal vectors have exactly 1 by cosine and by distance. */
import type { VectorSimilarity } from './vector-shape.js';

/** The score of a vector without a direction, by cosine. */
const NEITHER = 0.5;

export function squaredLength(vector: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] as number) * (vector[at] as number);
  return sum;
}

/** Adds in the order of `squaredLength`, so that equal vectors have a cosine of exactly 1. */
export function product(query: Float32Array, numbers: Float32Array, from: number): number {
  let sum = 0;
  for (let at = 0; at < query.length; at += 1) sum += (query[at] as number) * (numbers[from + at] as number);
  return sum;
}

function squaredDistance(query: Float32Array, numbers: Float32Array, from: number): number {
  let sum = 0;
  for (let at = 0; at < query.length; at += 1) {
    const difference = (query[at] as number) - (numbers[from + at] as number);
    sum += difference * difference;
  }
  return sum;
}

type VectorScore = (query: Float32Array, querySquared: number, stored: StoredNumbers) => number;

/** A stored vector is a part of a long array. */
export interface StoredNumbers {
  readonly numbers: Float32Array;
  readonly from: number;
  /** The square of its length. */
  readonly squared: number;
}

const SCORES: Readonly<Record<VectorSimilarity, VectorScore>> = {
  COSINE: (query, querySquared, { numbers, from, squared }) => {
    if (querySquared === 0 || squared === 0) return NEITHER;
    // The root of a square is exact, so a vector and itself have exactly 1.
    const cosine = product(query, numbers, from) / Math.sqrt(querySquared * squared);
    return (1 + Math.max(-1, Math.min(1, cosine))) / 2;
  },
  EUCLIDEAN: (query, _, { numbers, from }) => 1 / (1 + squaredDistance(query, numbers, from)),
  DOT_PRODUCT: (query, _, { numbers, from }) => (1 + product(query, numbers, from)) / 2,
};

export function scoreOf(metric: VectorSimilarity): VectorScore {
  return SCORES[metric];
}

/** The weight of a dimension that `having` of `all` sparse vectors have. */
export function inverseFrequency(all: number, having: number): number {
  return Math.log((all - having + 0.5) / (having + 0.5) + 1);
}
