/** Bounds of documents, filters and queries of search indexes, with the reason for each. */

/**
 * Characters of a document's content as JSON text. The service whose interface this is documents 1500; long
 * paragraphs are longer, and what a document costs here grows with its words alone.
 */
export const MAX_CONTENT_CHARACTERS = 4096;
/** UTF-8 bytes of a document's metadata as JSON text: it is kept in memory for filters. */
export const MAX_METADATA_BYTES = 48 * 1024;
/** Characters of a document's id; it is a member of a sorted set and a part of each answer. */
export const MAX_DOCUMENT_ID_CHARACTERS = 1024;
/** Characters of an index's name; it is a part of keys and of paths. */
export const MAX_INDEX_NAME_CHARACTERS = 256;
/** A client's own vector may have so many: what models give today, and some more. */
export const MAX_VECTOR_DIMENSIONS = 4096;
/** Levels of objects and arrays in content and metadata: what walks through them is recursive. */
export const MAX_DOCUMENT_DEPTH = 64;

/** Documented for the service whose interface this is: names of one search database. */
export const MAX_INDEX_NAMES = 10_000;
/** Documents that one step of a removal by prefix or filter looks at: the owner does a step at a stretch. */
export const STEP_DOCUMENTS = 200;

/** Characters of a filter: a few hundred comparisons, or one list of a thousand ids. */
export const MAX_FILTER_CHARACTERS = 65_536;
/** Comparisons in a filter; all may have to be made for each document. */
export const MAX_FILTER_COMPARISONS = 256;
/** Values of one IN. */
export const MAX_FILTER_VALUES = 4096;
/** Parentheses within each other: the parser is recursive. */
export const MAX_FILTER_DEPTH = 64;
/** Steps of one path. */
export const MAX_FILTER_PATH_STEPS = 64;

/** Characters of a query's text; as much as a document may have. */
export const MAX_QUERY_CHARACTERS = MAX_CONTENT_CHARACTERS;
/** Different words of a query that are looked up; all count for its likeness. */
export const MAX_QUERY_WORDS = 32;
/** Hits of one query. */
export const MAX_TOP_K = 1000;
