export * from './bytes.js';
export * from './errors.js';
export * from './ids.js';
export * from './random-source.js';
