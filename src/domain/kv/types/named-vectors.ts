/**
 * Vectors of one dimension by name, and the search for those nearest to another. Few vectors are compared one by one; many
 * have a graph, which queries build: a query spends as much time on it as on its comparisons.
 *
 *  NV1 results are ordered by closeness, then by name
 *  NV2 no addition moves all names (OBN1: a Map of them stops the process when it doubles)
 */
import type { ByteString } from '../../../kernel/index.js';
import { OrdinalsByName } from '../../collections/index.js';
import {
  GRAPH_FROM,
  type Likeness,
  type Precision,
  type QueryVector,
  VectorCollection,
} from '../../vector-graph/index.js';
import { GraphFile } from './graph-file.js';
import { compareNeighbours, NearestNeighbours, type Neighbour } from './nearest-neighbours.js';

const ELEMENT_BYTES = 4;
/** The name's header, its places in the list and the index of names, and the links of the graph. */
const VECTOR_OVERHEAD_BYTES = 206;
/** Compared numbers between two pauses: about 0.3 ms. */
const SLICE_NUMBERS = 200_000;
/** The cost of visiting a vector apart from its numbers, in compared numbers. */
export const VISIT_WORK = 32;
/** Draws by chance before the next existing name is taken. */
const RANDOM_TRIES = 32;
/** Slices of building in a query that compared few vectors. */
const FEW_SLICES = 4;
/** Slices of building in a query that compared many: about 60 ms, so that no query reaches its bound of work by building. */
const MANY_SLICES = 100;

export interface NearestSearch {
  readonly count: number;
  /** Nodes of the graph that the search keeps at least. */
  readonly effort?: number | undefined;
  /** Compare all. */
  readonly isExact?: boolean;
  readonly accepts?: ((name: ByteString) => boolean) | undefined;
  /** The cost of evaluating `accepts`, in compared numbers. */
  readonly acceptWork?: number;
}

export class NamedVectors {
  readonly #vectors: VectorCollection;
  readonly #names: ByteString[] = [];
  readonly #ordinals = new OrdinalsByName((ordinal) => this.#names[ordinal]);
  #nameBytes = 0;
  #graphFile: GraphFile | undefined;

  constructor(
    readonly dimension: number,
    readonly likeness: Likeness,
    readonly precision: Precision,
    private readonly graphFrom = GRAPH_FROM,
  ) {
    this.#vectors = new VectorCollection(dimension, likeness, precision, graphFrom);
  }

  get size(): number {
    return this.#ordinals.size;
  }

