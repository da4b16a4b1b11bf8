export { pendingDocuments } from './pending-documents.js';
export type { SearchHandlerParts, SearchMonth } from './search-face.js';
export { createSearchHandler } from './search-handler.js';
