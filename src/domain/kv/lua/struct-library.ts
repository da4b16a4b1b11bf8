/** The `struct` library of scripts: conversion to and from binary data by a format string. */
import { type ByteString, bytesOfBuffer } from '../../../kernel/index.js';
import { LUA, type State } from './lua-api.js';
import { MAX_HEAP_BYTES } from './lua-limits.js';
import type { HostFunction, LuaMachine } from './machine.js';

/** Sizes of C types on the 64-bit servers that scripts were written for. */
const INTEGER_BYTES: Readonly<Record<string, number>> = { b: 1, h: 2, l: 8, T: 8, i: 4 };
const MAX_INTEGER_BYTES = 32;
/** The size of an integer if not given. */
const DEFAULT_INTEGER_BYTES = 4;
const MAX_ALIGNMENT = 8;
/** Options parsed between two checks of the clock. */
const OPTIONS_A_LOOK = 1000;

export const STRUCT_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['pack', pack],
  ['unpack', unpack],
  ['size', size],
]);

/** Parses a format: options with their sizes, byte order and alignment. */
class Format {
  isLittle = true;
  #alignment = 1;
  #at = 0;
  #options = 0;

  constructor(
    private readonly text: ByteString,
    private readonly machine: LuaMachine,
    private readonly state: State,
  ) {}

