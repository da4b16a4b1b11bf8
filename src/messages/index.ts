export * from './kv-request.js';
export * from './entry.js';
export * from './manifest.js';
export * from './placement.js';
