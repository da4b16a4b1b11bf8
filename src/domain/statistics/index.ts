export * from './instants.js';
export * from './periods.js';
export * from './prices.js';
export * from './usage.js';
