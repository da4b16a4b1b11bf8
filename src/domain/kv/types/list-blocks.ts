/**
 * A sequence of byte strings in blocks, and blocks in chapters: O(1) at both ends, about the square root of the length
 * in the middle. Each block knows its total bytes, so that whole blocks are skipped or dropped without reading their
 * elements.
 *
 *  LB1 no block and no chapter is empty
 *  LB2 a block has at most BLOCK_ELEMENTS elements, a chapter at most CHAPTER_BLOCKS blocks
 */
import type { ByteString } from '../../../kernel/index.js';
import { packedBytes } from './list-pack.js';

/** Moving this many pointers is cheaper than avoiding it. */
export const BLOCK_ELEMENTS = 128;
/** With ten million elements both levels have about 300 items. */
const CHAPTER_BLOCKS = 512;

export class Block {
  /** Bytes of the elements, as text and in Redis's packed form. */
  textBytes = 0;
  packedBytes = 0;

  constructor(readonly items: ByteString[] = []) {
    for (const item of items) this.weigh(item, 1);
  }

  weigh(item: ByteString, sign: 1 | -1): void {
    this.textBytes += sign * item.length;
    this.packedBytes += sign * packedBytes(item);
  }
}

interface Chapter {
  readonly blocks: Block[];
  count: number;
}

interface ItemPosition {
  readonly chapterAt: number;
  readonly blockAt: number;
  readonly itemAt: number;
}

export type ListEnd = 'head' | 'tail';

/** An element to be removed, and the end from which it is searched for. */
interface SoughtItem {
  readonly item: ByteString;
  readonly from: ListEnd;
}

export class ListBlocks {
  #chapters: Chapter[] = [];
  #count = 0;
  #textBytes = 0;
  #packedBytes = 0;

  get count(): number {
    return this.#count;
  }

  get textBytes(): number {
    return this.#textBytes;
  }

  get packedBytes(): number {
    return this.#packedBytes;
  }

  push(end: ListEnd, item: ByteString): void {
    const atHead = end === 'head';
    let chapter = atHead ? this.#chapters[0] : this.#chapters.at(-1);
    let block = atHead ? chapter?.blocks[0] : chapter?.blocks.at(-1);
    if (chapter === undefined || block === undefined || block.items.length >= BLOCK_ELEMENTS) {
      if (chapter === undefined || chapter.blocks.length >= CHAPTER_BLOCKS) {
        chapter = { blocks: [], count: 0 };
        if (atHead) this.#chapters.unshift(chapter);
        else this.#chapters.push(chapter);
      }
      block = new Block();
      if (atHead) chapter.blocks.unshift(block);
      else chapter.blocks.push(block);
    }
    if (atHead) block.items.unshift(item);
    else block.items.push(item);
    this.#account(chapter, block, item, 1);
  }

  pop(end: ListEnd): ByteString | undefined {
    const chapter = end === 'head' ? this.#chapters[0] : this.#chapters.at(-1);
    const block = end === 'head' ? chapter?.blocks[0] : chapter?.blocks.at(-1);
    if (chapter === undefined || block === undefined) return undefined;
    const item = (end === 'head' ? block.items.shift() : block.items.pop()) as ByteString;
    this.#account(chapter, block, item, -1);
    if (block.items.length > 0) return item;
    if (end === 'head') chapter.blocks.shift();
    else chapter.blocks.pop();
    if (chapter.blocks.length > 0) return item;
    if (end === 'head') this.#chapters.shift();
    else this.#chapters.pop();
    return item;
  }

  /** @param index from 0 to count - 1 */
  at(index: number): ByteString {
    const { chapterAt, blockAt, itemAt } = this.#find(index);
    return this.#chapters[chapterAt]?.blocks[blockAt]?.items[itemAt] as ByteString;
  }

  replace(index: number, item: ByteString): void {
    const { chapterAt, blockAt, itemAt } = this.#find(index);
    const chapter = this.#chapters[chapterAt] as Chapter;
    const block = chapter.blocks[blockAt] as Block;
    this.#account(chapter, block, block.items[itemAt] as ByteString, -1);
    block.items[itemAt] = item;
    this.#account(chapter, block, item, 1);
  }

