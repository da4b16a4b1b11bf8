/** The `cmsgpack` library of scripts: values to and from MessagePack. */
import { type ByteString, bytesOfBuffer } from '../../../kernel/index.js';
import { LUA, type State } from './lua-api.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { VALUES_A_LOOK, ValueWriter } from './value-writer.js';

/** Tables within tables; what is deeper is written as nil, which ends tables that hold themselves. */
const MAX_DEPTH = 16;
/** Values within values read: each is a call within a call. */
const MAX_READ_DEPTH = 1000;

export const MSGPACK_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['pack', pack],
  ['unpack', (machine, state) => unpack(machine, state, 0, 0)],
  ['unpack_one', (machine, state) => unpack(machine, state, 1, Math.trunc(machine.api.luaL_optnumber(state, 2, 0)))],
  [
    'unpack_limit',
    (machine, state) => {
      const limit = Math.trunc(machine.api.luaL_checknumber(state, 2));
      return unpack(machine, state, limit, Math.trunc(machine.api.luaL_optnumber(state, 3, 0)));
    },
  ],
]);

export const MSGPACK_CONSTANTS = [
  ['_NAME', 'cmsgpack'],
  ['_VERSION', 'lua-cmsgpack 0.4.0'],
  ['_COPYRIGHT', 'Copyright (C) 2012, Salvatore Sanfilippo'],
  ['_DESCRIPTION', 'MessagePack C implementation for Lua'],
] as const;

function pack(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const count = api.lua_gettop(state);
  if (count === 0) machine.failArgument(state, 0, 'MessagePack pack needs input.');
  if (api.lua_checkstack(state, count) === 0)
    machine.failArgument(state, 0, 'Too many arguments for MessagePack pack.');
  const packer = new Packer(machine, state);
  for (let i = 1; i <= count; i += 1) {
    api.lua_pushvalue(state, i);
    packer.value(0);
    machine.pop(state);
  }
  machine.push(state, packer.text());
  return 1;
}

class Packer extends ValueWriter {
  /** The value on top, which stays there. */
  value(depth: number): void {
    const { machine, state } = this;
    const { api } = machine;
    this.countValue();
    switch (api.lua_type(state, -1)) {
      case LUA.STRING: {
        const text = machine.string(state, -1) as ByteString;
        this.add(head(text.length, 0xa0, 32, [0xd9, 0xda, 0xdb]));
        this.add(text);
        return;
      }
      case LUA.BOOLEAN:
        this.add(api.lua_toboolean(state, -1) === 1 ? '\xc3' : '\xc2');
        return;
      case LUA.NUMBER:
        this.add(numberBytes(api.lua_tonumber(state, -1)));
        return;
      case LUA.TABLE:
        depth === MAX_DEPTH ? this.add('\xc0') : this.#table(depth + 1);
        return;
      default:
        this.add('\xc0');
        return;
    }
  }

  #table(depth: number): void {
    const { machine, state } = this;
    const { api } = machine;
    api.lua_checkstack(state, 3);
    const length = this.#arrayLength();
    if (length !== undefined) {
      this.add(head(length, 0x90, 16, [undefined, 0xdc, 0xdd]));
      for (let i = 1; i <= length; i += 1) {
        api.lua_rawgeti(state, -1, i);
        this.value(depth);
        machine.pop(state);
      }
      return;
    }
    let count = 0;
    api.lua_pushnil(state);
    while (api.lua_next(state, -2) !== 0) {
      machine.pop(state);
      count += 1;
    }
    this.add(head(count, 0x80, 16, [undefined, 0xde, 0xdf]));
    api.lua_pushnil(state);
    while (api.lua_next(state, -2) !== 0) {
      api.lua_pushvalue(state, -2);
      this.value(depth);
      machine.pop(state);
      this.value(depth);
      machine.pop(state);
    }
  }

  /** Undefined unless the keys are 1 … n, without a gap and at least one. */
  #arrayLength(): number | undefined {
    const { api } = this.machine;
    let max = 0;
    let count = 0;
    api.lua_pushnil(this.state);
    while (api.lua_next(this.state, -2) !== 0) {
      this.machine.pop(this.state);
      const key = api.lua_type(this.state, -1) === LUA.NUMBER ? api.lua_tonumber(this.state, -1) : 0;
      if (!(key > 0) || !Number.isInteger(key)) {
        this.machine.pop(this.state);
        return undefined;
      }
      count += 1;
      max = Math.max(max, key);
    }
    return max === count ? max : undefined;
  }
}

