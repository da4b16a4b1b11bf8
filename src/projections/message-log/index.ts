export { MAX_PAGE_BYTES } from './log-reader.js';
export { MessageLogStore, type MessageLogStoreOptions } from './message-log-store.js';
export { DEFAULT_RETENTION, type RetentionLimits } from './retention.js';
