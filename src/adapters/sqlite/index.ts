export * from './sqlite-files.js';
