/** Vectors in answers, as JSON. Numbers of 32 bits are written as short as they can be read back. */
import { type RankedId, type StoredVector, shortFloat } from '../../../domain/search/index.js';
import type { IncludedParts } from './vector-bodies.js';
import type { FoundVector } from './vector-store.js';

/** Members without a value are left out. */
export function shownVector({ id, ...stored }: FoundVector, parts: IncludedParts): unknown {
  return { id, ...shownParts(stored, parts) };
}

export function shownHit({ id, score }: RankedId, found: StoredVector | undefined, parts: IncludedParts): unknown {
  return { id, score, ...(found === undefined ? {} : shownParts(found, parts)) };
}

function shownParts({ dense, sparse, metadata, data }: StoredVector, { vectors, ...parts }: IncludedParts) {
  const [vector, sparseVector] = vectors ? [dense && short(dense), sparse && shownSparse(sparse)] : [];
  return {
    vector,
    sparseVector,
    metadata: parts.metadata ? metadata : undefined,
    data: parts.data ? data : undefined,
  };
}

function shownSparse({ indices, values }: NonNullable<StoredVector['sparse']>) {
  return { indices: [...indices], values: short(values) };
}

function short(numbers: Float32Array): number[] {
  return Array.from(numbers, shortFloat);
}
