/**
 * The occupied slots of one page of an array. A page with few values is two sorted lists, offsets and values; a page
 * with many is a list with a place for each slot. It changes to the lists only far below the number at which it left
 * them, so that values that come and go around one number do not convert it each time.
 */
import type { ByteString } from '../../../kernel/index.js';
import { PAGE_INDEXES } from './array-index.js';

/** From this count on, a place for each slot takes little more memory than the offsets. */
const DENSE_VALUES = 1024;
const SPARSE_VALUES = 256;

export class ArrayPage {
  #count = 0;
  /** Ascending; undefined in a dense page. */
  #offsets: number[] | undefined = [];
  /** The values at the offsets; in a dense page, those of all slots. */
  #values: (ByteString | undefined)[] = [];

  get count(): number {
    return this.#count;
  }

  get isDense(): boolean {
    return this.#offsets === undefined;
  }

  /** The offset of the last value; -1 in an empty page. */
  get last(): number {
    const offsets = this.#offsets;
    if (offsets !== undefined) return offsets.at(-1) ?? -1;
    let offset = PAGE_INDEXES - 1;
    while (offset >= 0 && this.#values[offset] === undefined) offset -= 1;
    return offset;
  }

  get(offset: number): ByteString | undefined {
    const offsets = this.#offsets;
    if (offsets === undefined) return this.#values[offset];
    const at = positionOf(offsets, offset);
    return offsets[at] === offset ? this.#values[at] : undefined;
  }

  /** @returns the value before */
  set(offset: number, value: ByteString): ByteString | undefined {
    const offsets = this.#offsets;
    if (offsets === undefined) {
      const before = this.#values[offset];
      this.#values[offset] = value;
      if (before === undefined) this.#count += 1;
      return before;
    }
    const at = positionOf(offsets, offset);
    if (offsets[at] === offset) {
      const before = this.#values[at];
      this.#values[at] = value;
      return before;
    }
    this.#count += 1;
    if (at === offsets.length) {
      offsets.push(offset);
      this.#values.push(value);
    } else {
      offsets.splice(at, 0, offset);
      this.#values.splice(at, 0, value);
    }
    if (this.#count >= DENSE_VALUES) this.#spread(offsets);
    return undefined;
  }

  /** @returns the value before */
  delete(offset: number): ByteString | undefined {
    const offsets = this.#offsets;
    if (offsets === undefined) {
      const before = this.#values[offset];
      if (before === undefined) return undefined;
      this.#values[offset] = undefined;
      this.#count -= 1;
      if (this.#count <= SPARSE_VALUES) this.#gather();
      return before;
    }
    const at = positionOf(offsets, offset);
    if (offsets[at] !== offset) return undefined;
    const before = this.#values[at];
    offsets.splice(at, 1);
    this.#values.splice(at, 1);
    this.#count -= 1;
    return before;
  }

  /** From `low` to `high`, both included, in ascending order or, if reversed, in descending order. */
  *entries(low: number, high: number, isReversed: boolean): IterableIterator<[offset: number, value: ByteString]> {
    const offsets = this.#offsets;
    const from = offsets === undefined ? low : positionOf(offsets, low);
    const end = offsets === undefined ? high + 1 : positionOf(offsets, high + 1);
    for (let step = 0; step < end - from; step += 1) {
      const at = isReversed ? end - 1 - step : from + step;
      const value = this.#values[at];
      if (value !== undefined) yield [offsets?.[at] ?? at, value];
    }
  }

  clone(): ArrayPage {
    const copy = new ArrayPage();
    copy.#count = this.#count;
    copy.#offsets = this.#offsets === undefined ? undefined : [...this.#offsets];
    copy.#values = [...this.#values];
    return copy;
  }

  #spread(offsets: readonly number[]): void {
    const slots: (ByteString | undefined)[] = new Array(PAGE_INDEXES).fill(undefined);
    for (const [at, offset] of offsets.entries()) slots[offset] = this.#values[at];
    this.#offsets = undefined;
    this.#values = slots;
  }

  #gather(): void {
    const entries = [...this.entries(0, PAGE_INDEXES - 1, false)];
    this.#offsets = entries.map(([offset]) => offset);
    this.#values = entries.map(([, value]) => value);
  }
}

/** The first position with an offset not below `offset`. */
function positionOf(offsets: readonly number[], offset: number): number {
  let low = 0;
  let high = offsets.length;
  if (high === 0 || (offsets[high - 1] as number) < offset) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
