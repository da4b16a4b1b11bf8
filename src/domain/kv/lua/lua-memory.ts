/**
 * What lies in a machine's memory, read where it is: for arguments of commands and lists that scripts return a call into
 * the machine for each of them costs more than all else that is done with them. Laid out as Lua 5.1 does on 32 bits;
 * `knows` looks whether it is so.
 *
 *  LME1 nothing is written here, and nothing is kept but strings, which are compared with what lies there before they are
 *       used again
 */
import type { ByteString } from '../../../kernel/index.js';
import { LUA, type State } from './lua-api.js';

/** One value on a stack or in a list: eight bytes, then its type. */
export const VALUE_BYTES = 16;
const VALUE_TYPE = 8;
/** Within lua_State: where the values of the running function begin and end. */
const STATE_TOP = 8;
const STATE_BASE = 12;
/** Within a string: its length, and its bytes. */
const STRING_LENGTH = 12;
const STRING_BYTES = 16;
/** Within a table: the power of two that is how many fields there are places for, items by number, fields by name, places for items. */
const TABLE_FIELDS_POWER = 7;
const TABLE_ITEMS = 12;
const TABLE_FIELDS = 16;
const TABLE_SIZE = 28;
/** A field: its value, its key, and where the next one lies of those that came to the same place. */
export const FIELD_BYTES = 32;
export const FIELD_KEY = 16;
const FIELD_NEXT = 28;

/** Names of commands, keys and fields come again and again; a longer string is made anew as fast as it is compared. */
const KEPT_LENGTH = 40;
/** Strings that are kept, each at a place that its address says; a power of two. */
const KEPT_STRINGS = 512;

/** What `toString` calls in the end; up to a third of its time goes into finding that out. */
interface Latin1Heap extends Buffer {
  latin1Slice(from: number, end: number): ByteString;
}

export class LuaMemory {
  heap: Buffer;
  words: Int32Array;
  #doubles: Float64Array;
  readonly #kept: ByteString[] = new Array(KEPT_STRINGS).fill('');
  /** What tables without fields have for them. */
  #noFields = 0;
  readonly #number = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#number.buffer);

  constructor(memory: WebAssembly.Memory) {
    this.heap = Buffer.from(memory.buffer);
    this.words = new Int32Array(memory.buffer);
    this.#doubles = new Float64Array(memory.buffer);
  }

  /** This is called when the memory has grown. */
  lookAgain({ buffer }: WebAssembly.Memory): void {
    this.heap = Buffer.from(buffer);
    this.words = new Int32Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  /** Is it laid out as here? On the stack lie 1.5, 'known', an empty table, one of 'known', and one of it at 7 among four fields. */
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

  /** Where the arguments of the running function begin. */
  base(state: State): number {
    return this.#word(state + STATE_BASE);
  }

  /** Where its values end. */
  top(state: State): number {
    return this.#word(state + STATE_TOP);
  }

  typeAt(at: number): number {
    return this.#word(at + VALUE_TYPE);
  }

  /** The first place from there on where a value lies that is not nil, of places so many bytes apart; `end` if there is none. */
  nextFilled(from: number, end: number, apart: number): number {
    const { words } = this;
    let at = from;
    while (at < end && words[(at + VALUE_TYPE) >> 2] === LUA.NIL) at += apart;
    return at;
  }

  numberAt(at: number): number {
    return this.#doubles[at >> 3] as number;
  }

  /** Of a boolean: is it false? Of a pointer: is there none? */
  isZeroAt(at: number): boolean {
    return this.#word(at) === 0;
  }

  stringAt(at: number): ByteString {
    const pointer = this.#word(at);
    return this.read(pointer + STRING_BYTES, this.#word(pointer + STRING_LENGTH));
  }

  /** Where the bytes of the string begin. */
  bytesAt(at: number): number {
    return this.#word(at) + STRING_BYTES;
  }

  stringLengthAt(at: number): number {
    return this.#word(this.#word(at) + STRING_LENGTH);
  }

  /** Has the table nothing but items by number? */
  isListAt(at: number): boolean {
    return this.#word(this.#word(at) + TABLE_FIELDS) === this.#noFields;
  }

  /** Where the items of the table begin, and how many there are places for. */
  items(at: number): number {
    return this.#word(this.#word(at) + TABLE_ITEMS);
  }

  sizeOf(at: number): number {
    return this.#word(this.#word(at) + TABLE_SIZE);
  }

  /** Where the fields of the table begin. */
  fields(at: number): number {
    return this.#word(this.#word(at) + TABLE_FIELDS);
  }

  /** How many fields there are places for; one at least. */
  fieldsOf(at: number): number {
    return 1 << (this.heap[this.#word(at) + TABLE_FIELDS_POWER] as number);
  }

  /** Where the field of that key lies, among so many places from there on: Lua's own search. @param key not 0 */
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
