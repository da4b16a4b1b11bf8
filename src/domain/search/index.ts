/** Search indexes: the stored form of documents, the filter language, the words of a text, postings and their score. Pure. */

export { type DocumentLayout, SEARCH_LAYOUT, VECTOR_LAYOUT } from './document-layout.js';
export { DOCUMENT_WRITES, type DocumentWrite, type DocumentWrites, VECTOR_WRITES } from './document-writes.js';
export * from './documents.js';
export { type Embedding, HashedNgrams } from './embedding.js';
export { FilterMeter } from './filter-glob.js';
export { parseFilter } from './filter-parser.js';
export {
  compileFilter,
  compileFilterParts,
  type FilterCondition,
  type FilteredDocument,
  type FilterParts,
  type FilterPredicate,
  predicateOf,
} from './filter-predicate.js';
export type { FilterLiteral, FilterNode, FilterPath } from './filter-tree.js';
export { FirstItems } from './first-items.js';
export { type IdRange, rangeAfter, rangeOf } from './id-range.js';
export * from './limits.js';
export * from './postings.js';
export { type SearchableText, searchableText } from './searchable-text.js';
export * from './vectors/index.js';
export { MAX_WORD_CHARACTERS, wordsOf } from './words.js';
export type { HeldKeys, WriteDecision } from './write-decision.js';
