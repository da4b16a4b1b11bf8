/** The functions that the command line calls. */
export { commandParts, storageOfCommand } from './command-container.js';
export type { MadeCredentials } from './control-module.js';
export { copiedParts } from './copy-installation.js';
export { type RunningProcess, startProcess } from './serve.js';
