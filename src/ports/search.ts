/**
 * Questions to the search indexes: named sets of documents of one search database, ranked by what a query says. What
 * is found may be behind what was written: documents are indexed after they were stored.
 */
import type { JsonObject } from '../domain/search/index.js';
import type { DatabaseId } from '../kernel/index.js';

export interface SearchQuery {
  /** What is searched for; may be empty when there is a vector. */
  readonly text: string;
  /** The client's own vector: compared with those of documents of the same dimension. */
  readonly vector?: readonly number[] | undefined;
  /** At most so many hits; from 1 to `MAX_TOP_K`. */
  readonly topK: number;
  /** In the filter language; empty: none. */
  readonly filter: string;
  /** 0: keywords alone; 1: likeness alone. */
  readonly semanticWeight: number;
  /** Looks again at the best candidates, for phrases and the order of words. */
  readonly reranking: boolean;
  readonly includeData: boolean;
  readonly includeMetadata: boolean;
}

export interface SearchHit {
  readonly id: string;
  /** From 0 to 1, the best is 1. */
  readonly score: number;
  /** It comes with `includeData`. */
  readonly content?: JsonObject | undefined;
  /** It comes with `includeMetadata`, when the document has some. */
  readonly metadata?: JsonObject | undefined;
}

export interface SearchNamespaceInfo {
  /** Documents that a query can find. */
  readonly documents: number;
  /** Bytes of their JSON text. */
  readonly bytes: number;
}

export interface SearchIndexInfo {
  /** They are keyed by name; a name without documents that were indexed is absent. */
  readonly namespaces: ReadonlyMap<string, SearchNamespaceInfo>;
  /** They are those of the vectors that stand for documents without a vector of their own. */
  readonly dimensions: number;
}

export interface SearchQueries {
  /**
   * The best first, equal scores in order of id. A name that does not exist has no documents.
   * @throws INVALID for a filter that is none (the message says where) and for limits of `domain/search` exceeded;
   *         SHARD_UNAVAILABLE while the index is being loaded or when no process that keeps indexes answers;
   *         MAILBOX_FULL when too many questions wait; TIMED_OUT
   */
  search(index: DatabaseId, name: string, query: SearchQuery): Promise<readonly SearchHit[]>;
  /** @throws SHARD_UNAVAILABLE, MAILBOX_FULL, TIMED_OUT */
  info(index: DatabaseId): Promise<SearchIndexInfo>;
}
