export { type Refusal, refusalOf } from './error-map.js';
export * from './kv/index.js';
export { type AliasWords, type Spelling, type WireHeader, WireSpellings } from './wire-alias.js';