  /** @param index of the following element; `count` appends */
  insert(index: number, item: ByteString): void {
    if (index === this.#count) {
      this.push('tail', item);
      return;
    }
    const { chapterAt, blockAt, itemAt } = this.#find(index);
    const chapter = this.#chapters[chapterAt] as Chapter;
    const block = chapter.blocks[blockAt] as Block;
    block.items.splice(itemAt, 0, item);
    this.#account(chapter, block, item, 1);
    if (block.items.length <= BLOCK_ELEMENTS) return;
    const half = block.items.splice(BLOCK_ELEMENTS / 2);
    for (const moved of half) block.weigh(moved, -1);
    chapter.blocks.splice(blockAt + 1, 0, new Block(half));
    if (chapter.blocks.length <= CHAPTER_BLOCKS) return;
    const blocks = chapter.blocks.splice(CHAPTER_BLOCKS / 2);
    const count = blocks.reduce((sum, { items }) => sum + items.length, 0);
    chapter.count -= count;
    this.#chapters.splice(chapterAt + 1, 0, { blocks, count });
  }

  /** Removes one element. @param index from 0 to count - 1 */
  take(index: number): void {
    const { chapterAt, blockAt, itemAt } = this.#find(index);
    const chapter = this.#chapters[chapterAt] as Chapter;
    const block = chapter.blocks[blockAt] as Block;
    for (const item of block.items.splice(itemAt, 1)) this.#account(chapter, block, item, -1);
    if (block.items.length === 0) chapter.blocks.splice(blockAt, 1);
    if (chapter.blocks.length === 0) this.#chapters.splice(chapterAt, 1);
  }

  /** Removes `count` elements at one end; whole blocks without reading them. */
  drop(end: ListEnd, count: number): void {
    let left = count;
    while (left > 0) {
      const chapter = (end === 'head' ? this.#chapters[0] : this.#chapters.at(-1)) as Chapter;
      const block = (end === 'head' ? chapter.blocks[0] : chapter.blocks.at(-1)) as Block;
      if (block.items.length > left) {
        for (; left > 0; left -= 1) this.pop(end);
        return;
      }
      left -= block.items.length;
      this.#forget(chapter, block);
      if (end === 'head') chapter.blocks.shift();
      else chapter.blocks.pop();
      if (chapter.blocks.length > 0) continue;
      if (end === 'head') this.#chapters.shift();
      else this.#chapters.pop();
    }
  }

  /**
   * Blocks from one end to the other, each with the index of its first element. The list must not change during
   * iteration.
   */
  *blocks(from: ListEnd = 'head', startIndex = from === 'head' ? 0 : this.#count - 1): Generator<[Block, number]> {
    if (startIndex < 0 || startIndex >= this.#count) return;
    const place = this.#find(startIndex);
    let first = startIndex - place.itemAt;
    const step = from === 'head' ? 1 : -1;
    let blockAt = place.blockAt;
    for (let chapterAt = place.chapterAt; chapterAt >= 0 && chapterAt < this.#chapters.length; chapterAt += step) {
      const { blocks } = this.#chapters[chapterAt] as Chapter;
      if (chapterAt !== place.chapterAt) blockAt = step > 0 ? 0 : blocks.length - 1;
      for (; blockAt >= 0 && blockAt < blocks.length; blockAt += step) {
        const block = blocks[blockAt] as Block;
        yield [block, first];
        first +=
          step > 0 ? block.items.length : -(blocks[blockAt - 1] ?? this.#lastBlockBefore(chapterAt)).items.length;
      }
    }
  }

  /**
   * Removes elements equal to `item`, at most `limit`, starting at one end; yields after each chapter, in a consistent
   * state. @returns how many were removed @param onRemoved gets the index of each element at its removal
   */
  *remove(
    item: ByteString,
    limit: number,
    from: ListEnd,
    onRemoved?: (index: number) => void,
  ): Generator<void, number> {
    let removed = 0;
    /** Elements that were visited and kept. */
    let passed = 0;
    const step = from === 'head' ? 1 : -1;
    const sought: SoughtItem = { item, from };
    for (
      let chapterAt = from === 'head' ? 0 : this.#chapters.length - 1;
      chapterAt >= 0 && chapterAt < this.#chapters.length && removed < limit;
      chapterAt += step
    ) {
      const chapter = this.#chapters[chapterAt] as Chapter;
      const before = removed;
      for (
        let blockAt = from === 'head' ? 0 : chapter.blocks.length - 1;
        blockAt >= 0 && blockAt < chapter.blocks.length && removed < limit;
        blockAt += step
      ) {
        const block = chapter.blocks[blockAt] as Block;
        const first = () => (from === 'head' ? passed : this.#count - passed - block.items.length);
        const tell = onRemoved && ((at: number) => onRemoved(first() + at));
        removed += this.#removeInBlock(chapter, block, sought, limit - removed, tell);
        passed += block.items.length;
      }
      if (removed > before) {
        packTogether(chapter.blocks);
        if (chapter.blocks.length === 0) {
          this.#chapters.splice(chapterAt, 1);
          if (step > 0) chapterAt -= 1;
        }
      }
      yield;
    }
    return removed;
  }

  clone(): ListBlocks {
    const copy = new ListBlocks();
    copy.#chapters = this.#chapters.map(({ blocks, count }) => ({
      blocks: blocks.map((block) => new Block([...block.items])),
      count,
    }));
    copy.#count = this.#count;
    copy.#textBytes = this.#textBytes;
    copy.#packedBytes = this.#packedBytes;
    return copy;
  }

  #removeInBlock(
    chapter: Chapter,
    block: Block,
    { item, from }: SoughtItem,
    limit: number,
    onRemoved: ((at: number) => void) | undefined,
  ): number {
    const { items } = block;
    let removed = 0;
    let at = from === 'head' ? items.indexOf(item) : items.lastIndexOf(item);
    while (at >= 0 && removed < limit) {
      onRemoved?.(at);
      items.splice(at, 1);
      this.#account(chapter, block, item, -1);
      removed += 1;
      // lastIndexOf treats a negative start as relative to the end, so the search stops at index 0.
      at = from === 'head' ? items.indexOf(item, at) : at === 0 ? -1 : items.lastIndexOf(item, at - 1);
    }
    return removed;
  }

