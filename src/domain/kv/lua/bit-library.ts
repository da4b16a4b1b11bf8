/** The `bit` library of scripts: 32-bit operations on numbers. */
import type { State } from './lua-api.js';
import { LUA } from './lua-api.js';
import type { HostFunction, LuaMachine } from './machine.js';

export const BIT_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['tobit', (machine, state) => result(machine, state, bits(machine, state, 1))],
  ['bnot', (machine, state) => result(machine, state, ~bits(machine, state, 1))],
  ['bswap', (machine, state) => result(machine, state, swapped(bits(machine, state, 1)))],
  ['band', folded((a, b) => a & b)],
  ['bor', folded((a, b) => a | b)],
  ['bxor', folded((a, b) => a ^ b)],
  ['lshift', shifted((a, by) => a << by)],
  ['rshift', shifted((a, by) => a >>> by)],
  ['arshift', shifted((a, by) => a >> by)],
  ['rol', shifted((a, by) => (a << by) | (a >>> (32 - by)))],
  ['ror', shifted((a, by) => (a >>> by) | (a << (32 - by)))],
  ['tohex', toHex],
]);

/** Adding 2^52 + 2^51, as in the C library, rounds to even and leaves the integer in the low 32 bits. */
const ROUNDER = 2 ** 52 + 2 ** 51;
const view = new DataView(new ArrayBuffer(8));

function bits(machine: LuaMachine, state: State, argument: number): number {
  // Accepts numbers and numeric strings; other types raise the library's error.
  const number = machine.api.luaL_checknumber(state, argument);
  view.setFloat64(0, number + ROUNDER);
  return view.getInt32(4);
}

function result(machine: LuaMachine, state: State, value: number): number {
  machine.api.lua_pushnumber(state, value | 0);
  return 1;
}

function folded(fold: (a: number, b: number) => number): HostFunction {
  return (machine, state) => {
    let value = bits(machine, state, 1);
    for (let i = machine.api.lua_gettop(state); i > 1; i -= 1) value = fold(value, bits(machine, state, i));
    return result(machine, state, value);
  };
}

function shifted(shift: (value: number, by: number) => number): HostFunction {
  return (machine, state) => result(machine, state, shift(bits(machine, state, 1), bits(machine, state, 2) & 31));
}

function swapped(value: number): number {
  return (value >>> 24) | ((value >>> 8) & 0xff00) | ((value << 8) & 0xff0000) | (value << 24);
}

function toHex(machine: LuaMachine, state: State): number {
  const value = bits(machine, state, 1);
  const wanted = machine.api.lua_type(state, 2) < LUA.NIL ? 8 : bits(machine, state, 2);
  const digits = Math.min(8, Math.abs(wanted));
  const text = digits === 0 ? '' : (value >>> 0).toString(16).padStart(8, '0').slice(-digits);
  machine.push(state, wanted < 0 ? text.toUpperCase() : text);
  return 1;
}
