export * from './manual-time.js';
export * from './memory-bus.js';
export * from './memory-intake-log.js';
export * from './memory-journal.js';
export * from './memory-lease-store.js';
export * from './memory-meter-log.js';
export * from './memory-object-store.js';
