/**
 * Values in the order of their stream ids: appended in O(1), found, inserted and removed in O(log n) plus the
 * length of a block, dropped from the front in O(1). Entries of a stream and what is pending are kept so.
 *
 * Invariants
 *  SO1 ids ascend within a block and from block to block; no block is empty
 *  SO2 a block once met as full is never appended to: `met` counts what was ever appended to it, removed or not
 */
import { MIN_ID, type StreamId } from './stream-id.js';

/** When a new block begins: what a block may meet before. */
export interface BlockLimits {
  readonly maxEntries: number;
  /** Counts the sizes that were handed to `append`. */
  readonly maxBytes: number;
}

/** What is pending comes in any order and has no size: its blocks are only for speed. */
export const SMALL_BLOCKS: BlockLimits = { maxEntries: 128, maxBytes: Number.MAX_SAFE_INTEGER };

/** Dropped blocks are forgotten together when they are so many, and more than are left. */
const MIN_DROPPED_BLOCKS = 64;

interface Block<V> {
  readonly ids: StreamId[];
  readonly values: V[];
  met: number;
  /** The highest id it ever had. */
  lastMetId: StreamId;
  bytes: number;
}

export class StreamOrder<V> {
  #blocks: Block<V>[] = [];
  /** Blocks before this one have been dropped. */
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** It is counted as Redis counts nodes of its tree. */
  get blockCount(): number {
    return this.#blocks.length - this.#head;
  }

  get firstId(): StreamId | undefined {
    return this.#blocks[this.#head]?.ids[0];
  }

  get lastId(): StreamId | undefined {
    return this.#blocks.length > this.#head ? this.#blocks[this.#blocks.length - 1]?.ids.at(-1) : undefined;
  }

  /** How many values the first block has; 0 when there is none. */
  get firstBlockSize(): number {
    return this.#blocks[this.#head]?.ids.length ?? 0;
  }

  /** The highest id the first block ever had, removed or not. */
  get firstBlockLastMetId(): StreamId | undefined {
    return this.#blocks[this.#head]?.lastMetId;
  }

  /** @param id above all that are there */
  append(id: StreamId, value: V, bytes = 0, limits: BlockLimits = SMALL_BLOCKS): void {
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

  get(id: StreamId): V | undefined {
    const block = this.#blocks[this.#blockOf(id)];
    if (block === undefined) return undefined;
    const at = lowerBound(block.ids, id);
    return block.ids[at] === id ? block.values[at] : undefined;
  }

  has(id: StreamId): boolean {
    const block = this.#blocks[this.#blockOf(id)];
    return block !== undefined && block.ids[lowerBound(block.ids, id)] === id;
  }

  /** Adds or replaces, wherever its place is. */
  set(id: StreamId, value: V): void {
    const { lastId } = this;
    if (lastId === undefined || id > lastId) {
      this.append(id, value);
      return;
    }
    const index = this.#blockOf(id);
    const block = this.#blocks[index] as Block<V>;
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

  delete(id: StreamId): V | undefined {
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

  /** Removes the first block whole; its values, for whoever counts them. */
  shiftBlock(): readonly V[] {
    const block = this.#blocks[this.#head];
    if (block === undefined) return [];
    this.#size -= block.ids.length;
    this.#dropBlock(this.#head);
    return block.values;
  }

  /** Visits ids from `from` to `to`, both included, until `visit` says false; it must not change what is visited. */
  walk(from: StreamId, to: StreamId, visit: (id: StreamId, value: V) => boolean): void {
    let index = this.#blockOf(from);
    let block = this.#blocks[index];
    let at = block === undefined ? 0 : lowerBound(block.ids, from);
    for (; block !== undefined; index += 1, block = this.#blocks[index], at = 0) {
      for (; at < block.ids.length; at += 1) {
        const id = block.ids[at] as StreamId;
        if (id > to || !visit(id, block.values[at] as V)) return;
      }
    }
  }

  /** The same, the last first. */
  walkBack(from: StreamId, to: StreamId, visit: (id: StreamId, value: V) => boolean): void {
    let index = Math.min(this.#blockOf(to), this.#blocks.length - 1);
    for (; index >= this.#head; index -= 1) {
      const block = this.#blocks[index] as Block<V>;
      let at = lowerBound(block.ids, to);
      if (block.ids[at] !== to) at -= 1;
      for (; at >= 0; at -= 1) {
        const id = block.ids[at] as StreamId;
        if (id < from || !visit(id, block.values[at] as V)) return;
      }
    }
  }

  *blocks(): IterableIterator<readonly StreamId[]> {
    for (let index = this.#head; index < this.#blocks.length; index += 1) yield (this.#blocks[index] as Block<V>).ids;
  }

  *entries(): IterableIterator<[StreamId, V]> {
    for (let index = this.#head; index < this.#blocks.length; index += 1) {
      const { ids, values } = this.#blocks[index] as Block<V>;
      for (let at = 0; at < ids.length; at += 1) yield [ids[at] as StreamId, values[at] as V];
    }
  }

  /** A copy with the same blocks; each value as `copy` makes it. */
  clone(copy: (value: V, id: StreamId) => V): StreamOrder<V> {
    const clone = new StreamOrder<V>();
    for (const { ids, values, met, lastMetId, bytes } of this.#blocks.slice(this.#head)) {
      clone.#blocks.push({
        ids: [...ids],
        values: values.map((value, at) => copy(value, ids[at] as StreamId)),
        met,
        lastMetId,
        bytes,
      });
    }
    clone.#size = this.#size;
    return clone;
  }

  /** The first block whose last id is not below `id`; beyond the last one when there is none. */
  #blockOf(id: StreamId): number {
    const blocks = this.#blocks;
    let low = this.#head;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { ids } = blocks[middle] as Block<V>;
      if ((ids[ids.length - 1] as StreamId) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #split(index: number, block: Block<V>): void {
    const middle = block.ids.length >>> 1;
    const ids = block.ids.splice(middle);
    const values = block.values.splice(middle);
    block.met = block.ids.length;
    block.lastMetId = block.ids[middle - 1] as StreamId;
    this.#blocks.splice(index + 1, 0, { ids, values, met: ids.length, lastMetId: block.lastMetId, bytes: 0 });
  }

  #dropBlock(index: number): void {
    if (index !== this.#head) {
      this.#blocks.splice(index, 1);
      return;
    }
    // What it held is let go at once; its place in the array later.
    this.#blocks[index] = { ids: [], values: [], met: 0, lastMetId: MIN_ID, bytes: 0 };
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

/** The first place whose id is not below `id`. */
function lowerBound(ids: readonly StreamId[], id: StreamId): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as StreamId) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
