/** Limits of the JSON family, each with its reason. */

/** Nested containers, as in Redis's JSON module; code that traverses a document relies on it. */
export const MAX_JSON_DEPTH = 128;

/** Bytes of a client's path: enough for practical paths, and short enough to parse in one go. */
export const MAX_PATH_BYTES = 16 * 1024;

/** Steps of a path: each goes down one level, and no document is deeper. */
export const MAX_PATH_SEGMENTS = MAX_JSON_DEPTH;

/** Comparisons, brackets and negations in the filters of one path: each is evaluated for every candidate. */
export const MAX_FILTER_TERMS = 64;

/** Bytes of a regular expression in a filter: matching n bytes takes at most n times this many steps. */
export const MAX_PATTERN_BYTES = 256;

/** Bytes of a string matched against a regular expression: about 30 ms with the longest pattern, usually far less. */
export const MAX_MATCHED_BYTES = 16 * 1024;

/** Values that the filters of one command may visit: some seconds, in slices; nested filters multiply. */
export const MAX_FILTER_VISITS = 10_000_000;

/** Cached compiled paths, about 1 KB each; programs use few paths and use them often. */
export const MAX_CACHED_PATHS = 512;

/** A longer path is compiled each time. */
export const MAX_CACHED_PATH_BYTES = 256;

/** Documents and texts of at least this size are processed in slices: parsing this much takes about 5 ms. */
export const LONG_JSON_BYTES = 256 * 1024;

/** Values processed per slice: less than a millisecond. */
export const SLICE_VALUES = 4096;

/** The approximate maximum length of commands that rebuild a document, unless a single string is longer. */
export const REBUILD_CHUNK_BYTES = 48 * 1024;
