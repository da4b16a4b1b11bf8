export { encryptedEngine } from './encrypted-engine.js';
export * from './sqlite-files.js';
