export * from './clock.js';
export * from './files.js';
export * from './json-log.js';
export * from './process-watch.js';
export * from './prom-metrics.js';
export * from './random.js';
export * from './timers.js';
export * from './worker-compactor.js';
