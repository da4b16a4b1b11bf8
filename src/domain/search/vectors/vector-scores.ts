/** Scores of dense vectors, from 0 to 1; equal vectors have exactly 1 by cosine and by distance. */
import type { PackedVectors, QueryVector } from '../../vector-graph/index.js';
import type { VectorSimilarity } from './vector-shape.js';

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

export function scoreOf(metric: VectorSimilarity): VectorScore {
  return SCORES[metric];
}

/** The weight of a dimension that `having` of `all` sparse vectors have. */
export function inverseFrequency(all: number, having: number): number {
  return Math.log((all - having + 0.5) / (having + 0.5) + 1);
}
