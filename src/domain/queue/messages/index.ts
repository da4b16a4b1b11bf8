/** Messages: accepted, found, cancelled, forgotten; their bodies, and by what a repetition is known. */
export type { BodySink } from './bodies.js';
export * from './deduplication-key.js';
export * from './message-filter.js';
export * from './trimmed-body.js';
