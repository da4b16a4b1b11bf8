/**
 * Values ordered by id: append in O(1); find, insert and remove in O(log n) plus the length of a block; drop from the
 * front in O(1). Used for the entries of a stream, for pending entries and for the pages of an array.
 *
 * Invariants
 *
 *  SO1 ids ascend within a block and from block to block; no block is empty
 *  SO2 a block that was full is never appended to: `met` counts all entries ever appended, including removed ones
 */
import type { StreamId } from './stream-id.js';

/** The bounds at which a new block begins. */
export interface BlockLimits {
  readonly maxEntries: number;
  /** The sum of the sizes passed to `append`. */
  readonly maxBytes: number;
}

/** Pending entries and pages arrive in any order and have no size: their blocks only serve speed. */
export const SMALL_BLOCKS: BlockLimits = { maxEntries: 128, maxBytes: Number.MAX_SAFE_INTEGER };

/** Dropped blocks are removed from the array together, once there are this many and more than remain. */
const MIN_DROPPED_BLOCKS = 64;

interface Block<V, Id> {
  readonly ids: Id[];
  readonly values: V[];
  met: number;
  /** The highest id it ever had; undefined once it was dropped. */
  lastMetId: Id | undefined;
  bytes: number;
}

export class OrderedBlocks<V, Id extends string | number = StreamId> {
  #blocks: Block<V, Id>[] = [];
  /** The index of the first block that was not dropped. */
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Comparable to the number of nodes in Redis's radix tree. */
  get blockCount(): number {
    return this.#blocks.length - this.#head;
  }

  get firstId(): Id | undefined {
    return this.#blocks[this.#head]?.ids[0];
  }

  get lastId(): Id | undefined {
    return this.#blocks.length > this.#head ? this.#blocks[this.#blocks.length - 1]?.ids.at(-1) : undefined;
  }

  /** The number of values in the first block; 0 if there is none. */
  get firstBlockSize(): number {
    return this.#blocks[this.#head]?.ids.length ?? 0;
  }

  /** The highest id the first block ever had, including removed ones. */
  get firstBlockLastMetId(): Id | undefined {
    return this.#blocks[this.#head]?.lastMetId;
  }

  /** @param id above all existing ids */
  append(id: Id, value: V, bytes = 0, limits: BlockLimits = SMALL_BLOCKS): void {
    const last = this.#blocks.length > this.#head ? this.#blocks[this.#blocks.length - 1] : undefined;
    if (last === undefined || last.met >= limits.maxEntries || last.bytes + bytes >= limits.maxBytes) {
      this.#blocks.push({ ids: [id], values: [value], met: 1, lastMetId: id, bytes });
    } else {
      last.ids.push(id);
      last.values.push(value);
      last.met += 1;
      last.lastMetId = id;
      last.bytes += bytes;
    }
    this.#size += 1;
  }

  get(id: Id): V | undefined {
    const block = this.#blocks[this.#blockOf(id)];
    if (block === undefined) return undefined;
    const at = lowerBound(block.ids, id);
    return block.ids[at] === id ? block.values[at] : undefined;
  }

  has(id: Id): boolean {
    const block = this.#blocks[this.#blockOf(id)];
    return block !== undefined && block.ids[lowerBound(block.ids, id)] === id;
  }

  /** Adds or replaces a value at any position. */
  set(id: Id, value: V): void {
    const { lastId } = this;
    if (lastId === undefined || id > lastId) {
      this.append(id, value);
      return;
    }
    const index = this.#blockOf(id);
    const block = this.#blocks[index] as Block<V, Id>;
    const at = lowerBound(block.ids, id);
    if (block.ids[at] === id) {
      block.values[at] = value;
      return;
    }
    block.ids.splice(at, 0, id);
    block.values.splice(at, 0, value);
    block.met += 1;
    this.#size += 1;
    if (block.ids.length > SMALL_BLOCKS.maxEntries) this.#split(index, block);
  }

  delete(id: Id): V | undefined {
    const index = this.#blockOf(id);
    const block = this.#blocks[index];
    if (block === undefined) return undefined;
    const at = lowerBound(block.ids, id);
    if (block.ids[at] !== id) return undefined;
    const value = block.values[at];
    block.ids.splice(at, 1);
    block.values.splice(at, 1);
    this.#size -= 1;
    if (block.ids.length === 0) this.#dropBlock(index);
    return value;
  }

  /** Removes the first block; returns its values. */
  shiftBlock(): readonly V[] {
    const block = this.#blocks[this.#head];
    if (block === undefined) return [];
    this.#size -= block.ids.length;
    this.#dropBlock(this.#head);
    return block.values;
  }

