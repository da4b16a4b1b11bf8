export * from './kv-request.js';
