export * from './kv-request.js';
export * from './entry.js';
