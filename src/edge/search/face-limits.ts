/** Bounds of the data plane of search indexes that are no limits of an index's record, each with its reason. */

import { MAX_RECORD_BYTES } from '../../domain/kv/index.js';

const MIB = 1024 * 1024;

export interface SearchFaceLimits {
  /** An upsert's body. It is one entry, and one command for its owner. */
  readonly maxUpsertBytes: number;
  /** Any other command may have so many: a thousand ids of a thousand bytes fit. */
  readonly maxBodyBytes: number;
  /** Removals by filter at once: each reads all documents of its index. */
  readonly maxScans: number;
}

export const DEFAULT_SEARCH_FACE_LIMITS: SearchFaceLimits = {
  maxUpsertBytes: 8 * MIB,
  maxBodyBytes: 2 * MIB,
  maxScans: 8,
};

/** One index has so many, in ids and JSON texts: its documents are one hash, and no value of the engine is larger. */
export const MAX_INDEX_BYTES = MAX_RECORD_BYTES;
/** Documents of one upsert, whatever the index allows: what the owner does at a stretch. */
export const MAX_UPSERTED_DOCUMENTS = 1_000;
/** One document's JSON text: its content, metadata and vector at their bounds, with escapes. */
export const MAX_DOCUMENT_BYTES = 512 * 1024;
/** A body up to this is parsed at once, which takes some milliseconds; a longer one document by document. */
export const LONG_UPSERT_BYTES = 256 * 1024;
/** Documents of a page and of a fetch by prefix; the latter is documented. */
export const MAX_RANGE_LIMIT = 1_000;
export const DEFAULT_RANGE_LIMIT = 10;
/** Results, where the query does not say. */
export const DEFAULT_TOP_K = 10;
/** Ids of one fetch or deletion, whatever the index allows: they are one command. */
export const MAX_DOCUMENT_IDS = 1_000;
/** Documents that are read in one command: the owner answers them at a stretch. */
export const READ_DOCUMENTS = 100;
/** A page ends early beyond this: documents have up to some hundred kilobytes, and a page is held in memory. */
export const MAX_DOCUMENT_PAGE_BYTES = 8 * MIB;
/** Documents that are made into an answer at a stretch: about a millisecond. */
export const WRITTEN_DOCUMENTS = 100;
/** Reranked documents of one unit, as they are charged. */
export const RERANK_UNIT_DOCUMENTS = 100;
