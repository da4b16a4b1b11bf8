/**
 * Reads values directly from a machine's memory. For arguments of commands and for lists that scripts return, one API
 * call per value would cost more than everything else. The layout is that of Lua 5.1 on 32 bits; `knows` verifies it.
 *
 *  LME1 values are read where the machine holds them and never written; only strings are cached, and a cached string is
 *       compared with memory before it is used again
 */
import type { ByteString } from '../../../kernel/index.js';
import { LUA, type State } from './lua-api.js';

/** A value on a stack or in a list: eight bytes, then its type. */
export const VALUE_BYTES = 16;
const VALUE_TYPE = 8;
/** In lua_State: the start and end of the running function's values. */
const STATE_TOP = 8;
const STATE_BASE = 12;
/** In a string: its length, and its bytes. */
const STRING_LENGTH = 12;
const STRING_BYTES = 16;
/**
 * In a table: the binary logarithm of the number of field slots, the array part, the hash part, the number of array
 * slots.
 */
const TABLE_FIELDS_POWER = 7;
const TABLE_ITEMS = 12;
const TABLE_FIELDS = 16;
const TABLE_SIZE = 28;
/** A field: its value, its key, and the next field with the same hash slot. */
export const FIELD_BYTES = 32;
export const FIELD_KEY = 16;
const FIELD_NEXT = 28;

/**
 * Short strings such as names of commands, keys and fields recur; a longer string is created as fast as it is compared.
 */
const KEPT_LENGTH = 40;
/** Cached strings, each in a slot given by its address; a power of two. */
const KEPT_STRINGS = 512;

/** The native method that `toString` calls; choosing the encoding takes up to a third of its time. */
interface Latin1Heap extends Buffer {
  latin1Slice(from: number, end: number): ByteString;
}

export class LuaMemory {
  heap: Buffer;
  words: Int32Array;
  #doubles: Float64Array;
  readonly #kept: ByteString[] = new Array(KEPT_STRINGS).fill('');
  /** The hash part that all tables without fields share. */
  #noFields = 0;
  readonly #number = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#number.buffer);

  constructor(memory: WebAssembly.Memory) {
    this.heap = Buffer.from(memory.buffer);
    this.words = new Int32Array(memory.buffer);
    this.#doubles = new Float64Array(memory.buffer);
  }

  /** To be called after the memory has grown. */
  lookAgain({ buffer }: WebAssembly.Memory): void {
    this.heap = Buffer.from(buffer);
    this.words = new Int32Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  /**
   * Verifies the layout. The stack holds 1.5, 'known', an empty table, a list with 'known', and a table with four field
   * slots and 'known' under key 7.
   */
  knows(state: State): boolean {
    const at = this.base(state);
    const emptyAt = at + 2 * VALUE_BYTES;
    const listAt = at + 3 * VALUE_BYTES;
    const fieldsAt = at + 4 * VALUE_BYTES;
    if (this.top(state) - at !== 5 * VALUE_BYTES || this.numberAt(at) !== 1.5) return false;
    if (this.stringAt(at + VALUE_BYTES) !== 'known') return false;
    this.#noFields = this.#word(this.#word(emptyAt) + TABLE_FIELDS);
    const items = this.items(listAt);
    if (this.sizeOf(emptyAt) !== 0 || this.sizeOf(listAt) !== 1 || this.stringAt(items) !== 'known') return false;
    if (this.sizeOf(fieldsAt) !== 0 || this.fieldsOf(fieldsAt) !== 4) return false;
    const found = this.numberedField(this.fields(fieldsAt), 4, 7);
    return found !== undefined && this.numberAt(found + FIELD_KEY) === 7 && this.stringAt(found) === 'known';
  }

  /** The address of the running function's first argument. */
  base(state: State): number {
    return this.#word(state + STATE_BASE);
  }

  /** The address after its last value. */
  top(state: State): number {
    return this.#word(state + STATE_TOP);
  }

  typeAt(at: number): number {
    return this.#word(at + VALUE_TYPE);
  }

  /**
   * The first address from `from` on with a value that is not nil, in steps of `apart` bytes; `end` if there is none.
   */
  nextFilled(from: number, end: number, apart: number): number {
    const { words } = this;
    let at = from;
    while (at < end && words[(at + VALUE_TYPE) >> 2] === LUA.NIL) at += apart;
    return at;
  }

  numberAt(at: number): number {
    return this.#doubles[at >> 3] as number;
  }

  /** For a boolean: whether it is false; for a pointer: whether it is null. */
  isZeroAt(at: number): boolean {
    return this.#word(at) === 0;
  }

  stringAt(at: number): ByteString {
    const pointer = this.#word(at);
    return this.read(pointer + STRING_BYTES, this.#word(pointer + STRING_LENGTH));
  }

  /** The address of the string's bytes. */
  bytesAt(at: number): number {
    return this.#word(at) + STRING_BYTES;
  }

  stringLengthAt(at: number): number {
    return this.#word(this.#word(at) + STRING_LENGTH);
  }

  /** Whether the table has no fields, only an array part. */
  isListAt(at: number): boolean {
    return this.#word(this.#word(at) + TABLE_FIELDS) === this.#noFields;
  }

  /** The address of the table's array part; `sizeOf` is the number of its slots. */
  items(at: number): number {
    return this.#word(this.#word(at) + TABLE_ITEMS);
  }

  sizeOf(at: number): number {
    return this.#word(this.#word(at) + TABLE_SIZE);
  }

  /** The address of the table's hash part. */
  fields(at: number): number {
    return this.#word(this.#word(at) + TABLE_FIELDS);
  }

  /** The number of field slots; at least one. */
  fieldsOf(at: number): number {
    return 1 << (this.heap[this.#word(at) + TABLE_FIELDS_POWER] as number);
  }

  /** The address of the field with that numeric key: Lua's own hash lookup. @param key not 0 */
  numberedField(fields: number, places: number, key: number): number | undefined {
    if (places === 0) return undefined;
    this.#number[0] = key;
    const hash = ((this.#halves[0] as number) + (this.#halves[1] as number)) >>> 0;
    let at = fields + (hash % ((places - 1) | 1)) * FIELD_BYTES;
    while (at !== 0) {
      const keyAt = at + FIELD_KEY;
      if (this.typeAt(keyAt) === LUA.NUMBER && this.numberAt(keyAt) === key) return at;
      at = this.#word(at + FIELD_NEXT);
    }
    return undefined;
  }

  read(at: number, length: number): ByteString {
    if (length > KEPT_LENGTH) return (this.heap as Latin1Heap).latin1Slice(at, at + length);
    const place = (at >> 3) & (KEPT_STRINGS - 1);
    const kept = this.#kept[place] as ByteString;
    if (kept.length === length && this.#isAt(kept, at)) return kept;
    const bytes = (this.heap as Latin1Heap).latin1Slice(at, at + length);
    this.#kept[place] = bytes;
    return bytes;
  }

  #isAt(bytes: ByteString, at: number): boolean {
    const { heap } = this;
    for (let i = 0; i < bytes.length; i += 1) if (heap[at + i] !== bytes.charCodeAt(i)) return false;
    return true;
  }

  #word(at: number): number {
    return this.words[at >> 2] as number;
  }
}
