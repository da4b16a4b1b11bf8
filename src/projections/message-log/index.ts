export { MessageLogStore, type MessageLogStoreOptions } from './message-log-store.js';
export { MAX_PAGE_BYTES } from './page-parts.js';
export { DEFAULT_RETENTION, type RetentionLimits } from './retention.js';
