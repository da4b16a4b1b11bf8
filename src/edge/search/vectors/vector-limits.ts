/** Limits of the data plane of vectors that are not part of an index's record, with their reasons. */

const MIB = 1024 * 1024;

/** Body of an upsert: a thousand vectors of 1,000 numbers in full precision. */
export const MAX_VECTOR_UPSERT_BYTES = 24 * MIB;
/** Stored form of one upsert: it is one entry, and one command for its owner. */
export const MAX_STORED_UPSERT_BYTES = 8 * MIB;
/** Body of a query, or of several: a hundred vectors of 4,096 numbers would be longer. */
export const MAX_VECTOR_BODY_BYTES = 4 * MIB;
/** Queries of one request. */
export const MAX_BATCH_QUERIES = 100;
/** Open resumable queries of an index: each holds its query, at most some hundred kilobytes. */
export const MAX_RESUMABLE_QUERIES = 200;
/** Seconds for which a resumable query may be idle. */
export const DEFAULT_IDLE_SECONDS = 3600;
export const MAX_IDLE_SECONDS = 86_400;
/** Ids that one `range` with a prefix looks at before it answers with a cursor. */
export const MAX_EXAMINED_IDS = 10_000;
/** Characters of a text that is embedded for a query. */
export const MAX_QUERY_TEXT_CHARACTERS = 65_536;
