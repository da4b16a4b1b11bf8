#!/usr/bin/env node
/**
 * The entry of the program. `make build` bundles its two thousand files into a few (infra/bundle.mjs), which start in a
 * third of the processor time. If files were compiled after the bundle, they run instead.
 */
import { statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const BUNDLED = new URL('./bundle/program.js', import.meta.url);
/** Written by every compilation; an installation has none. */
const COMPILED = new URL('../../.tsbuildinfo', import.meta.url);
/** Part of the installation: a directory that others can write, or that is copied with data, could contain other code. */
const COMPILE_CACHE = new URL('./compiled/', import.meta.url);

/**
 * Bytes of a WebAssembly function that must be executed before it is compiled again with optimisation: a thousand
 * times the engine's default. Compiling SQLite's largest functions takes a second of a core and 40 MB of memory,
 * which the process keeps. That is not worth it for opening the read models' files or for an idle process. Lua has
 * its own budget (src/domain/kv/lua/lua-binary.ts), because scripts would not reach this one for hours.
 */
const WASM_TIERING_BUDGET = 2_000_000_000;

// Set before any compilation: cached code is only valid under the same flags.
setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
// An operator's setting of semi-spaces applies to this thread, which already has its own. Other threads set theirs,
// and this flag would take precedence.
setFlagsFromString('--max-semi-space-size=0');
const isBundled = isCurrent();
if (isBundled) cacheCompiledCode();
await import((isBundled ? BUNDLED : new URL('./program.js', import.meta.url)).href);

function isCurrent(): boolean {
  const [bundled, compiled] = [BUNDLED, COMPILED].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
  return bundled !== undefined && bundled >= (compiled ?? 0);
}

/** Node.js 20 has no compile cache. A directory that cannot be written is ignored. */
function cacheCompiledCode(): void {
  const { enableCompileCache } = module as typeof module & { enableCompileCache?(directory: string): unknown };
  enableCompileCache?.(process.env.NODE_COMPILE_CACHE || fileURLToPath(COMPILE_CACHE));
  // Threads and the processes of jobs read the variable.
  process.env.NODE_COMPILE_CACHE ||= fileURLToPath(COMPILE_CACHE);
}
