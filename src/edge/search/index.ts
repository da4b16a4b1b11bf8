export { pendingDocuments } from './commands/whole-indexes.js';
export { changesDocuments, createSearchHandler } from './search-app.js';
export type { SearchHandlerParts } from './search-endpoint.js';
