/**
 * An array: values by index, most of which may be empty, and a cursor for appending. The occupied slots are in pages,
 * and only pages with a value exist.
 *
 * Invariants
 *
 *  ARR1 no page is empty, so the last value of the last page is that of the array
 *  ARR2 `bytes` depends only on the values and their indexes, not on the history or the form of the pages
 *  ARR3 the cursor is changed by appends and by ARSEEK alone: neither writes by index nor removals move it
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Unsigned64 } from '../numbers.js';
import type { Collection, UndoRecorder } from '../value.js';
import { indexAt, offsetOf, PAGE_INDEXES, pageOf, plus } from './array-index.js';
import { ArrayPage } from './array-page.js';
import { commandsOf } from './command-chunks.js';
import { OrderedBlocks } from './ordered-blocks.js';

/** The overhead of an array, of a page, and of a value: its slot, its offset and the header of its text. */
const ARRAY_OVERHEAD_BYTES = 120;
const PAGE_OVERHEAD_BYTES = 160;
const VALUE_OVERHEAD_BYTES = 32;

export interface PageCounts {
  readonly dense: number;
  readonly sparse: number;
  readonly denseValues: number;
  readonly sparseValues: number;
}

export class ArrayValue implements Collection {
  readonly kind = 'array';
  readonly encoding = 'sliced-array';
  readonly hasOrder = true;
  /** The index of the last append, or the one before the next append; undefined: the next append writes index 0. */
  lastInserted: Unsigned64 | undefined;
  undo: UndoRecorder | undefined;
  #pages = new OrderedBlocks<ArrayPage, number>();
  #count = 0;
  #contentBytes = 0;

  /** The number of occupied slots. */
  get size(): number {
    return this.#count;
  }

  get contentBytes(): number {
    return this.#contentBytes;
  }

  get bytes(): number {
    const overhead = this.#count * VALUE_OVERHEAD_BYTES + this.#pages.size * PAGE_OVERHEAD_BYTES;
    return ARRAY_OVERHEAD_BYTES + overhead + this.#contentBytes;
  }

  get pageCount(): number {
    return this.#pages.size;
  }

  /** The highest occupied index plus 1; 0 if empty. */
  get length(): Unsigned64 {
    const page = this.#pages.lastId;
    return page === undefined ? 0 : plus(indexAt(page, (this.#pages.get(page) as ArrayPage).last), 1);
  }

  /** The index of the next append. */
  get next(): Unsigned64 {
    return this.lastInserted === undefined ? 0 : plus(this.lastInserted, 1);
  }

  get(index: Unsigned64): ByteString | undefined {
    return this.#pages.get(pageOf(index))?.get(offsetOf(index));
  }

  /** @returns whether the slot was empty */
  set(index: Unsigned64, value: ByteString): boolean {
    const number = pageOf(index);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new ArrayPage();
      this.#pages.set(number, page);
    }
    const before = page.set(offsetOf(index), value);
    this.#contentBytes += value.length - (before?.length ?? 0);
    if (before === undefined) {
      this.#count += 1;
      this.undo?.push(() => this.delete(index), value.length);
      return true;
    }
    this.undo?.push(() => this.set(index, before), value.length + before.length);
    return false;
  }

  /** @returns whether the slot was occupied */
  delete(index: Unsigned64): boolean {
    const number = pageOf(index);
    const page = this.#pages.get(number);
    const before = page?.delete(offsetOf(index));
    if (page === undefined || before === undefined) return false;
    if (page.count === 0) this.#pages.delete(number);
    this.#count -= 1;
    this.#contentBytes -= before.length;
    this.undo?.push(() => this.set(index, before), before.length);
    return true;
  }

  /** Removes the values from `low` to `high`, both included, page by page; returns how many there were. */
  *deleteRange(low: Unsigned64, high: Unsigned64): Generator<void, number> {
    const before = this.#count;
    const last = pageOf(high);
    for (let number = this.#pageFrom(pageOf(low)); number !== undefined && number <= last; ) {
      const page = this.#pages.get(number) as ArrayPage;
      const from = number === pageOf(low) ? offsetOf(low) : 0;
      const to = number === last ? offsetOf(high) : PAGE_INDEXES - 1;
      if (from === 0 && to === PAGE_INDEXES - 1) this.#deletePage(number, page);
      else for (const [offset] of [...page.entries(from, to, false)]) this.delete(indexAt(number, offset));
      number = this.#pageFrom(number + 1);
      yield;
    }
    return before - this.#count;
  }

  /** The values from one index to another, both included; in descending order if `to` is lower. Not while changing it. */
  *entries(from: Unsigned64, to: Unsigned64): IterableIterator<[index: Unsigned64, value: ByteString]> {
    const isReversed = from > to;
    const [low, high] = isReversed ? [to, from] : [from, to];
    const [first, last] = [pageOf(low), pageOf(high)];
    for (const [number, page] of this.#pages.range(first, last, isReversed)) {
      const start = number === first ? offsetOf(low) : 0;
      const end = number === last ? offsetOf(high) : PAGE_INDEXES - 1;
      for (const [offset, value] of page.entries(start, end, isReversed)) yield [indexAt(number, offset), value];
    }
  }

  /** How many pages have each form, in slices. */
  *countPages(): Generator<void, PageCounts> {
    const counts = { dense: 0, sparse: 0, denseValues: 0, sparseValues: 0 };
    let met = 0;
    for (const [, page] of this.#pages.entries()) {
      counts[page.isDense ? 'dense' : 'sparse'] += 1;
      counts[page.isDense ? 'denseValues' : 'sparseValues'] += page.count;
      met += 1;
      if (met % PAGE_INDEXES === 0) yield;
    }
    return counts;
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    yield* commandsOf(['ARMSET', key], this.#words());
    if (this.lastInserted !== undefined) yield ['ARSEEK', key, String(this.next)];
  }

  *contents(): Iterable<ByteString> {
    for (const [index, value] of this.#words()) {
      yield index;
      yield value;
    }
    yield String(this.next);
  }

  keepState(undo: UndoRecorder): void {
    const { lastInserted } = this;
    undo.push(() => {
      this.lastInserted = lastInserted;
    });
  }

  clone(): ArrayValue {
    const copy = new ArrayValue();
    copy.lastInserted = this.lastInserted;
    copy.#pages = this.#pages.clone((page) => page.clone());
    copy.#count = this.#count;
    copy.#contentBytes = this.#contentBytes;
    return copy;
  }

  *#words(): Iterable<[ByteString, ByteString]> {
    for (const [number, page] of this.#pages.entries()) {
      for (const [offset, value] of page.entries(0, PAGE_INDEXES - 1, false))
        yield [String(indexAt(number, offset)), value];
    }
  }

  /** The number of the first page at or after that one. */
  #pageFrom(number: number): number | undefined {
    for (const [found] of this.#pages.range(number, Number.MAX_SAFE_INTEGER, false)) return found;
    return undefined;
  }

  #deletePage(number: number, page: ArrayPage): void {
    this.#pages.delete(number);
    this.#charge(page, -1);
    const putBack = (): void => {
      this.#pages.set(number, page);
      this.#charge(page, 1);
    };
    this.undo?.push(putBack, 0, page.count);
  }

  #charge(page: ArrayPage, sign: 1 | -1): void {
    this.#count += sign * page.count;
    for (const [, value] of page.entries(0, PAGE_INDEXES - 1, false)) this.#contentBytes += sign * value.length;
  }
}
