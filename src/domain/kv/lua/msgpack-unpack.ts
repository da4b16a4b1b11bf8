/** `cmsgpack.unpack` and its variants: converts MessagePack to Lua values, reading it in the machine's memory. */
import { SLICE_ITEMS } from '../steps.js';
import { LUA, type State } from './lua-api.js';
import { VALUE_BYTES } from './lua-memory.js';
import type { LuaMachine } from './machine.js';
import { RAISED } from './run-slices.js';
import { ValueWork } from './value-work.js';

/** Nesting limit of the C implementation. */
const MAX_READ_DEPTH = 1000;
/** Stack slots per open table: the table, a key, a value and one spare. */
const VALUES_OF_TABLE = 4;
/** Bytes of a string that take as long as one value. */
const BYTES_A_VALUE = 1024;
const WIDE = Buffer.alloc(8);

/** The bytes of the length after each code that has one. */
const LENGTH_BYTES = new Map([
  [0xc4, 1],
  [0xc5, 2],
  [0xc6, 4],
  [0xd9, 1],
  [0xda, 2],
  [0xdb, 4],
  [0xdc, 2],
  [0xdd, 4],
  [0xde, 2],
  [0xdf, 4],
]);

/** An open table and its enclosing tables. */
interface Filling {
  readonly above: Filling | undefined;
  readonly depth: number;
  readonly isMap: boolean;
  /** Remaining values, including keys. */
  left: number;
  /** For an array: items so far. */
  count: number;
}

export interface UnpackLimits {
  /** The most values; 0: all. */
  readonly limit: number;
  /** The byte to start at. */
  readonly offset: number;
}

/** Leaves the values on the stack; with a limit, first the offset to continue from, -1 at the end. */
export class MsgpackUnpacker extends ValueWork {
  #at: number;
  readonly #begin: number;
  readonly #end: number;
  readonly #limit: number;
  #count = 0;
  #open: Filling | undefined;
  /** Work left in the current slice. */
  #left = 0;

  /** @param data the address and length of a string that stays on the stack */
  constructor(
    machine: LuaMachine,
    state: State,
    { at, length }: { at: number; length: number },
    { limit, offset }: UnpackLimits,
  ) {
    super(machine, state);
    this.#begin = at;
    this.#at = at + offset;
    this.#end = at + length;
    this.#limit = limit;
  }

  protected override goOn(): number | undefined {
    for (this.#left = SLICE_ITEMS; this.#left > 0; this.#left -= 1) {
      if (this.#open === undefined) {
        if (!this.#wantsMore()) return this.#results();
        if (!this.machine.slices.makeRoom(this.state, 1)) return this.#fail('too many values to unpack');
      }
      if (this.#value() === RAISED) return RAISED;
    }
    return undefined;
  }

  #wantsMore(): boolean {
    return this.#at < this.#end && (this.#limit === 0 || this.#count < this.#limit);
  }

  #results(): number {
    const { api } = this.machine;
    if (this.#limit === 0) return this.#count;
    api.lua_pushnumber(this.state, this.#at < this.#end ? this.#at - this.#begin : -1);
    api.lua_insert(this.state, -this.#count - 1);
    return this.#count + 1;
  }

  #value(): typeof RAISED | undefined {
    const { api, memory } = this.machine;
    const { state } = this;
    if (this.#at >= this.#end) return this.#miss();
    const code = memory.heap[this.#at] as number;
    this.#at += 1;
    if (code < 0x80) api.lua_pushnumber(state, code);
    else if (code < 0x90) return this.#table(true, code & 0x0f);
    else if (code < 0xa0) return this.#table(false, code & 0x0f);
    else if (code < 0xc0) return this.#string(code & 0x1f);
    else if (code >= 0xe0) api.lua_pushnumber(state, code - 0x100);
    else return this.#marked(code);
    return this.#whole();
  }

  /** Reads a value by its first byte. */
  #marked(code: number): typeof RAISED | undefined {
    const { api } = this.machine;
    const { state } = this;
    if (code >= 0xca && code <= 0xd3) return this.#number(code);
    if (code === 0xc0) api.lua_pushnil(state);
    else if (code === 0xc2 || code === 0xc3) api.lua_pushboolean(state, code & 1);
    else return this.#sized(code);
    return this.#whole();
  }

  /** Reads a value with an explicit length. */
  #sized(code: number): typeof RAISED | undefined {
    const bytes = LENGTH_BYTES.get(code);
    if (bytes === undefined) return this.#fail('Bad data format in input.');
    const length = this.#unsigned(bytes);
    if (length === undefined) return this.#miss();
    if (code < 0xdc) return this.#string(length);
    return this.#table(code >= 0xde, length);
  }

  #number(code: number): typeof RAISED | undefined {
    const bytes = code === 0xca ? 4 : code === 0xcb ? 8 : 1 << (code & 3);
    const isUnsigned = code >= 0xcc && code <= 0xce;
    const number = isUnsigned ? this.#unsigned(bytes) : this.#wide(code, bytes);
    if (number === undefined) return this.#miss();
    this.machine.api.lua_pushnumber(this.state, number);
    return this.#whole();
  }

  /** Reads a float, double, signed or 64-bit number; undefined if bytes are missing. */
  #wide(code: number, bytes: number): number | undefined {
    const at = this.#take(bytes);
    if (at === undefined) return undefined;
    this.machine.heap.copy(WIDE, 0, at, at + bytes);
    switch (code) {
      case 0xca:
        return WIDE.readFloatBE();
      case 0xcb:
        return WIDE.readDoubleBE();
      case 0xcf:
        return Number(WIDE.readBigUInt64BE());
      case 0xd3:
        return Number(WIDE.readBigInt64BE());
      default:
        return WIDE.readIntBE(0, bytes);
    }
  }

