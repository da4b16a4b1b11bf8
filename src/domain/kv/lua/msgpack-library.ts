/** The `cmsgpack` library of scripts: values to and from MessagePack. */
import type { ByteString } from '../../../kernel/index.js';
import type { State } from './lua-api.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { MsgpackPacker } from './msgpack-pack.js';

/** Values within values read: each is a call within a call. */
const MAX_READ_DEPTH = 1000;
/** Values read between two looks at the clock. */
const VALUES_A_LOOK = 1000;

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

/** Those that may work in steps. */
export const MSGPACK_IN_STEPS: readonly HostFunction[] = [pack];

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
  return new MsgpackPacker(machine, state, count).run();
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
