/**
 * The vectors of one namespace, ready for queries. Each document has an ordinal, the number by which its vectors and
 * postings refer to it.
 *
 *  VN1 a replaced document gets another ordinal; a query checks by `changedAt` whether an ordinal is still the document
 *      that it met
 *  VN2 an ordinal is used again only when no posting has it any more
 */
import {
  hasDense,
  hasSparse,
  type JsonObject,
  type SparseVector,
  type StoredVector,
  type VectorShape,
  type VectorSimilarity,
} from '../../../domain/search/index.js';
import { type Likeness, type Precision, VectorCollection } from '../../../domain/vector-graph/index.js';
import { withRoom } from '../named-index.js';
import { MetadataColumns } from './metadata-columns.js';
import { SparsePostings } from './sparse-postings.js';

export interface VectorDocument {
  readonly id: string;
  readonly metadata: JsonObject | undefined;
  /** The length of the stored form. */
  readonly bytes: number;
  /** The ordinal of its dense vector. */
  readonly dense: number | undefined;
  readonly sparse: SparseVector | undefined;
}

/** A sweep starts when this many ordinals are removed … */
const SWEEP_FROM = 1000;
/** … and they are this share of all. */
const SWEEP_SHARE = 0.25;
/** Entries that a sweep reads between two pauses: about 1 ms. */
const SWEEP_STEP = 100_000;

const LIKENESS: Readonly<Record<VectorSimilarity, Likeness>> = {
  COSINE: 'COSINE',
  EUCLIDEAN: 'EUCLIDEAN',
  DOT_PRODUCT: 'DOT',
};

export class VectorNamespace {
  readonly dense: VectorCollection;
  readonly sparse = new SparsePostings();
  readonly columns = new MetadataColumns(this);
  readonly #documents: (VectorDocument | undefined)[] = [];
  /** The documents of dense vectors, by the ordinals of these. */
  readonly #denseDocuments: number[] = [];
  readonly #ordinalsById = new Map<string, number>();
  #changedAt = new Float64Array(16);
  #freeOrdinals: number[] = [];
  #goneOrdinals: number[] = [];
  #changes = 0;
  #bytes = 0;
  #sparseCount = 0;
  #isSweeping = false;

  constructor(
    readonly shape: VectorShape,
    precision: Precision = 'F32',
  ) {
    this.dense = new VectorCollection(Math.max(1, shape.dimension), LIKENESS[shape.metric], precision);
  }

  get size(): number {
    return this.#ordinalsById.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Documents with a sparse vector. */
  get sparseCount(): number {
    return this.#sparseCount;
  }

  /** Ordinals that were ever used; those of removed documents are empty. */
  get ordinals(): number {
    return this.#documents.length;
  }

  /** Grows with every added or removed document. */
  get changes(): number {
    return this.#changes;
  }

  changedAt(ordinal: number): number {
    return this.#changedAt[ordinal] ?? 0;
  }

  documentAt(ordinal: number): VectorDocument | undefined {
    return this.#documents[ordinal];
  }

  /** Of a dense vector that exists. */
  ordinalOf(dense: number): number {
    return this.#denseDocuments[dense] as number;
  }

  /** The graph of the dense vectors, to be stored. As `VectorCollection.pieces`. */
  graphPieces(): Generator<Uint8Array | undefined, void> {
    return this.dense.pieces((dense) => this.#documents[this.ordinalOf(dense)]?.id);
  }

  /** As `VectorCollection.restore`. */
  restoreGraph(bytes: Uint8Array): Generator<void, number> {
    return this.dense.restore(bytes, (id) => {
      const ordinal = this.#ordinalsById.get(id);
      return ordinal === undefined ? undefined : this.#documents[ordinal]?.dense;
    });
  }

  /** Replaces the document with the same id. A vector that the index has no place for is ignored. */
  put(id: string, { dense, sparse, metadata }: StoredVector, bytes: number): void {
    this.remove(id);
    const { shape } = this;
    const ordinal = this.#freeOrdinals.pop() ?? this.#documents.length;
    const isDense = hasDense(shape) && dense?.length === shape.dimension;
    const place = isDense ? this.dense.add(dense) : undefined;
    if (place !== undefined) this.#denseDocuments[place] = ordinal;
    const kept = hasSparse(shape) ? sparse : undefined;
    this.#documents[ordinal] = { id, metadata, bytes, dense: place, sparse: kept };
    this.columns.put(ordinal, metadata);
    this.#ordinalsById.set(id, ordinal);
    this.#changed(ordinal);
    this.#bytes += bytes;
    if (kept === undefined) return;
    this.sparse.add(ordinal, kept);
    this.#sparseCount += 1;
  }

  remove(id: string): boolean {
    const ordinal = this.#ordinalsById.get(id);
    if (ordinal === undefined) return false;
    const { bytes, dense, sparse } = this.#documents[ordinal] as VectorDocument;
    this.#ordinalsById.delete(id);
    this.#documents[ordinal] = undefined;
    this.columns.remove(ordinal);
    this.#changed(ordinal);
    this.#bytes -= bytes;
    if (dense !== undefined) this.dense.remove(dense);
    if (sparse === undefined) {
      this.#freeOrdinals.push(ordinal);
    } else {
      this.sparse.remove(sparse);
      this.#sparseCount -= 1;
      this.#goneOrdinals.push(ordinal);
    }
    return true;
  }

  get needsSweep(): boolean {
    const gone = this.#goneOrdinals.length;
    return !this.#isSweeping && gone >= SWEEP_FROM && gone >= this.#documents.length * SWEEP_SHARE;
  }

  /** Removes deleted ordinals from all postings, in slices; documents may be added or removed between them. */
  *sweep(): Generator<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const retired = new Set(this.#goneOrdinals);
    this.#goneOrdinals = [];
    let looked = 0;
    for (const entries of this.sparse.retire((ordinal) => retired.has(ordinal))) {
      looked += entries + 1;
      if (looked < SWEEP_STEP) continue;
      looked = 0;
      yield;
    }
    this.#freeOrdinals = this.#freeOrdinals.concat([...retired]);
    this.#isSweeping = false;
  }

  #changed(ordinal: number): void {
    this.#changes += 1;
    this.#changedAt = withRoom(this.#changedAt, ordinal);
    this.#changedAt[ordinal] = this.#changes;
  }
}
