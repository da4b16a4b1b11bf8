export * from './acl/index.js';
export * from './admin/index.js';
export { type Refusal, refusalOf } from './error-map.js';
export * from './kv/index.js';
export * from './management/index.js';
export * from './queue/index.js';
export * from './resp/index.js';
export * from './search/index.js';
export { type AliasWords, type Spelling, type WireHeader, WireSpellings } from './wire-alias.js';