  /** The next option for data or padding; undefined at the end. */
  next(): { option: string; bytes: number } | undefined {
    while (this.#at < this.text.length) {
      const option = this.text[this.#at] as string;
      this.#at += 1;
      if (option === '\0') return undefined;
      this.#options += 1;
      if (this.#options % OPTIONS_A_LOOK === 0) this.machine.slices.checkMeter();
      if (this.#configures(option)) continue;
      return { option, bytes: this.#bytesOf(option) };
    }
    return undefined;
  }

  /** Bytes to skip before an option of that size at that offset. */
  padding(option: string, bytes: number, offset: number): number {
    if (bytes === 0 || option === 'c' || option === 'x') return 0;
    const align = Math.min(bytes, this.#alignment);
    if (align <= 1) return 0;
    return (align - (offset & (align - 1))) & (align - 1);
  }

  #configures(option: string): boolean {
    if (option === ' ') return true;
    if (option === '<' || option === '>') this.isLittle = option === '<';
    else if (option === '!') {
      const align = this.#number(MAX_ALIGNMENT);
      if (align === 0 || (align & (align - 1)) !== 0) {
        this.machine.fail(this.state, `alignment ${align} is not a power of 2`);
      }
      this.#alignment = align;
    } else return false;
    return true;
  }

  #bytesOf(option: string): number {
    if (option === 'i' || option === 'I') {
      const bytes = this.#number(DEFAULT_INTEGER_BYTES);
      if (bytes > MAX_INTEGER_BYTES) {
        this.machine.fail(this.state, `integral size ${bytes} is larger than limit of ${MAX_INTEGER_BYTES}`);
      }
      return bytes;
    }
    if (option === 'f') return 4;
    if (option === 'd') return 8;
    if (option === 'x') return 1;
    if (option === 'c') return this.#number(1);
    if (option === 's') return 0;
    const bytes = INTEGER_BYTES[option.toLowerCase()] ?? INTEGER_BYTES[option];
    return bytes !== undefined && /[bBhHlLT]/.test(option) ? bytes : 0;
  }

  #number(fallback: number): number {
    const digits = /^[0-9]+/.exec(this.text.slice(this.#at, this.#at + 12))?.[0];
    if (digits === undefined) return fallback;
    this.#at += digits.length;
    const number = Number(digits);
    if (number > 2 ** 31 - 1) this.machine.fail(this.state, 'integral size overflow');
    return number;
  }
}

const isSigned = (option: string): boolean => option >= 'a';
const isInteger = (option: string): boolean => /[bBhHlLTiI]/.test(option);

function pack(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const format = new Format(machine.checkedString(state, 1), machine, state);
  const pieces: ByteString[] = [];
  let total = 0;
  let argument = 2;
  // A nil, so that a missing argument gives the library's error.
  api.lua_pushnil(state);
  const add = (piece: ByteString): void => {
    total += piece.length;
    if (total > MAX_HEAP_BYTES) machine.refuseMemory();
    pieces.push(piece);
  };
  for (let item = format.next(); item !== undefined; item = format.next()) {
    const { option, bytes } = item;
    add('\0'.repeat(format.padding(option, bytes, total)));
    if (option === 'x') add('\0');
    else if (isInteger(option)) {
      add(integerBytes(api.luaL_checknumber(state, argument), bytes, format.isLittle));
      argument += 1;
    } else if (option === 'f' || option === 'd') {
      add(floatBytes(api.luaL_checknumber(state, argument), bytes, format.isLittle));
      argument += 1;
    } else if (option === 'c' || option === 's') {
      const text = machine.checkedString(state, argument);
      const length = option === 'c' && bytes > 0 ? bytes : text.length;
      if (text.length < length) machine.failArgument(state, argument + 1, 'string too short');
      add(text.slice(0, length));
      if (option === 's') add('\0');
      argument += 1;
    } else unknown(machine, state, option);
  }
  machine.push(state, pieces.join(''));
  return 1;
}

function unpack(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const format = new Format(machine.checkedString(state, 1), machine, state);
  const data = machine.checkedString(state, 2);
  let offset = Math.trunc(api.luaL_optnumber(state, 3, 1)) - 1;
  if (!(offset >= 0)) machine.failArgument(state, 3, 'offset must be 1 or greater');
  let count = 0;
  for (let item = format.next(); item !== undefined; item = format.next()) {
    const { option } = item;
    let { bytes } = item;
    offset += format.padding(option, bytes, offset);
    if (bytes > data.length - offset) machine.failArgument(state, 2, 'data string too short');
    if (api.lua_checkstack(state, 3) === 0) machine.fail(state, 'too many results');
    if (option === 'x') {
      offset += bytes;
      continue;
    }
    if (isInteger(option)) {
      api.lua_pushnumber(state, readInteger(data, offset, bytes, format.isLittle, isSigned(option)));
    } else if (option === 'f' || option === 'd') {
      api.lua_pushnumber(state, readFloat(data, offset, bytes, format.isLittle));
    } else if (option === 'c') {
      if (bytes === 0) {
        // The size is the number just read.
        if (count === 0 || api.lua_type(state, -1) !== LUA.NUMBER) {
          machine.fail(state, "format 'c0' needs a previous size");
        }
        bytes = Math.trunc(api.lua_tonumber(state, -1));
        machine.pop(state);
        count -= 1;
        if (bytes < 0 || bytes > data.length - offset) machine.failArgument(state, 2, 'data string too short');
      }
      machine.push(state, data.slice(offset, offset + bytes));
    } else if (option === 's') {
      const end = data.indexOf('\0', offset);
      if (end === -1) machine.fail(state, 'unfinished string in data');
      machine.push(state, data.slice(offset, end));
      bytes = end - offset + 1;
    } else unknown(machine, state, option);
    offset += bytes;
    count += 1;
  }
  api.lua_pushnumber(state, offset + 1);
  return count + 1;
}

function size(machine: LuaMachine, state: State): number {
  const format = new Format(machine.checkedString(state, 1), machine, state);
  let total = 0;
  for (let item = format.next(); item !== undefined; item = format.next()) {
    const { option, bytes } = item;
    if (option === 's') machine.failArgument(state, 1, "option 's' has no fixed size");
    if (option === 'c' && bytes === 0) machine.failArgument(state, 1, "option 'c0' has no fixed size");
    total += format.padding(option, bytes, total) + bytes;
  }
  machine.api.lua_pushnumber(state, total);
  return 1;
}

function unknown(machine: LuaMachine, state: State, option: string): never {
  return machine.failArgument(state, 1, `invalid format option '${option}'`);
}

function integerBytes(number: number, bytes: number, isLittle: boolean): ByteString {
  let value = Number.isFinite(number) ? BigInt.asUintN(64, BigInt(Math.trunc(number))) : 1n << 63n;
  const result = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i += 1) {
    result[isLittle ? i : bytes - 1 - i] = Number(value & 0xffn);
    value >>= 8n;
  }
  return bytesOfBuffer(result);
}

function readInteger(data: ByteString, offset: number, bytes: number, isLittle: boolean, signed: boolean): number {
  let value = 0n;
  const counted = Math.min(bytes, 8);
  for (let i = 0; i < counted; i += 1) {
    const at = isLittle ? offset + counted - 1 - i : offset + bytes - counted + i;
    value = (value << 8n) | BigInt(data.charCodeAt(at));
  }
  return Number(signed ? BigInt.asIntN(counted * 8, value) : value);
}

const view = Buffer.alloc(8);

function floatBytes(number: number, bytes: number, isLittle: boolean): ByteString {
  if (bytes === 4) isLittle ? view.writeFloatLE(number) : view.writeFloatBE(number);
  else isLittle ? view.writeDoubleLE(number) : view.writeDoubleBE(number);
  return view.toString('latin1', 0, bytes);
}

function readFloat(data: ByteString, offset: number, bytes: number, isLittle: boolean): number {
  view.write(data.slice(offset, offset + bytes), 0, 'latin1');
  if (bytes === 4) return isLittle ? view.readFloatLE(0) : view.readFloatBE(0);
  return isLittle ? view.readDoubleLE(0) : view.readDoubleBE(0);
}