  get bytes(): number {
    return this.size * (this.#vectors.vectors.vectorBytes + VECTOR_OVERHEAD_BYTES) + this.#nameBytes;
  }

  /** The graph as far as it is built. */
  get graph(): Pick<VectorCollection, 'linked' | 'topLevel' | 'ordinals'> {
    return this.#vectors;
  }

  /** Of vectors that are, or were, enough for a graph. */
  get graphFile(): GraphFile | undefined {
    if (this.#graphFile === undefined && this.size >= this.graphFrom / 2) {
      const names = {
        nameOf: (ordinal: number) => this.#names[ordinal],
        ordinalOf: (name: ByteString) => this.#ordinals.get(name),
      };
      const shape = `${this.likeness} ${this.precision} ${this.dimension}`;
      this.#graphFile = new GraphFile(this.#vectors, names, shape);
    }
    return this.#graphFile;
  }

  has(name: ByteString): boolean {
    return this.#ordinals.has(name);
  }

  *names(): IterableIterator<ByteString> {
    for (let ordinal = 0; ordinal < this.#vectors.ordinals; ordinal += 1) {
      if (this.#vectors.has(ordinal)) yield this.#names[ordinal] as ByteString;
    }
  }

  /** Its numbers, as precisely as they are kept. */
  get(name: ByteString): Float32Array | undefined {
    return this.#read(this.#ordinals.get(name));
  }

  /** The stored bytes of an existing name. */
  rawBytes(name: ByteString): Uint8Array {
    return this.#vectors.vectors.rawBytes(this.#ordinals.get(name) as number);
  }

  /** A name by chance; undefined without any. */
  draw(float: () => number): ByteString | undefined {
    const { ordinals } = this.#vectors;
    for (let ordinal = Math.floor(float() * ordinals), tried = 0; tried < ordinals; tried += 1) {
      if (this.#vectors.has(ordinal)) return this.#names[ordinal];
      ordinal = tried < RANDOM_TRIES ? Math.floor(float() * ordinals) : (ordinal + 1) % ordinals;
    }
    return undefined;
  }

  /** @returns the numbers before */
  set(name: ByteString, numbers: Float32Array): Float32Array | undefined {
    const before = this.#ordinals.get(name);
    const replaced = this.#read(before);
    if (before === undefined) this.#nameBytes += name.length;
    else this.#vectors.remove(before);
    const ordinal = this.#vectors.add(numbers);
    if (ordinal === before) return replaced;
    if (before !== undefined) this.#ordinals.delete(name);
    this.#names[ordinal] = name;
    this.#ordinals.add(name, ordinal);
    return replaced;
  }

  /** @returns the numbers before; undefined if it did not exist */
  delete(name: ByteString): Float32Array | undefined {
    const ordinal = this.#ordinals.delete(name);
    if (ordinal === undefined) return undefined;
    const removed = this.#read(ordinal);
    this.#vectors.remove(ordinal);
    this.#nameBytes -= name.length;
    return removed;
  }

  /** The names linked to one by level, from 0 upwards, with their closeness; undefined if the graph does not have it. */
  linksOf(name: ByteString): Neighbour[][] | undefined {
    const ordinal = this.#ordinals.get(name);
    if (ordinal === undefined) return undefined;
    const query = this.#vectors.vectors.queryOf(ordinal);
    return this.#vectors
      .linksOf(ordinal)
      ?.map((level) => level.map((other) => this.#neighbour(query, other)).sort(compareNeighbours));
  }

  /** The `count` nearest, nearest first. */
  *nearest(numbers: Float32Array, search: NearestSearch): Generator<void, Neighbour[]> {
    const { count, effort, isExact = false, accepts, acceptWork = 0 } = search;
    const query = this.#vectors.vectors.query(numbers);
    const acceptsAt = accepts && ((ordinal: number) => accepts(this.#names[ordinal] as ByteString));
    const near = isExact
      ? undefined
      : yield* this.#vectors.near(query, { count, effort, accepts: acceptsAt, acceptWork });
    const found = new NearestNeighbours(count);
    const work = this.dimension + VISIT_WORK;
    let slices = 0;
    let compared = 0;
    const candidates = near?.length ?? this.#vectors.ordinals;
    for (let at = 0; at < candidates; at += 1) {
      const ordinal = near?.[at] ?? at;
      if (this.#vectors.has(ordinal)) {
        const candidate = this.#neighbour(query, ordinal);
        if (found.wants(candidate)) {
          compared += acceptWork;
          if (accepts === undefined || accepts(candidate.name)) found.add(candidate);
        }
      }
      compared += work;
      if (compared < SLICE_NUMBERS) continue;
      compared = 0;
      slices += 1;
      yield;
    }
    yield* this.#build(Math.min(MANY_SLICES, Math.max(FEW_SLICES, slices)));
    return yield* found.inOrder();
  }

  *#build(slices: number): Generator<void> {
    for (let done = 0; done < slices && this.#vectors.needsBuild; done += 1) {
      if (this.#graphFile?.mayBuild === false) return;
      this.#vectors.build();
      yield;
    }
  }

  #read(ordinal: number | undefined): Float32Array | undefined {
    return ordinal === undefined ? undefined : this.#vectors.vectors.read(ordinal).slice();
  }

  #neighbour(query: QueryVector, ordinal: number): Neighbour {
    const distance = this.#vectors.distance(query, ordinal);
    const closeness = this.likeness === 'COSINE' ? 1 - distance : -distance;
    return { name: this.#names[ordinal] as ByteString, closeness };
  }
}

/** Numbers of 32 bits, little-endian. */
export function bytesOfElements(elements: Float32Array): ByteString {
  const bytes = Buffer.allocUnsafe(elements.length * ELEMENT_BYTES);
  for (let i = 0; i < elements.length; i += 1) bytes.writeFloatLE(elements[i] as number, i * ELEMENT_BYTES);
  return bytes.toString('latin1');
}