  #unsigned(bytes: number): number | undefined {
    const from = this.#take(bytes);
    if (from === undefined) return undefined;
    const { heap } = this.machine;
    let number = 0;
    for (let at = from; at < from + bytes; at += 1) number = number * 256 + (heap[at] as number);
    return number;
  }

  /** Skips bytes; returns their address, or undefined if there are not enough. */
  #take(bytes: number): number | undefined {
    const from = this.#at;
    if (from + bytes > this.#end) return undefined;
    this.#at += bytes;
    return from;
  }

  #string(length: number): typeof RAISED | undefined {
    const from = this.#take(length);
    if (from === undefined) return this.#miss();
    this.machine.api.lua_pushlstring(this.state, from, length);
    this.#left -= Math.floor(length / BYTES_A_VALUE);
    return this.#whole();
  }

  #table(isMap: boolean, length: number): typeof RAISED | undefined {
    const { machine, state } = this;
    const depth = (this.#open?.depth ?? 0) + 1;
    if (depth > MAX_READ_DEPTH || !machine.slices.makeRoom(state, VALUES_OF_TABLE)) {
      return this.#fail('too many nested values to unpack');
    }
    machine.api.lua_createtable(state, 0, 0);
    if (length === 0) return this.#whole();
    this.#open = { above: this.#open, depth, isMap, left: isMap ? 2 * length : length, count: 0 };
    return undefined;
  }

  /** The value on top of the stack is complete, and possibly the tables that it completes. */
  #whole(): typeof RAISED | undefined {
    for (let open = this.#open; open !== undefined; open = open.above) {
      open.left -= 1;
      if (!open.isMap) {
        open.count += 1;
        this.machine.api.lua_rawseti(this.state, -2, open.count);
      } else if (open.left % 2 === 0 && this.#setField() === RAISED) return RAISED;
      if (open.left > 0) return undefined;
      this.#open = open.above;
    }
    this.#count += 1;
    return undefined;
  }

  /** Lua would raise an error for such a key, which is not possible after the run has paused. */
  #setField(): typeof RAISED | undefined {
    const { api, memory } = this.machine;
    const keyAt = memory.top(this.state) - 2 * VALUE_BYTES;
    const type = memory.typeAt(keyAt);
    if (type === LUA.NIL) return this.#failInLua('table index is nil');
    if (type === LUA.NUMBER && Number.isNaN(memory.numberAt(keyAt))) return this.#failInLua('table index is NaN');
    api.lua_rawset(this.state, -3);
    return undefined;
  }

  #miss(): typeof RAISED {
    return this.#fail('Missing bytes in input.');
  }

  #fail(text: string): typeof RAISED {
    return this.machine.leaveError(this.state, text);
  }

  /** Such an error has no position. */
  #failInLua(text: string): typeof RAISED {
    this.machine.push(this.state, text);
    return RAISED;
  }
}
