/**
 * Lua 5.1 as a WebAssembly module from the published package, compiled once per process. Only the package's binary is
 * used: it exports the C API by name, so that strings stay bytes, and it can reach only the imports that `machine.ts`
 * provides.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

let compiled: WebAssembly.Module | undefined;
const shims = new Map<number, WebAssembly.Module>();

/** @throws Error when the package is not installed */
export function luaBinary(): WebAssembly.Module {
  if (compiled === undefined) {
    const entry = createRequire(import.meta.url).resolve('wasmoon-lua5.1');
    compiled = new WebAssembly.Module(readFileSync(join(dirname(entry), 'liblua5.1.wasm')));
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
