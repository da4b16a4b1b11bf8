/**
 * A vector index: vectors of one dimension by id, and the search for those nearest to another. The search is exact: it
 * compares all vectors, in slices.
 *
 * Invariants
 *
 *  VX1 every vector has `dimension` finite elements of 32 bits
 *  VX2 results are ordered by score, then by id, so equal indexes give equal answers
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Collection, UndoRecorder } from '../value.js';

export type KeyMetric = 'COSINE' | 'EUCLIDEAN' | 'DOT';
export const KEY_METRICS: readonly KeyMetric[] = ['COSINE', 'EUCLIDEAN', 'DOT'];

const INDEX_OVERHEAD_BYTES = 200;
/** Measured: a Map entry, an object, and a Float32Array with its buffer. */
const VECTOR_OVERHEAD_BYTES = 240;
const ELEMENT_BYTES = 4;
/** Products between two pauses: about 0.7 ms. */
const SLICE_PRODUCTS = 200_000;

export interface Neighbour {
  readonly id: ByteString;
  /** From 0 to 1, 1 being nearest. */
  readonly score: number;
}

interface Stored {
  readonly elements: Float32Array;
  /** The length of the vector, for COSINE. */
  readonly norm: number;
}

export class VectorIndex implements Collection {
  readonly kind = 'vector';
  readonly encoding = 'float32';
  readonly mayBeEmpty = true;
  readonly hasOrder = false;
  undo: UndoRecorder | undefined;
  readonly #vectors = new Map<ByteString, Stored>();
  #idBytes = 0;

  constructor(
    readonly dimension: number,
    readonly metric: KeyMetric,
  ) {}

  get size(): number {
    return this.#vectors.size;
  }

  get bytes(): number {
    const vectorBytes = this.dimension * ELEMENT_BYTES + VECTOR_OVERHEAD_BYTES;
    return INDEX_OVERHEAD_BYTES + this.size * vectorBytes + this.#idBytes;
  }

  get(id: ByteString): Float32Array | undefined {
    return this.#vectors.get(id)?.elements;
  }

  /** The elements of an existing vector as little-endian bytes. */
  bytesOf(id: ByteString): ByteString {
    return bytesOfElements((this.#vectors.get(id) as Stored).elements);
  }

  /** @returns whether the id is new */
  set(id: ByteString, elements: Float32Array): boolean {
    const before = this.#vectors.get(id);
    this.#vectors.set(id, { elements, norm: normOf(elements) });
    if (before !== undefined) {
      this.undo?.push(() => this.#vectors.set(id, before), elements.byteLength);
      return false;
    }
    this.#idBytes += id.length;
    this.undo?.push(() => this.delete(id), elements.byteLength);
    return true;
  }

  /** @returns whether it existed */
  delete(id: ByteString): boolean {
    const before = this.#vectors.get(id);
    if (before === undefined) return false;
    this.#vectors.delete(id);
    this.#idBytes -= id.length;
    this.undo?.push(() => this.set(id, before.elements), before.elements.byteLength);
    return true;
  }

  /** The `count` nearest vectors, nearest first (VX2: by score, then by id). */
  *nearest(query: Float32Array, count: number): Generator<void, Neighbour[]> {
    const norm = normOf(query);
    const found: Neighbour[] = [];
    let products = 0;
    for (const [id, stored] of this.#vectors) {
      const candidate = { id, score: this.#closeness(query, norm, stored) };
      const last = found.at(-1);
      if (found.length < count || (last !== undefined && compare(candidate, last) < 0)) {
        found.splice(placeOf(found, candidate), 0, candidate);
        if (found.length > count) found.pop();
      }
      products += this.dimension;
      if (products >= SLICE_PRODUCTS) {
        products = 0;
        yield;
      }
    }
    return found.map(({ id, score }) => ({ id, score: shownScore(this.metric, score) }));
  }

  /** Each id with the bytes of its elements, little-endian. */
  *entries(): IterableIterator<[id: ByteString, bytes: ByteString]> {
    for (const [id, { elements }] of this.#vectors) yield [id, bytesOfElements(elements)];
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    yield ['VECTOR.CREATE', key, 'DIM', String(this.dimension), 'METRIC', this.metric];
    for (const [id, bytes] of this.entries()) yield ['VECTOR.ADD', key, id, 'FP32', bytes];
  }

  *contents(): Iterable<ByteString> {
    yield `${this.dimension} ${this.metric}`;
    for (const [id, bytes] of this.entries()) yield `${id.length}:${id}${bytes}`;
  }

  keepState(undo: UndoRecorder): void {
    const idBytes = this.#idBytes;
    undo.push(() => {
      this.#idBytes = idBytes;
    });
  }

  clone(): VectorIndex {
    const copy = new VectorIndex(this.dimension, this.metric);
    // Stored elements never change: a write replaces them.
    for (const [id, { elements }] of this.#vectors) copy.set(id, elements);
    return copy;
  }

  /** Higher is nearer; its scale depends on the metric. */
  #closeness(query: Float32Array, queryNorm: number, { elements, norm }: Stored): number {
    if (this.metric === 'EUCLIDEAN') return -squaredDistance(query, elements);
    const dot = dotProduct(query, elements);
    if (this.metric === 'DOT') return dot;
    return queryNorm === 0 || norm === 0 ? 0 : dot / (queryNorm * norm);
  }
}

function compare(a: Neighbour, b: Neighbour): number {
  return b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** The first place whose neighbour does not precede the candidate. */
function placeOf(found: readonly Neighbour[], candidate: Neighbour): number {
  let low = 0;
  let high = found.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(found[middle] as Neighbour, candidate) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** From 0 to 1. A dot product of vectors longer than 1 ends at the bounds. */
function shownScore(metric: KeyMetric, closeness: number): number {
  if (metric === 'EUCLIDEAN') return 1 / (1 - closeness);
  return Math.min(1, Math.max(0, (1 + closeness) / 2));
}

function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function squaredDistance(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) {
    const difference = (a[i] as number) - (b[i] as number);
    sum += difference * difference;
  }
  return sum;
}

function normOf(elements: Float32Array): number {
  return Math.sqrt(dotProduct(elements, elements));
}

function bytesOfElements(elements: Float32Array): ByteString {
  const bytes = Buffer.allocUnsafe(elements.length * ELEMENT_BYTES);
  for (let i = 0; i < elements.length; i += 1) bytes.writeFloatLE(elements[i] as number, i * ELEMENT_BYTES);
  return bytes.toString('latin1');
}
