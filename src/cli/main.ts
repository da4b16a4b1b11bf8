#!/usr/bin/env node
/**
 * Where the program begins. `make build` makes one file of the two thousand that it consists of (infra/bundle.mjs),
 * which starts in a third of the processor time. Files that were compiled since are newer than it, and run instead.
 */
import { statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

const BUNDLED = new URL('./bundle/program.js', import.meta.url);
/** Written by every compilation; an installation has none. */
const COMPILED = new URL('../../.tsbuildinfo', import.meta.url);

/**
 * What a function in WebAssembly has to run through, in bytes, until it is compiled once more, for speed: a thousand
 * times what the engine has by itself. Compiling SQLite's largest functions takes a second of a core and 40 MB at once,
 * which are given back, but not to the system. Opening the read models' files, or keeping them while nothing happens,
 * is not worth it; what is really busy is there within a second.
 */
const WASM_TIERING_BUDGET = 2_000_000_000;

// Before anything is compiled: what is kept of that is good under the same flags only.
setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
// What an operator says of nurseries is true of this thread, which has its own by now. Other threads say what they need,
// and this would go before that.
setFlagsFromString('--max-semi-space-size=0');
await import((isCurrent() ? BUNDLED : new URL('./program.js', import.meta.url)).href);

function isCurrent(): boolean {
  const [bundled, compiled] = [BUNDLED, COMPILED].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
  return bundled !== undefined && bundled >= (compiled ?? 0);
}
