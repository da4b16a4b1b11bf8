/** Limits of the data plane of search indexes that are not part of an index's record, with their reasons. */

import { MAX_RECORD_BYTES } from '../../domain/kv/index.js';

const MIB = 1024 * 1024;

export interface SearchEndpointLimits {
  /** Body of an upsert. It is one entry, and one command for its owner. */
  readonly maxUpsertBytes: number;
  /** Body of any other command: enough for a thousand ids of a thousand bytes. */
  readonly maxBodyBytes: number;
  /** Concurrent removals by filter: each reads all documents of its index. */
  readonly maxScans: number;
}

export const DEFAULT_SEARCH_ENDPOINT_LIMITS: SearchEndpointLimits = {
  maxUpsertBytes: 8 * MIB,
  maxBodyBytes: 2 * MIB,
  maxScans: 8,
};

/** Bytes of one index, ids and JSON texts: its documents are one hash, and no value in the engine is larger. */
export const MAX_INDEX_BYTES = MAX_RECORD_BYTES;
/** Documents of one upsert, independent of the index: the owner executes it in one go. */
export const MAX_UPSERTED_DOCUMENTS = 1_000;
/** JSON text of one document: its content, metadata and vector at their limits, with escapes. */
export const MAX_DOCUMENT_BYTES = 512 * 1024;
/** A longer body is parsed document by document; parsing this much in one call takes some milliseconds. */
export const LONG_UPSERT_BYTES = 256 * 1024;
/** Documents of a page and of a fetch by prefix; the second limit is documented. */
export const MAX_RANGE_LIMIT = 1_000;
export const DEFAULT_RANGE_LIMIT = 10;
/** Default number of results. */
export const DEFAULT_TOP_K = 10;
/** Ids of one fetch or deletion, independent of the index: they are one command. */
export const MAX_DOCUMENT_IDS = 1_000;
/** Documents read in one command, which the owner answers in one go. */
export const READ_DOCUMENTS = 100;
/** Bytes after which a page ends early: documents may have some hundred kilobytes, and a page is held in memory. */
export const MAX_DOCUMENT_PAGE_BYTES = 8 * MIB;
/** Documents encoded in one slice: about a millisecond. */
export const WRITTEN_DOCUMENTS = 100;
/** Reranked documents per charged unit. */
export const RERANK_UNIT_DOCUMENTS = 100;
