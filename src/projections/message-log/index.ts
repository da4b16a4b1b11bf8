export { MessageLogStore } from './message-log-store.js';
export type { RetentionLimits } from './retention.js';
