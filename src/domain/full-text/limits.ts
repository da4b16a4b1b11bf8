/** Bounds of full-text indexes and of their queries, with reasons. */

/** Indexes of one database: each looks at every changed key. */
export const MAX_INDEXES = 32;
/** Fields of one index. */
export const MAX_FIELDS = 128;
/** Key prefixes of one index; each is compared with every changed key. */
export const MAX_PREFIXES = 64;
/** Characters of a field's path. */
export const MAX_PATH_CHARACTERS = 512;
/** Aliases of one database. */
export const MAX_ALIASES = 256;
/** Values of one field of one document; further ones are left out. */
export const MAX_FIELD_VALUES = 1000;
/** Characters of one value of a text field that are searched. */
export const MAX_FIELD_CHARACTERS = 256 * 1024;
/** Characters of a keyword or facet, which is in memory as a whole; longer ones are left out. */
export const MAX_KEYWORD_CHARACTERS = 32_768;
/** Levels of a facet, each of which is a value; deeper ones are left out. */
export const MAX_FACET_LEVELS = 64;
/** Words of one text field of one document; further ones are left out. Positions are numbers of 16 bits. */
export const MAX_FIELD_WORDS = 60_000;

/** Bytes of a filter, and of a list of aggregations. */
export const MAX_FILTER_BYTES = 64 * 1024;
/** Conditions of one filter. */
export const MAX_CLAUSES = 256;
/** Levels of boolean operators, because filters are evaluated recursively. */
export const MAX_CLAUSE_DEPTH = 32;
/** Values of one `$in`. */
export const MAX_IN_VALUES = 1000;
/** Words of one condition. */
export const MAX_CLAUSE_WORDS = 64;
/** Words of an index that one prefix, misspelling or regular expression stands for; those of most documents. */
export const MAX_EXPANDED_TERMS = 1024;
/** Characters of a word or whole text to which similar ones are found; to a longer text only equal ones are. */
export const MAX_SIMILAR_CHARACTERS = 256;
/** Regular expressions of one filter: compiling one takes up to 3 ms. */
export const MAX_REGEXES = 8;
/** Characters of a text that a regular expression finds: each may take 15 µs. */
export const MAX_REGEX_TEXT_CHARACTERS = 1024;
/** Characters of a regular expression. */
export const MAX_REGEX_CHARACTERS = 128;
/** The product of all counted repetitions of a regular expression, which multiply its program. */
export const MAX_REGEX_REPETITIONS = 64;

/** Answers of one query, as documented for the service with these commands. */
export const MAX_RESULTS = 1000;
export const DEFAULT_RESULTS = 10;
export const MAX_RESULT_OFFSET = 10_000;
/** Fields of one SCOREFUNC. */
export const MAX_SCORE_FIELDS = 16;
/** Bytes of texts in which one query marks words. */
export const MAX_HIGHLIGHTED_BYTES = 1024 * 1024;

/** Aggregations of one command, nested ones included. */
export const MAX_AGGREGATIONS = 64;
/** Levels of nested aggregations. */
export const MAX_AGGREGATION_DEPTH = 8;
/** Buckets of one answer, nested ones included. */
export const MAX_BUCKETS = 10_000;
/** Buckets that one partition sends for an answer about several; each has a few dozen bytes. */
export const MAX_SHARED_BUCKETS = 20_000;
/** Different values that one partition sends for a percentile or cardinality: about a megabyte. */
export const MAX_SHARED_VALUES = 50_000;

/** Postings, values or documents examined between two pauses: about a millisecond. */
export const SLICE_POSTINGS = 20_000;
/** Words of an index examined between two pauses, where each takes longer than a posting. */
export const SLICE_TERMS = 2000;
/** Words of documents that are added between two pauses. */
export const SLICE_ADDED_WORDS = 1000;
/** Characters that are split into words, or hashed, between two pauses. */
export const SLICE_CHARACTERS = 8192;
/** Characters that a regular expression reads between two pauses. */
export const SLICE_REGEX_CHARACTERS = 512;
/** Pairs of characters that are compared between two pauses while similar words are looked for. */
export const SLICE_COMPARISONS = 64_000;
