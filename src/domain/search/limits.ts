/** Bounds of documents, filters and queries of search indexes, with reasons. */

/**
 * Characters of a document's content as JSON text. The service with this interface documents 1500; long paragraphs
 * exceed that, and the cost of a document here grows only with its words.
 */
export const MAX_CONTENT_CHARACTERS = 4096;
/** UTF-8 bytes of a document's metadata as JSON text: it is kept in memory for filters. */
export const MAX_METADATA_BYTES = 48 * 1024;
/** Characters of a document's id, which is a member of a sorted set and part of each answer. */
export const MAX_DOCUMENT_ID_CHARACTERS = 1024;
/** Characters of an index's name, which is part of keys and paths. */
export const MAX_INDEX_NAME_CHARACTERS = 256;
/** Dimensions of a client's own vector: above those of current models. */
export const MAX_VECTOR_DIMENSIONS = 4096;
/** Levels of objects and arrays in content and metadata, because they are traversed recursively. */
export const MAX_DOCUMENT_DEPTH = 64;

/** Names of one search database, as documented for the service with this interface. */
export const MAX_INDEX_NAMES = 10_000;
/** Documents that one step of a removal by prefix or filter examines: the owner does a step without a pause. */
export const STEP_DOCUMENTS = 200;

/** Characters of a filter: a few hundred comparisons, or one list of a thousand ids. */
export const MAX_FILTER_CHARACTERS = 65_536;
/** Comparisons in a filter; all may be evaluated for each document. */
export const MAX_FILTER_COMPARISONS = 256;
/**
 * Characters of all GLOB patterns of a filter: comparing them with 48 KB of metadata takes up to a hundred million
 * steps, about 0.1 s.
 */
export const MAX_FILTER_PATTERN_CHARACTERS = 2048;
/** Values of one IN. */
export const MAX_FILTER_VALUES = 4096;
/** Nested parentheses, because the parser is recursive. */
export const MAX_FILTER_DEPTH = 64;
/** Steps of one path. */
export const MAX_FILTER_PATH_STEPS = 64;

/** Characters of a query's text; as many as a document may have. */
export const MAX_QUERY_CHARACTERS = MAX_CONTENT_CHARACTERS;
/** Different words of a query that are looked up; all count for its similarity. */
export const MAX_QUERY_WORDS = 32;
/** Hits of one query. */
export const MAX_TOP_K = 1000;
