/** How deep, long and many things of the JSON family may be, each with its reason. */

/** Containers within containers, as the module of Redis has it; everything that walks a document relies on it. */
export const MAX_JSON_DEPTH = 128;

/** Bytes of a path a client sends: long enough for any that is meant, short enough to be read at once. */
export const MAX_PATH_BYTES = 16 * 1024;

/** Steps of a path: each goes a level down, and no document is deeper than this. */
export const MAX_PATH_SEGMENTS = MAX_JSON_DEPTH;

/** Comparisons, brackets and negations in the filters of one path: each is evaluated for every candidate. */
export const MAX_FILTER_TERMS = 64;

/** Bytes of a regular expression in a filter: a text of n bytes costs at most n times this many steps. */
export const MAX_PATTERN_BYTES = 256;

/** Bytes of a string that is matched against one: with the longest pattern about 30 ms, with others far less. */
export const MAX_MATCHED_BYTES = 16 * 1024;

/** Values that the filters of one command may look at: some seconds, in slices; filters within filters multiply. */
export const MAX_FILTER_VISITS = 10_000_000;

/** Compiled paths that are remembered, about 1 KB each; programs use few and use them often. */
export const MAX_CACHED_PATHS = 512;

/** A longer path is compiled each time. */
export const MAX_CACHED_PATH_BYTES = 256;

/** Documents and texts from here on are worked on in slices: reading this much takes some 5 ms. */
export const LONG_JSON_BYTES = 256 * 1024;

/** Values met between two slices: less than a millisecond. */
export const SLICE_VALUES = 4096;

/** Commands that rebuild a document are about this long at most, unless one string is longer. */
export const REBUILD_CHUNK_BYTES = 48 * 1024;
