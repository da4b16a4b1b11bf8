/**
 * Lua 5.1 as a WebAssembly module from the published package, compiled once per process. Only the package's binary is
 * used: it exports the C API by name, so that strings stay bytes, and it can reach only the imports that `machine.ts`
 * provides.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/**
 * Bytes of a function that must be executed before the engine optimises it: V8's default in Node.js 20. Optimised
 * scripts take a tenth less time, and all of Lua takes no measurable memory.
 */
const LUA_TIERING_BUDGET = 1_800_000;
/** The program's budget for all other modules; `src/cli/main.ts` has the reason. */
export const WASM_TIERING_BUDGET = 2_000_000_000;

let compiled: WebAssembly.Module | undefined;
const shims = new Map<number, WebAssembly.Module>();

/** @throws Error when the package is not installed */
export function luaBinary(): WebAssembly.Module {
  if (compiled === undefined) {
    const entry = createRequire(import.meta.url).resolve('wasmoon-lua5.1');
    const bytes = readFileSync(join(dirname(entry), 'liblua5.1.wasm'));
    // A module keeps the budget that the flag has while it is created.
    setFlagsFromString(`--wasm-tiering-budget=${LUA_TIERING_BUDGET}`);
    try {
      compiled = new WebAssembly.Module(bytes);
    } finally {
      setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
    }
  }
  return compiled;
}

const I32 = 0x7f;

/**
 * A module that re-exports its imports as functions for a WebAssembly table: `f0` … with one i32 parameter and an i32
 * result (the type of a Lua C function), and `hook` with two parameters and no result.
 */
export function functionShim(count: number): WebAssembly.Module {
  const known = shims.get(count);
  if (known !== undefined) return known;
  const names = [...Array.from({ length: count }, (_, i) => `f${i}`), 'hook'];
  const typeOf = (index: number): number => (index === count ? 1 : 0);
  const types = vector([
    [0x60, ...vector([[I32]]), ...vector([[I32]])],
    [0x60, ...vector([[I32], [I32]]), ...vector([])],
  ]);
  const imports = vector(names.map((name, i) => [...text('host'), ...text(name), 0, typeOf(i)]));
  const exports = vector(names.map((name, i) => [...text(name), 0, ...leb(i)]));
  const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section(1, types), ...section(2, imports), ...section(7, exports)];
  const shim = new WebAssembly.Module(Uint8Array.from(bytes));
  shims.set(count, shim);
  return shim;
}

function section(id: number, body: readonly number[]): number[] {
  return [id, ...leb(body.length), ...body];
}

function vector(items: readonly (readonly number[])[]): number[] {
  return [...leb(items.length), ...items.flat()];
}

function text(name: string): number[] {
  return vector([...name].map((letter) => [letter.charCodeAt(0)]));
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >> 7)];
}
