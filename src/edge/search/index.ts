export { pendingDocuments } from './commands/whole-indexes.js';
export type { SearchHandlerParts } from './search-face.js';
export { changesDocuments, createSearchHandler, type SearchHandler, searchMiddleware } from './search-handler.js';
