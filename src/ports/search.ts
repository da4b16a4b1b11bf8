/**
 * Queries to the search indexes: named sets of documents of one search database, ranked by relevance. Results may be
 * older than the last writes, because documents are indexed after they were stored.
 */
import type { JsonObject } from '../domain/search/index.js';
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
