/** Similarity of a query and each document, 0 to 1: (1 + cosine) / 2 of their vectors. */
import type { NamedIndex } from './named-index.js';
import { BLOCK_ORDINALS, cosine, normalized, type QuantizedVector, quantized } from './vector-blocks.js';

/** Multiplications between two pauses: about 1 ms. */
const SLICE_PRODUCTS = 1_000_000;

/** The score of a document that cannot be compared. */
export const NO_LIKENESS = -1;
/** The similarity of a text without words to any document. */
const NEITHER = 0.5;

/** Scores are stored by ordinal; entries without a document have no meaning. */
export function* scoreLikenessToText(index: NamedIndex, text: string, likeness: Float32Array): Generator<void> {
  const { vectors, embedding } = index;
  const query: QuantizedVector = quantized(embedding.embed(text));
  if (query.scale === 0) {
    likeness.fill(NEITHER);
    return;
  }
  const cosines = new Float32Array(BLOCK_ORDINALS);
  const products = query.dimensions.length * BLOCK_ORDINALS;
  let made = 0;
  for (let block = 0; block * BLOCK_ORDINALS < likeness.length; block += 1) {
    vectors.cosines(block, query, cosines);
    const from = block * BLOCK_ORDINALS;
    const to = Math.min(BLOCK_ORDINALS, likeness.length - from);
    for (let at = 0; at < to; at += 1) likeness[from + at] = Math.min(1, ((cosines[at] as number) + 1) / 2);
    made += products;
    if (made < SLICE_PRODUCTS) continue;
    made = 0;
    yield;
  }
}

/** Similarity to a client's own vector; `NO_LIKENESS` for documents without a vector of the same dimensions. */
export function* scoreLikenessToVector(
  index: NamedIndex,
  vector: readonly number[],
  likeness: Float32Array,
): Generator<void> {
  const query = normalized(vector);
  likeness.fill(NO_LIKENESS);
  if (index.withVector === 0) return;
  let made = 0;
  for (let ordinal = 0; ordinal < likeness.length; ordinal += 1) {
    const own = index.documentAt(ordinal)?.vector;
    if (own === undefined || own.length !== query.length) continue;
    likeness[ordinal] = (cosine(query, own) + 1) / 2;
    made += own.length;
    if (made < SLICE_PRODUCTS) continue;
    made = 0;
    yield;
  }
}
