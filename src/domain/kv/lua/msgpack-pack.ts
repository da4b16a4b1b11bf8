/** `cmsgpack.pack`: writes Lua values as MessagePack. */
import { LUA, type State } from './lua-api.js';
import { VALUE_BYTES } from './lua-memory.js';
import type { LuaMachine } from './machine.js';
import { OpenTable } from './open-table.js';
import { ValueWriter, WRITTEN } from './value-writer.js';

/** Nested tables; a deeper table is written as nil, which also ends tables that contain themselves. */
const MAX_DEPTH = 16;
const NIL = 0xc0;
const FALSE = 0xc2;
const TRUE = 0xc3;

/** Codes of a length: combined with it (if below the bound), or before one, two or four bytes of it. */
type LengthCodes = readonly [fixed: number, below: number, one: number | undefined, two: number, four: number];
const TEXT: LengthCodes = [0xa0, 32, 0xd9, 0xda, 0xdb];
const ARRAY: LengthCodes = [0x90, 16, undefined, 0xdc, 0xdd];
const MAP: LengthCodes = [0x80, 16, undefined, 0xde, 0xdf];

/** Packs all values on the stack; leaves the bytes there. */
export class MsgpackPacker extends ValueWriter {
  /** Values of the stack that remain to be written. */
  #given: number;

  constructor(machine: LuaMachine, state: State, given: number) {
    super(machine, state, 1);
    this.#given = given;
  }

  protected override next(): typeof WRITTEN | undefined {
    const { open } = this;
    if (open !== undefined) {
      if (open.length >= 0) this.#item(open);
      else this.#field(open);
      return undefined;
    }
    if (this.#given === 0) return WRITTEN;
    this.#given -= 1;
    this.#value(this.machine.memory.top(this.state) - (this.#given + 1) * VALUE_BYTES);
    return undefined;
  }

  #item(open: OpenTable): void {
    if (open.place === open.length) {
      this.open = open.above;
      return;
    }
    open.place += 1;
    this.#value(open.itemAt(open.place));
  }

  #field(open: OpenTable): void {
    const { place } = open;
    if (open.hasKey) {
      open.hasKey = false;
      open.place += 1;
      this.#value(open.valueAt(place));
    } else if (open.isAtValue()) this.#key(open);
    else this.open = open.above;
  }

  #key(open: OpenTable): void {
    open.hasKey = true;
    const at = open.keyAt(open.place);
    if (at !== undefined) this.#value(at);
    else {
      this.countValue();
      this.#number(open.place + 1);
    }
  }

  /** @param at address of the value; undefined: nil */
  #value(at: number | undefined): void {
    const { memory } = this.machine;
    this.countValue();
    const type = at === undefined ? LUA.NIL : memory.typeAt(at);
    if (at === undefined) this.byte(NIL);
    else if (type === LUA.STRING) {
      this.#length(memory.stringLengthAt(at), TEXT);
      this.string(at);
    } else if (type === LUA.NUMBER) this.#number(memory.numberAt(at));
    else if (type === LUA.TABLE) this.#table(at);
    else if (type === LUA.BOOLEAN) this.byte(memory.isZeroAt(at) ? FALSE : TRUE);
    else this.byte(NIL);
  }

  /** An array if the keys are 1 … n without a gap, including the empty table. */
  #table(at: number): void {
    const depth = (this.open?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH) {
      this.byte(NIL);
      return;
    }
    const table = new OpenTable(this.machine.memory, at, this.open, depth);
    table.measure();
    this.countPlaces(table.places);
    if (table.length >= 0 && table.length === table.count) this.#length(table.length, ARRAY);
    else {
      table.openAsFields();
      this.#length(table.count, MAP);
    }
    this.open = table;
  }

  #length(length: number, [fixed, below, one, two, four]: LengthCodes): void {
    if (length < below) this.byte(fixed | length);
    else if (one !== undefined && length < 0x100) this.#coded(one, length, 1);
    else if (length < 0x10000) this.#coded(two, length, 2);
    else this.#coded(four, length, 4);
  }

  #coded(code: number, number: number, bytes: 1 | 2 | 4): void {
    this.byte(code);
    this.at = this.heap.writeUIntBE(number, this.at, bytes);
  }

  /** Whole numbers become integers; others a float if that is exact, otherwise a double. */
  #number(number: number): void {
    if (Number.isInteger(number) && Math.abs(number) <= 2 ** 63 && number !== 2 ** 63) {
      if (number > 0) this.#positive(number);
      else this.#negative(number);
    } else if (Math.fround(number) === number) {
      this.byte(0xca);
      this.at = this.heap.writeFloatBE(number, this.at);
    } else {
      this.byte(0xcb);
      this.at = this.heap.writeDoubleBE(number, this.at);
    }
  }

  #positive(integer: number): void {
    if (integer <= 0x7f) this.byte(integer);
    else if (integer <= 0xff) this.#coded(0xcc, integer, 1);
    else if (integer <= 0xffff) this.#coded(0xcd, integer, 2);
    else if (integer <= 0xffffffff) this.#coded(0xce, integer, 4);
    else {
      this.byte(0xcf);
      this.at = this.heap.writeBigUInt64BE(BigInt(integer), this.at);
    }
  }

  /** For negative numbers and zero. */
  #negative(integer: number): void {
    if (integer >= -32) this.byte(integer & 0xff);
    else if (integer >= -0x80) this.#coded(0xd0, integer + 0x100, 1);
    else if (integer >= -0x8000) this.#coded(0xd1, integer + 0x10000, 2);
    else if (integer >= -0x80000000) this.#coded(0xd2, integer + 0x100000000, 4);
    else {
      this.byte(0xd3);
      this.at = this.heap.writeBigInt64BE(BigInt(integer), this.at);
    }
  }

  protected override writeString(from: number, length: number): void {
    this.copy(from, length);
  }

  protected override endString(): void {}
}
