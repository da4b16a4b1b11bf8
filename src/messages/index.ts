export * from './control-meter.js';
export * from './control-notice.js';
export * from './control-placement.js';
export * from './control-secrets.js';
export * from './entry.js';
export * from './kv-request.js';
export * from './manifest.js';
export * from './placement.js';
