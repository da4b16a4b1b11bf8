export { pendingDocuments } from './pending-documents.js';
export type { SearchHandlerParts } from './search-face.js';
export { createSearchHandler } from './search-handler.js';
