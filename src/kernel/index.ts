export * from './byte-budget.js';
export * from './bytes.js';
export * from './called-url.js';
export * from './errors.js';
export * from './ids.js';
export * from './random-source.js';
export * from './read-url.js';
export * from './remembered.js';
