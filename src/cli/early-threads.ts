/**
 * What a process that serves begins with, before the rest of the program is loaded: the read models' thread, which loads
 * meanwhile.
 */
import { setFlagsFromString } from 'node:v8';
import { beginEarly } from '../adapters/node/index.js';
import type { Environment } from '../config/index.js';
import { READ_MODELS_WORKER } from '../projections/index.js';

/**
 * What a function in WebAssembly has to run through, in bytes, until it is compiled once more, for speed: a thousand
 * times what the engine has by itself. Compiling SQLite's largest functions takes a second of a core and 40 MB at once,
 * which are given back, but not to the system. Opening the read models' files, or keeping them while nothing happens,
 * is not worth it; what is really busy is there within a second.
 */
const WASM_TIERING_BUDGET = 2_000_000_000;

/** Settings are read later. Where they say something else, nobody waits for such a thread, and it waits for nobody. */
export function beginThreadsEarly({ MILLRACE_ROLES: roles }: Environment): void {
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
  if ((roles || 'projection').includes('projection')) {
    // In the bundle all entries are in one folder.
    const folder = new URL(import.meta.url.includes('/bundle/') ? './' : '../composition/', import.meta.url);
    beginEarly(new URL('read-models-worker.js', folder), READ_MODELS_WORKER);
  }
}
