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
import { HeldDocuments } from '../held-documents.js';
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

const LIKENESS: Readonly<Record<VectorSimilarity, Likeness>> = {
  COSINE: 'COSINE',
  EUCLIDEAN: 'EUCLIDEAN',
  DOT_PRODUCT: 'DOT',
};

export class VectorNamespace {
  readonly dense: VectorCollection;
  readonly sparse = new SparsePostings();
  readonly columns = new MetadataColumns(this);
  readonly #documents = new HeldDocuments<VectorDocument>();
  /** The documents of dense vectors, by the ordinals of these. */
  readonly #denseDocuments: number[] = [];
  #sparseCount = 0;

  constructor(
    readonly shape: VectorShape,
    precision: Precision = 'F32',
  ) {
    this.dense = new VectorCollection(Math.max(1, shape.dimension), LIKENESS[shape.metric], precision);
  }

  get size(): number {
    return this.#documents.size;
  }

  get bytes(): number {
    return this.#documents.bytes;
  }

  /** Documents with a sparse vector. */
  get sparseCount(): number {
    return this.#sparseCount;
  }

  /** Ordinals that were ever used; those of removed documents are empty. */
  get ordinals(): number {
    return this.#documents.ordinals;
  }

  /** Grows with every added or removed document. */
  get changes(): number {
    return this.#documents.changes;
  }

  changedAt(ordinal: number): number {
    return this.#documents.changedAt(ordinal);
  }

  documentAt(ordinal: number): VectorDocument | undefined {
    return this.#documents.at(ordinal);
  }

  /** Of a dense vector that exists. */
  ordinalOf(dense: number): number {
    return this.#denseDocuments[dense] as number;
  }

  /** The graph of the dense vectors, to be stored. As `VectorCollection.pieces`. */
  graphPieces(): Generator<Uint8Array | undefined, void> {
    return this.dense.pieces((dense) => this.#documents.at(this.ordinalOf(dense))?.id);
  }

  /** As `VectorCollection.restore`. */
  restoreGraph(bytes: Uint8Array): Generator<void, number> {
    return this.dense.restore(bytes, (id) => this.#documents.withId(id)?.dense);
  }

  /** Replaces the document with the same id. A vector that the index has no place for is ignored. */
  put(id: string, { dense, sparse, metadata }: StoredVector, bytes: number): void {
    this.remove(id);
    const { shape } = this;
    const ordinal = this.#documents.takeOrdinal();
    const isDense = hasDense(shape) && dense?.length === shape.dimension;
    const place = isDense ? this.dense.add(dense) : undefined;
    if (place !== undefined) this.#denseDocuments[place] = ordinal;
    const kept = hasSparse(shape) ? sparse : undefined;
    this.#documents.add(ordinal, { id, metadata, bytes, dense: place, sparse: kept });
    this.columns.put(ordinal, metadata);
    if (kept === undefined) return;
    this.sparse.add(ordinal, kept);
    this.#sparseCount += 1;
  }

  remove(id: string): boolean {
    const found = this.#documents.remove(id);
    if (found === undefined) return false;
    const [ordinal, { dense, sparse }] = found;
    this.columns.remove(ordinal);
    if (dense !== undefined) this.dense.remove(dense);
    if (sparse === undefined) {
      this.#documents.free(ordinal);
    } else {
      this.sparse.remove(sparse);
      this.#sparseCount -= 1;
      this.#documents.retire(ordinal);
    }
    return true;
  }

  get needsSweep(): boolean {
    return this.#documents.needsSweep;
  }

  /** As `HeldDocuments.sweep`. */
  sweep(): Generator<void> {
    return this.#documents.sweep((isRetired) => this.sparse.retire(isRetired));
  }
}
