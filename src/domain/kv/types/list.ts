/**
 * A list. Its encoding becomes `quicklist` when it exceeds Redis's packed form, and `listpack` again only at half of
 * that size. As in Redis, handlers call `willGrow` and `hasShrunk` at the points where it may change.
 *
 *  LI1 `bytes` depends only on the elements
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Collection, UndoRecorder } from '../value.js';
import { type Block, ListBlocks, type ListEnd } from './list-blocks.js';
import { fitsPack, fitsPackAgain, PACK_FRAME_BYTES } from './list-pack.js';

export type { Block, ListEnd } from './list-blocks.js';

/** The overhead of an element, measured on a million short ones: a pointer and a string header. */
const ELEMENT_OVERHEAD_BYTES = 24;
/** Text in one rebuilding command. */
const REBUILD_BYTES = 64 * 1024;

export class List implements Collection {
  readonly kind = 'list';
  readonly hasOrder = true;
  #blocks = new ListBlocks();
  #isPacked = true;
  undo: UndoRecorder | undefined;

  get size(): number {
    return this.#blocks.count;
  }

  get bytes(): number {
    return this.#blocks.textBytes + this.#blocks.count * ELEMENT_OVERHEAD_BYTES;
  }

  get encoding(): string {
    return this.#isPacked ? 'listpack' : 'quicklist';
  }

  push(end: ListEnd, item: ByteString): void {
    this.undo?.push(() => this.pop(end));
    this.#blocks.push(end, item);
  }

  pop(end: ListEnd): ByteString | undefined {
    const item = this.#blocks.pop(end);
    if (item !== undefined) this.undo?.push(() => this.push(end, item), item.length);
    return item;
  }

  /** @param index from 0 to size - 1, as in the methods below */
  at(index: number): ByteString {
    return this.#blocks.at(index);
  }

  replace(index: number, item: ByteString): void {
    const { undo } = this;
    if (undo !== undefined) {
      const before = this.at(index);
      undo.push(() => this.replace(index, before), before.length);
    }
    this.#blocks.replace(index, item);
  }

  insert(index: number, item: ByteString): void {
    this.undo?.push(() => this.#blocks.take(index));
    this.#blocks.insert(index, item);
  }

  drop(end: ListEnd, count: number): void {
    if (this.undo !== undefined) this.#keepDropped(this.undo, end, count);
    this.#blocks.drop(end, count);
  }

  remove(item: ByteString, limit: number, from: ListEnd): Generator<void, number> {
    const { undo } = this;
    return this.#blocks.remove(item, limit, from, undo && ((at) => undo.push(() => this.insert(at, item))));
  }

  /**
   * Blocks of elements from one end on, each with the index of its first element; the list must not change during
   * iteration.
   */
  blocks(from: ListEnd = 'head', startIndex?: number): Generator<[Block, number]> {
    return this.#blocks.blocks(from, startIndex);
  }

  /** To be called before elements are added. @param limit `list-max-listpack-size` */
  willGrow(limit: number, textBytes: number, count: number): void {
    if (!this.#isPacked) return;
    this.#isPacked = fitsPack(limit, this.#packedBytes + textBytes, this.size + count);
  }

  /** To be called after elements were removed. */
  hasShrunk(limit: number): void {
    if (!this.#isPacked) this.#isPacked = fitsPackAgain(limit, this.#packedBytes, this.size);
  }

  get #packedBytes(): number {
    return PACK_FRAME_BYTES + this.#blocks.packedBytes;
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    let words = ['RPUSH', key];
    let bytes = 0;
    for (const item of this.contents()) {
      words.push(item);
      bytes += item.length + ELEMENT_OVERHEAD_BYTES;
      if (bytes < REBUILD_BYTES) continue;
      yield words;
      words = ['RPUSH', key];
      bytes = 0;
    }
    if (words.length > 2) yield words;
  }

  *contents(): Iterable<ByteString> {
    for (const [block] of this.#blocks.blocks()) yield* block.items;
  }

  keepState(undo: UndoRecorder): void {
    const isPacked = this.#isPacked;
    undo.push(() => {
      this.#isPacked = isPacked;
    });
  }

  /** The dropped elements were in memory before, so only the steps are charged to the log. */
  #keepDropped(undo: UndoRecorder, end: ListEnd, count: number): void {
    const dropped: ByteString[] = [];
    const { size } = this;
    for (const [{ items }, first] of this.#blocks.blocks(end)) {
      const order = end === 'head' ? items : items.toReversed();
      const left = end === 'head' ? count - first : count - (size - first - items.length);
      if (left <= 0) break;
      for (const item of left < order.length ? order.slice(0, left) : order) dropped.push(item);
    }
    const putBack = (): void => {
      for (let at = dropped.length - 1; at >= 0; at -= 1) this.push(end, dropped[at] as ByteString);
    };
    undo.push(putBack, 0, dropped.length);
  }

  clone(): List {
    const copy = new List();
    copy.#blocks = this.#blocks.clone();
    copy.#isPacked = this.#isPacked;
    return copy;
  }
}