  /** Visits ids from `from` to `to`, both included, until `visit` returns false; `visit` must not change the order. */
  walk(from: Id, to: Id, visit: (id: Id, value: V) => boolean): void {
    let index = this.#blockOf(from);
    let block = this.#blocks[index];
    let at = block === undefined ? 0 : lowerBound(block.ids, from);
    for (; block !== undefined; index += 1, block = this.#blocks[index], at = 0) {
      for (; at < block.ids.length; at += 1) {
        const id = block.ids[at] as Id;
        if (id > to || !visit(id, block.values[at] as V)) return;
      }
    }
  }

  /** As `walk`, in descending order. */
  walkBack(from: Id, to: Id, visit: (id: Id, value: V) => boolean): void {
    let index = Math.min(this.#blockOf(to), this.#blocks.length - 1);
    for (; index >= this.#head; index -= 1) {
      const block = this.#blocks[index] as Block<V, Id>;
      let at = lowerBound(block.ids, to);
      if (block.ids[at] !== to) at -= 1;
      for (; at >= 0; at -= 1) {
        const id = block.ids[at] as Id;
        if (id < from || !visit(id, block.values[at] as V)) return;
      }
    }
  }

  /** The values from `low` to `high`, both included, in ascending or descending order; not while changing it. */
  *range(low: Id, high: Id, isReversed: boolean): IterableIterator<[Id, V]> {
    const step = isReversed ? -1 : 1;
    let index = isReversed ? Math.min(this.#blockOf(high), this.#blocks.length - 1) : this.#blockOf(low);
    for (; index >= this.#head && index < this.#blocks.length; index += step) {
      const { ids, values } = this.#blocks[index] as Block<V, Id>;
      const from = lowerBound(ids, low);
      const end = lowerBound(ids, high);
      const count = end - from + (ids[end] === high ? 1 : 0);
      if (count === 0 && (isReversed ? (ids[ids.length - 1] as Id) < low : (ids[0] as Id) > high)) return;
      for (let at = 0; at < count; at += 1) {
        const place = isReversed ? from + count - 1 - at : from + at;
        yield [ids[place] as Id, values[place] as V];
      }
    }
  }

  *blocks(): IterableIterator<readonly Id[]> {
    for (let index = this.#head; index < this.#blocks.length; index += 1)
      yield (this.#blocks[index] as Block<V, Id>).ids;
  }

  *entries(): IterableIterator<[Id, V]> {
    for (let index = this.#head; index < this.#blocks.length; index += 1) {
      const { ids, values } = this.#blocks[index] as Block<V, Id>;
      for (let at = 0; at < ids.length; at += 1) yield [ids[at] as Id, values[at] as V];
    }
  }

  /** A copy with the same blocks; `copy` copies each value. */
  clone(copy: (value: V, id: Id) => V): OrderedBlocks<V, Id> {
    const clone = new OrderedBlocks<V, Id>();
    for (const { ids, values, met, lastMetId, bytes } of this.#blocks.slice(this.#head)) {
      clone.#blocks.push({
        ids: [...ids],
        values: values.map((value, at) => copy(value, ids[at] as Id)),
        met,
        lastMetId,
        bytes,
      });
    }
    clone.#size = this.#size;
    return clone;
  }

  /** The first block with a last id not below `id`; the number of blocks if there is none. */
  #blockOf(id: Id): number {
    const blocks = this.#blocks;
    let low = this.#head;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { ids } = blocks[middle] as Block<V, Id>;
      if ((ids[ids.length - 1] as Id) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #split(index: number, block: Block<V, Id>): void {
    const middle = block.ids.length >>> 1;
    const ids = block.ids.splice(middle);
    const values = block.values.splice(middle);
    const { lastMetId } = block;
    block.met = block.ids.length;
    block.lastMetId = block.ids[middle - 1] as Id;
    this.#blocks.splice(index + 1, 0, { ids, values, met: ids.length, lastMetId, bytes: 0 });
  }

  #dropBlock(index: number): void {
    if (index !== this.#head) {
      this.#blocks.splice(index, 1);
      return;
    }
    // Releases the contents immediately and the array slot later.
    this.#blocks[index] = { ids: [], values: [], met: 0, lastMetId: undefined, bytes: 0 };
    this.#head += 1;
    if (this.#head === this.#blocks.length) {
      this.#blocks = [];
      this.#head = 0;
    } else if (this.#head >= MIN_DROPPED_BLOCKS && this.#head * 2 > this.#blocks.length) {
      this.#blocks = this.#blocks.slice(this.#head);
      this.#head = 0;
    }
  }
}

/** The first index with an id not below `id`. */
function lowerBound<Id extends string | number>(ids: readonly Id[], id: Id): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as Id) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