/** A length, in the form that is short enough: in the first byte, in one, two or four. */
function head(length: number, fixed: number, fixedBelow: number, codes: readonly (number | undefined)[]): ByteString {
  if (length < fixedBelow) return String.fromCharCode(fixed | length);
  const [one, two, four] = codes;
  if (one !== undefined && length < 0x100) return String.fromCharCode(one, length);
  if (length < 0x10000) return String.fromCharCode(two as number, length >> 8, length & 0xff);
  const bytes = Buffer.alloc(5);
  bytes[0] = four as number;
  bytes.writeUInt32BE(length, 1);
  return bytesOfBuffer(bytes);
}

/** Packs whole numbers as integers, and others as a float where that keeps them, else as a double. */
function numberBytes(number: number): ByteString {
  const bytes = Buffer.alloc(9);
  if (Number.isInteger(number) && Math.abs(number) <= 2 ** 63 && number !== 2 ** 63) return integerBytes(number, bytes);
  if (Math.fround(number) === number) {
    bytes[0] = 0xca;
    bytes.writeFloatBE(number, 1);
    return bytes.toString('latin1', 0, 5);
  }
  bytes[0] = 0xcb;
  bytes.writeDoubleBE(number, 1);
  return bytes.toString('latin1');
}

function integerBytes(number: number, bytes: Buffer): ByteString {
  const integer = number + 0;
  if (integer >= 0 ? integer <= 0x7f : integer >= -32) return String.fromCharCode(integer & 0xff);
  const isPositive = integer > 0;
  const write = (code: number, length: 1 | 2 | 4): ByteString => {
    bytes[0] = code;
    if (isPositive) bytes.writeUIntBE(integer, 1, length);
    else bytes.writeIntBE(integer, 1, length);
    return bytes.toString('latin1', 0, 1 + length);
  };
  if (isPositive ? integer <= 0xff : integer >= -0x80) return write(isPositive ? 0xcc : 0xd0, 1);
  if (isPositive ? integer <= 0xffff : integer >= -0x8000) return write(isPositive ? 0xcd : 0xd1, 2);
  if (isPositive ? integer <= 0xffffffff : integer >= -0x80000000) return write(isPositive ? 0xce : 0xd2, 4);
  bytes[0] = isPositive ? 0xcf : 0xd3;
  if (isPositive) bytes.writeBigUInt64BE(BigInt(integer), 1);
  else bytes.writeBigInt64BE(BigInt(integer), 1);
  return bytes.toString('latin1');
}

/** `limit` values at most, 0: all. With a limit the offset to go on from comes first, -1 at the end. */
function unpack(machine: LuaMachine, state: State, limit: number, offset: number): number {
  const { api } = machine;
  const data = machine.checkedString(state, 1);
  if (offset < 0 || limit < 0) {
    machine.fail(state, `Invalid request to unpack with offset of ${offset} and limit of ${data.length}.`);
  }
  if (offset > data.length) {
    machine.fail(state, `Start offset ${offset} greater than input length ${data.length}.`);
  }
  const unpacker = new Unpacker(machine, state, data, offset);
  let count = 0;
  for (; unpacker.at < data.length && (limit === 0 || count < limit); count += 1) {
    if (api.lua_checkstack(state, 1) === 0) machine.fail(state, 'too many values to unpack');
    unpacker.value();
  }
  if (limit === 0) return count;
  api.lua_pushnumber(state, unpacker.at < data.length ? unpacker.at : -1);
  api.lua_insert(state, 2);
  // What was given besides the data is not a result.
  while (api.lua_gettop(state) > count + 2) api.lua_remove(state, 3);
  return count + 1;
}

/** Of the numbers that are read. */
const WIDE = Buffer.alloc(8);

class Unpacker {
  #values = 0;
  #depth = 0;

