/** Scripts and functions in Lua 5.1. */
export { functionHost } from './function-host.js';
export { libraryHeader, type RegisteredFunction } from './library-loading.js';
export type { State } from './lua-api.js';
export { MAX_LIBRARIES, MAX_LIBRARY_BYTES } from './lua-limits.js';
export { scriptHost } from './script-host.js';
export { newScriptRun } from './script-run.js';
