/**
 * Iterates over a table in a machine's memory in the order of Lua's `next`: array slots, then field slots. The machine
 * must not run during the iteration; it does not while a run is paused.
 */
import { LUA } from './lua-api.js';
import { FIELD_BYTES, FIELD_KEY, type LuaMemory, VALUE_BYTES } from './lua-memory.js';

/** The length of a table that is not an array. */
export const NO_ARRAY = -1;

export class OpenTable {
  /** The next slot. */
  place = 0;
  /** Whether the key of the slot was written. */
  hasKey = false;
  /** The result of `measure`. */
  length = NO_ARRAY;
  /** The number of values, if counted. */
  count = 0;
  /** Whether no entry was written yet. */
  isFresh = true;
  readonly #items: number;
  readonly #size: number;
  readonly #fields: number;
  readonly #places: number;

  /** @param at address of the table's value @param above the enclosing table @param depth 1 for the outermost */
  constructor(
    private readonly memory: LuaMemory,
    at: number,
    readonly above: OpenTable | undefined,
    readonly depth: number,
  ) {
    this.#items = memory.items(at);
    this.#size = memory.sizeOf(at);
    this.#fields = memory.fields(at);
    this.#places = this.#size + (memory.isListAt(at) ? 0 : memory.fieldsOf(at));
  }

  /** The number of slots, including empty ones. */
  get places(): number {
    return this.#places;
  }

  /** Skips empty slots; returns whether a value is left. */
  isAtValue(): boolean {
    this.place = this.#nextFilled(this.place);
    return this.place < this.#places;
  }

  valueAt(place: number): number {
    return place < this.#size ? this.#items + place * VALUE_BYTES : this.#fields + (place - this.#size) * FIELD_BYTES;
  }

  /** Undefined for an array slot: its key is the slot's index plus one. */
  keyAt(place: number): number | undefined {
    return place < this.#size ? undefined : this.#fields + (place - this.#size) * FIELD_BYTES + FIELD_KEY;
  }

  /** The address of the value at that index, from 1; undefined if there is none. */
  itemAt(index: number): number | undefined {
    if (index <= this.#size) return this.#items + (index - 1) * VALUE_BYTES;
    return this.memory.numberedField(this.#fields, this.#places - this.#size, index);
  }

  /** Sets `length`, the largest index of an array (0 if empty), and `count`, the number of values. */
  measure(): void {
    const { memory } = this;
    let count = 0;
    let length = 0;
    for (let place = this.#nextFilled(0); place < this.#places; place = this.#nextFilled(place + 1)) {
      const keyAt = this.keyAt(place);
      const key = keyAt === undefined ? place + 1 : memory.typeAt(keyAt) === LUA.NUMBER ? memory.numberAt(keyAt) : 0;
      if (!(key >= 1) || !Number.isInteger(key)) return;
      count += 1;
      if (key > length) length = key;
    }
    this.length = length;
    this.count = count;
  }

  /** Treats the table as fields and counts them. */
  openAsFields(): void {
    this.length = NO_ARRAY;
    this.count = 0;
    for (let place = this.#nextFilled(0); place < this.#places; place = this.#nextFilled(place + 1)) this.count += 1;
  }

  #nextFilled(place: number): number {
    const items = this.#items;
    const size = this.#size;
    let from = place;
    if (from < size) {
      const at = this.memory.nextFilled(items + from * VALUE_BYTES, items + size * VALUE_BYTES, VALUE_BYTES);
      from = (at - items) / VALUE_BYTES;
      if (from < size) return from;
    }
    if (from === this.#places) return from;
    const fields = this.#fields;
    const end = fields + (this.#places - size) * FIELD_BYTES;
    return (
      size + (this.memory.nextFilled(fields + (from - size) * FIELD_BYTES, end, FIELD_BYTES) - fields) / FIELD_BYTES
    );
  }
}
