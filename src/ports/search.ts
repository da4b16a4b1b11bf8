/**
 * Queries to the search indexes: named sets of documents of one search database, ranked by relevance. Results may be
 * older than the last writes, because documents are indexed after they were stored.
 */
import type { Fusion, JsonObject, VectorShape } from '../domain/search/index.js';
import type { DatabaseId } from '../kernel/index.js';

export interface SearchQuery {
  /** The searched text; may be empty when there is a vector. */
  readonly text: string;
  /** The client's vector, compared with document vectors of the same dimension. */
  readonly vector?: readonly number[] | undefined;
  /** The largest number of hits; from 1 to `MAX_TOP_K`. */
  readonly topK: number;
  /** In the filter language; empty: none. */
  readonly filter: string;
  /** 0: keywords alone; 1: similarity alone. */
  readonly semanticWeight: number;
  /** Ranks the best candidates again by phrases and the order of words. */
  readonly reranking: boolean;
  readonly includeData: boolean;
  readonly includeMetadata: boolean;
}

export interface SearchHit {
  readonly id: string;
  /** From 0 to 1, the best is 1. */
  readonly score: number;
  /** Set with `includeData`. */
  readonly content?: JsonObject | undefined;
  /** Set with `includeMetadata`, when the document has some. */
  readonly metadata?: JsonObject | undefined;
}

export interface SearchNamespaceInfo {
  /** Documents that a query can find. */
  readonly documents: number;
  /** Bytes of their JSON text. */
  readonly bytes: number;
}

export interface SearchIndexInfo {
  /** Keyed by name; a name without indexed documents is absent. */
  readonly namespaces: ReadonlyMap<string, SearchNamespaceInfo>;
  /** The dimensions of vectors computed for documents without one. */
  readonly dimensions: number;
  /** Of vectors: the number of the last write that queries see. */
  readonly writes?: number | undefined;
}

export interface SearchQueries {
  /**
   * The best first, equal scores in order of id. A name that does not exist has no documents.
   * @throws INVALID for an invalid filter (the message says where) and for exceeded limits of `domain/search`;
   *         SHARD_UNAVAILABLE while the index is being loaded or when no process with indexes answers;
   *         MAILBOX_FULL when too many queries wait; TIMED_OUT
   */
  search(index: DatabaseId, name: string, query: SearchQuery): Promise<readonly SearchHit[]>;
  /** @throws SHARD_UNAVAILABLE, MAILBOX_FULL, TIMED_OUT */
  info(index: DatabaseId): Promise<SearchIndexInfo>;
}

/** Results of a resumed query come after this one. */
export interface RankedPlace {
  readonly score: number;
  readonly id: string;
}

/** A query to one namespace of an index of vectors. With both vectors the two results are fused. */
export interface VectorQuery {
  readonly dense?: readonly number[] | undefined;
  readonly sparse?: { readonly indices: readonly number[]; readonly values: readonly number[] } | undefined;
  readonly topK: number;
  /** In the filter language, over metadata; empty: none. */
  readonly filter: string;
  /** Weights the dimensions of the sparse vector by their rarity. */
  readonly weighsByRarity: boolean;
  readonly fusion: Fusion;
  /** Where the results of an earlier batch ended, of each part. */
  readonly denseAfter?: RankedPlace | undefined;
  readonly sparseAfter?: RankedPlace | undefined;
}

export interface VectorHits {
  /** The best first, equal scores in order of id. */
  readonly hits: readonly RankedPlace[];
  /** The last result of each part; undefined if the part has none. */
  readonly denseLast?: RankedPlace | undefined;
  readonly sparseLast?: RankedPlace | undefined;
}

export interface VectorQueries {
  /**
   * A namespace that does not exist has no vectors.
   * @throws as `SearchQueries.search`
   */
  queryVectors(index: DatabaseId, name: string, query: VectorQuery): Promise<VectorHits>;
}

/** A database whose documents are indexed: of a search index, or of an index of vectors. */
export interface IndexedDatabase {
  readonly id: DatabaseId;
  /** Undefined: a search index. */
  readonly vectors?: VectorShape | undefined;
}
