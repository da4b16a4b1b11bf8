/** The functions that the command line calls. */
export { commandParts, storageOfCommand } from './command-container.js';
export type { MadeCredentials } from './control-module.js';
export { startProcess } from './serve.js';
