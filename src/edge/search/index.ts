export { pendingDocuments } from './pending-documents.js';
export type { SearchHandlerParts } from './search-face.js';
export { changesDocuments, createSearchHandler } from './search-handler.js';
