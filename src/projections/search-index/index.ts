export { NamedIndex } from './named-index.js';
export { MAX_WAITING_QUERIES } from './query-turns.js';
export { rank } from './ranking.js';
export { SearchDatabase } from './search-database.js';
export { SearchIndexes, type SearchIndexesOptions, type SearchStatus } from './search-indexes.js';
export { SEARCH_WORKER, type SearchWord, watchSearch } from './search-thread.js';
export { VectorDatabase } from './vectors/vector-database.js';
export { VectorNamespace } from './vectors/vector-namespace.js';
export { rankVectors } from './vectors/vector-ranking.js';
