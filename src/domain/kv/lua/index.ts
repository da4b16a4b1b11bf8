/** Scripts and functions in Lua 5.1. */
export { functionHost } from './function-host.js';
export { libraryHeader } from './library-loading.js';
export type { State } from './lua-api.js';
export { MAX_LIBRARIES, MAX_LIBRARIES_BYTES, MAX_LIBRARY_BYTES } from './lua-limits.js';
export { scriptHost } from './script-host.js';
export { newScriptRun, type RegisteredFunction } from './script-run.js';
