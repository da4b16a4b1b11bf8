/**
 * A table in a machine's memory that is being gone through, in the order of Lua's `next`: places of items, then of fields.
 * Nothing of its machine may run meanwhile, as nothing does while a run is left.
 */
import { LUA } from './lua-api.js';
import { FIELD_BYTES, FIELD_KEY, type LuaMemory, VALUE_BYTES } from './lua-memory.js';

/** The length of what is no array. */
export const NO_ARRAY = -1;

export class OpenTable {
  /** The place that is next. */
  place = 0;
  /** Was the key of that place written already? */
  hasKey = false;
  /** What came of `measure`. */
  length = NO_ARRAY;
  /** How many values are in it, where that was asked for. */
  count = 0;
  /** Was nothing of it written yet? */
  isFresh = true;
  readonly #items: number;
  readonly #size: number;
  readonly #fields: number;
  readonly #places: number;

  /** @param at where the value lies that is the table  @param above the table that it is in  @param depth 1 for the outermost */
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

  /** How many places there are, empty ones too. */
  get places(): number {
    return this.#places;
  }

  /** Passes over empty places. Is there one that is not? */
  isAtValue(): boolean {
    this.place = this.#nextFilled(this.place);
    return this.place < this.#places;
  }

  valueAt(place: number): number {
    return place < this.#size ? this.#items + place * VALUE_BYTES : this.#fields + (place - this.#size) * FIELD_BYTES;
  }

  /** Undefined for an item, whose key is its place and one. */
  keyAt(place: number): number | undefined {
    return place < this.#size ? undefined : this.#fields + (place - this.#size) * FIELD_BYTES + FIELD_KEY;
  }

  /** Where the value of that index lies, from 1; undefined where there is none. */
  itemAt(index: number): number | undefined {
    if (index <= this.#size) return this.#items + (index - 1) * VALUE_BYTES;
    return this.memory.numberedField(this.#fields, this.#places - this.#size, index);
  }

  /** Finds `length`, the largest index of an array (0 of an empty table), and the `count` of what is in it. */
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

  /** It is no array: all that is in it is a `count` of fields. */
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