  constructor(
    private readonly machine: LuaMachine,
    private readonly state: State,
    private readonly data: ByteString,
    public at: number,
  ) {}

  /** Leaves the next value on the stack. */
  value(): void {
    const { machine, state } = this;
    const { api } = machine;
    this.#values += 1;
    if (this.#values % VALUES_A_LOOK === 0) machine.slices.checkMeter();
    const code = this.data.charCodeAt(this.#take(1));
    if (code < 0xc0 || code >= 0xe0) this.#small(code);
    else if (code >= 0xca && code < 0xd4) api.lua_pushnumber(state, this.#number(code));
    else this.#marked(code);
  }

  /** What holds its number, or its length, in its first byte. */
  #small(code: number): void {
    const { api } = this.machine;
    if (code < 0x80) api.lua_pushnumber(this.state, code);
    else if (code >= 0xe0) api.lua_pushnumber(this.state, code - 0x100);
    else if (code < 0x90) this.#map(code & 0x0f);
    else if (code < 0xa0) this.#array(code & 0x0f);
    else this.#text(code & 0x1f);
  }

  /** What says by its first byte what follows. */
  #marked(code: number): void {
    const { machine, state } = this;
    const { api } = machine;
    switch (code) {
      case 0xc0:
        api.lua_pushnil(state);
        return;
      case 0xc2:
      case 0xc3:
        api.lua_pushboolean(state, code & 1);
        return;
      case 0xc4:
      case 0xd9:
        this.#text(this.#unsigned(1));
        return;
      case 0xc5:
      case 0xda:
        this.#text(this.#unsigned(2));
        return;
      case 0xc6:
      case 0xdb:
        this.#text(this.#unsigned(4));
        return;
      case 0xdc:
        this.#array(this.#unsigned(2));
        return;
      case 0xdd:
        this.#array(this.#unsigned(4));
        return;
      case 0xde:
        this.#map(this.#unsigned(2));
        return;
      case 0xdf:
        this.#map(this.#unsigned(4));
        return;
      default:
        machine.fail(state, 'Bad data format in input.');
    }
  }

  #number(code: number): number {
    switch (code) {
      case 0xca:
        return this.#wide(4).readFloatBE();
      case 0xcb:
        return this.#wide(8).readDoubleBE();
      case 0xcf:
        return Number(this.#wide(8).readBigUInt64BE());
      case 0xd3:
        return Number(this.#wide(8).readBigInt64BE());
      default: {
        const length = 1 << (code & 3);
        return code < 0xd0 ? this.#unsigned(length) : this.#wide(length).readIntBE(0, length);
      }
    }
  }

  /** Passes over so many bytes, and says where they begin. */
  #take(length: number): number {
    const from = this.at;
    if (from + length > this.data.length) this.machine.fail(this.state, 'Missing bytes in input.');
    this.at += length;
    return from;
  }

  /** A number that takes more than adding up its bytes. */
  #wide(length: number): Buffer {
    const from = this.#take(length);
    WIDE.write(this.data.slice(from, this.at), 0, 'latin1');
    return WIDE;
  }

  #unsigned(length: number): number {
    let number = 0;
    for (let at = this.#take(length); at < this.at; at += 1) number = number * 256 + this.data.charCodeAt(at);
    return number;
  }

  #text(length: number): void {
    const from = this.#take(length);
    this.machine.push(this.state, this.data.slice(from, this.at));
  }

  #descend(): void {
    this.#depth += 1;
    const { machine, state } = this;
    // For the table, a key and a value.
    const hasRoom = this.#depth <= MAX_READ_DEPTH && machine.api.lua_checkstack(state, 4) !== 0;
    if (!hasRoom) machine.fail(state, 'too many nested values to unpack');
    machine.api.lua_createtable(state, 0, 0);
  }

  #array(length: number): void {
    this.#descend();
    for (let i = 1; i <= length; i += 1) {
      this.value();
      this.machine.api.lua_rawseti(this.state, -2, i);
    }
    this.#depth -= 1;
  }

  #map(length: number): void {
    this.#descend();
    for (let i = 0; i < length; i += 1) {
      this.value();
      this.value();
      this.machine.api.lua_settable(this.state, -3);
    }
    this.#depth -= 1;
  }
}
