/**
 * A vector set of Redis 8: elements with a vector and, optionally, a JSON text of attributes. Vectors are compared by
 * the cosine.
 *
 *  VS1 a set that is rebuilt from its effects has equal stored vectors, in any precision
 *  VS2 the projection of REDUCE depends on its dimensions only, so every process projects alike
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Precision } from '../../vector-graph/index.js';
import { SegmentedMap } from '../segmented-map.js';
import type { Collection, UndoRecorder } from '../value.js';
import { bytesOfElements, NamedVectors, type NearestSearch } from './named-vectors.js';
import type { Neighbour } from './nearest-neighbours.js';

const SET_OVERHEAD_BYTES = 300;
/** A Map entry and the header of a text. */
const ATTRIBUTE_OVERHEAD_BYTES = 60;

export type SetPrecision = Exclude<Precision, 'F16'>;

export interface VectorSetShape {
  readonly precision: SetPrecision;
  readonly dimension: number;
  /** Numbers of a given vector; 0 without REDUCE. */
  readonly inputDimension: number;
  /** The option M, which is only shown: every graph has 16 links of a node. */
  readonly links: number;
}

export class VectorSet implements Collection {
  readonly kind = 'vectorset';
  readonly encoding = 'raw';
  readonly hasOrder = false;
  undo: UndoRecorder | undefined;
  readonly #vectors: NamedVectors;
  readonly #attributes = new SegmentedMap<ByteString>();
  #attributeBytes = 0;

  constructor(readonly shape: VectorSetShape) {
    this.#vectors = new NamedVectors(shape.dimension, 'COSINE', shape.precision);
  }

  get size(): number {
    return this.#vectors.size;
  }

  get bytes(): number {
    const attributes = this.#attributeBytes + this.#attributes.size * ATTRIBUTE_OVERHEAD_BYTES;
    return SET_OVERHEAD_BYTES + this.#vectors.bytes + attributes;
  }

  get attributes(): { readonly count: number; readonly bytes: number } {
    return { count: this.#attributes.size, bytes: this.#attributeBytes };
  }

  get graph(): NamedVectors['graph'] {
    return this.#vectors.graph;
  }

  get graphFile(): NamedVectors['graphFile'] {
    return this.#vectors.graphFile;
  }

  has(element: ByteString): boolean {
    return this.#vectors.has(element);
  }

  elements(): IterableIterator<ByteString> {
    return this.#vectors.names();
  }

  draw(float: () => number): ByteString | undefined {
    return this.#vectors.draw(float);
  }

  get(element: ByteString): Float32Array | undefined {
    return this.#vectors.get(element);
  }

  rawBytes(element: ByteString): Uint8Array {
    return this.#vectors.rawBytes(element);
  }

  /** '' without attributes. */
  attributesOf(element: ByteString): ByteString {
    return this.#attributes.get(element) ?? '';
  }

  linksOf(element: ByteString): Neighbour[][] | undefined {
    return this.#vectors.linksOf(element);
  }

  nearest(query: Float32Array, search: NearestSearch): Generator<void, Neighbour[]> {
    return this.#vectors.nearest(query, search);
  }

  /** @returns whether the element is new */
  set(element: ByteString, numbers: Float32Array): boolean {
    const before = this.#vectors.set(element, numbers);
    this.undo?.push(
      () => (before === undefined ? this.#vectors.delete(element) : this.#vectors.set(element, before)),
      numbers.byteLength,
    );
    return before === undefined;
  }

  /** @returns whether it existed */
  delete(element: ByteString): boolean {
    this.setAttributes(element, '');
    const before = this.#vectors.delete(element);
    if (before === undefined) return false;
    this.undo?.push(() => this.#vectors.set(element, before), before.byteLength);
    return true;
  }

  /** @param attributes '' removes them */
  setAttributes(element: ByteString, attributes: ByteString): void {
    const before = this.attributesOf(element);
    if (before === attributes) return;
    this.undo?.push(() => this.setAttributes(element, before), before.length);
    this.#attributeBytes += attributes.length - before.length;
    if (attributes === '') this.#attributes.delete(element);
    else this.#attributes.set(element, attributes);
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    for (const element of this.elements()) yield this.effectOf(key, element);
  }

  /** The effect that makes an existing element as it is. */
  effectOf(key: ByteString, element: ByteString): ByteString[] {
    const { precision, dimension, inputDimension, links } = this.shape;
    const numbers = bytesOfElements(this.get(element) as Float32Array);
    const shape = [precision, dimension, inputDimension, links].map(String);
    return ['VRECORD', key, ...shape, element, numbers, this.attributesOf(element)];
  }

  *contents(): Iterable<ByteString> {
    for (const element of this.elements())
      yield this.effectOf('', element)
        .map((word) => `${word.length}:${word}`)
        .join('');
  }

  /** Inverse operations restore all of it. */
  keepState(_undo: UndoRecorder): void {}

  clone(): VectorSet {
    const copy = new VectorSet(this.shape);
    for (const element of this.elements()) {
      copy.set(element, this.get(element) as Float32Array);
      copy.setAttributes(element, this.attributesOf(element));
    }
    return copy;
  }
}

/** The vector in fewer dimensions: sums with signs that are spread as by chance, which keep angles about the same. */
export function projected(vector: Float32Array, dimension: number): Float32Array {
  const factor = 1 / Math.sqrt(dimension);
  return Float32Array.from({ length: dimension }, (_, row) => {
    let sum = 0;
    for (let at = 0; at < vector.length; at += 1) sum += signAt(row, at) * (vector[at] as number);
    return sum * factor;
  });
}

function signAt(row: number, column: number): 1 | -1 {
  let hash = Math.imul(row + 1, 0x9e3779b1) ^ Math.imul(column + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13), 0x27d4eb2f);
  return ((hash ^ (hash >>> 16)) & 1) === 0 ? 1 : -1;
}
