/**
 * A vector index: vectors of one dimension by id, and the search for those nearest to another. The search compares all
 * vectors while they are few, and uses a graph when they are many.
 *
 * Invariants
 *
 *  VX1 every vector has `dimension` finite elements of 32 bits
 *  VX2 results are ordered by score, then by id
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Collection, UndoRecorder } from '../value.js';
import { bytesOfElements, NamedVectors, type NearestSearch } from './named-vectors.js';

export type KeyMetric = 'COSINE' | 'EUCLIDEAN' | 'DOT';
export const KEY_METRICS: readonly KeyMetric[] = ['COSINE', 'EUCLIDEAN', 'DOT'];

const INDEX_OVERHEAD_BYTES = 200;

interface ScoredId {
  readonly id: ByteString;
  /** From 0 to 1, 1 being nearest. */
  readonly score: number;
}

export class VectorIndex implements Collection {
  readonly kind = 'vector';
  readonly encoding = 'float32';
  readonly mayBeEmpty = true;
  readonly hasOrder = false;
  undo: UndoRecorder | undefined;
  readonly #vectors: NamedVectors;

  constructor(
    readonly dimension: number,
    readonly metric: KeyMetric,
  ) {
    this.#vectors = new NamedVectors(dimension, metric, 'F32');
  }

  get size(): number {
    return this.#vectors.size;
  }

  get bytes(): number {
    return INDEX_OVERHEAD_BYTES + this.#vectors.bytes;
  }

  get graphFile(): NamedVectors['graphFile'] {
    return this.#vectors.graphFile;
  }

  get(id: ByteString): Float32Array | undefined {
    return this.#vectors.get(id);
  }

  /** The elements of an existing vector as little-endian bytes. */
  bytesOf(id: ByteString): ByteString {
    return bytesOfElements(this.#vectors.get(id) as Float32Array);
  }

  /** @returns whether the id is new */
  set(id: ByteString, elements: Float32Array): boolean {
    const before = this.#vectors.set(id, elements);
    this.undo?.push(
      () => (before === undefined ? this.#vectors.delete(id) : this.#vectors.set(id, before)),
      elements.byteLength,
    );
    return before === undefined;
  }

  /** @returns whether it existed */
  delete(id: ByteString): boolean {
    const before = this.#vectors.delete(id);
    if (before === undefined) return false;
    this.undo?.push(() => this.#vectors.set(id, before), before.byteLength);
    return true;
  }

  /** The nearest vectors, nearest first (VX2: by score, then by id). */
  *nearest(query: Float32Array, search: Omit<NearestSearch, 'accepts'>): Generator<void, ScoredId[]> {
    const found = yield* this.#vectors.nearest(query, search);
    return found.map(({ name, closeness }) => ({ id: name, score: shownScore(this.metric, closeness) }));
  }

  /** Each id with the bytes of its elements, little-endian. */
  *entries(): IterableIterator<[id: ByteString, bytes: ByteString]> {
    for (const id of this.#vectors.names()) yield [id, this.bytesOf(id)];
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    yield ['VECTOR.CREATE', key, 'DIM', String(this.dimension), 'METRIC', this.metric];
    for (const [id, bytes] of this.entries()) yield ['VECTOR.ADD', key, id, 'FP32', bytes];
  }

  *contents(): Iterable<ByteString> {
    yield `${this.dimension} ${this.metric}`;
    for (const [id, bytes] of this.entries()) yield `${id.length}:${id}${bytes}`;
  }

  /** Inverse operations restore all of it. */
  keepState(_undo: UndoRecorder): void {}

  clone(): VectorIndex {
    const copy = new VectorIndex(this.dimension, this.metric);
    for (const id of this.#vectors.names()) copy.set(id, this.#vectors.get(id) as Float32Array);
    return copy;
  }
}

/** From 0 to 1. A dot product of vectors longer than 1 ends at the bounds. */
function shownScore(metric: KeyMetric, closeness: number): number {
  if (metric === 'EUCLIDEAN') return 1 / (1 - closeness);
  return Math.min(1, Math.max(0, (1 + closeness) / 2));
}