  #lastBlockBefore(chapterAt: number): Block {
    return this.#chapters[chapterAt - 1]?.blocks.at(-1) ?? NOTHING;
  }

  #find(index: number): ItemPosition {
    let left = index;
    let chapterAt = 0;
    if (index * 2 > this.#count) {
      // From the end: the index of a chapter's first element follows from the counts of the chapters after it.
      chapterAt = this.#chapters.length - 1;
      let first = this.#count - (this.#chapters[chapterAt] as Chapter).count;
      while (first > index) {
        chapterAt -= 1;
        first -= (this.#chapters[chapterAt] as Chapter).count;
      }
      left = index - first;
    } else {
      while (left >= (this.#chapters[chapterAt] as Chapter).count) {
        left -= (this.#chapters[chapterAt] as Chapter).count;
        chapterAt += 1;
      }
    }
    const { blocks, count } = this.#chapters[chapterAt] as Chapter;
    if (left * 2 > count) {
      let blockAt = blocks.length - 1;
      let first = count - (blocks[blockAt] as Block).items.length;
      while (first > left) {
        blockAt -= 1;
        first -= (blocks[blockAt] as Block).items.length;
      }
      return { chapterAt, blockAt, itemAt: left - first };
    }
    let blockAt = 0;
    while (left >= (blocks[blockAt] as Block).items.length) {
      left -= (blocks[blockAt] as Block).items.length;
      blockAt += 1;
    }
    return { chapterAt, blockAt, itemAt: left };
  }

  #account(chapter: Chapter, block: Block, item: ByteString, sign: 1 | -1): void {
    const packed = sign * packedBytes(item);
    block.textBytes += sign * item.length;
    block.packedBytes += packed;
    chapter.count += sign;
    this.#count += sign;
    this.#textBytes += sign * item.length;
    this.#packedBytes += packed;
  }

  #forget(chapter: Chapter, block: Block): void {
    chapter.count -= block.items.length;
    this.#count -= block.items.length;
    this.#textBytes -= block.textBytes;
    this.#packedBytes -= block.packedBytes;
  }
}

const NOTHING = new Block();

/** Removes empty blocks and merges adjacent ones that fit into one block, in place. */
function packTogether(blocks: Block[]): void {
  let kept = 0;
  for (const block of blocks) {
    if (block.items.length === 0) continue;
    const last = kept > 0 ? (blocks[kept - 1] as Block) : undefined;
    if (last !== undefined && last.items.length + block.items.length <= BLOCK_ELEMENTS) {
      last.items.push(...block.items);
      last.textBytes += block.textBytes;
      last.packedBytes += block.packedBytes;
    } else {
      blocks[kept] = block;
      kept += 1;
    }
  }
  blocks.length = kept;
}
