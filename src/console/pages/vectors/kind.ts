/** The kind of an index of vectors in a few words: `dense, 384, cosine`. */
import type { VectorIndex } from '../search/plane.js';

export function kindOf({ index_type: kind, dimension_count: dimension, similarity_function: metric }: VectorIndex) {
  const words = kind === 'SPARSE' ? [kind] : [kind, String(dimension), metric.replace('_', ' ')];
  return words.join(', ').toLowerCase();
}
