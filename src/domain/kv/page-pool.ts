/**
 * Pages of bytes outside the JavaScript heap, and the indexes that lead into them. Both are cut from slabs and reused
 * after they are given back; all slabs are released together when the map is empty. Large slabs are separate memory
 * mappings, which the allocator returns to the system; thousands of small arrays would fragment the allocator's memory
 * and keep it.
 */

/** Small, because a page is used by one segment only. */
export const PAGE_BYTES = 4096;
/** 256 KiB: the system provides the memory page by page as it is written, and the allocator returns it. */
const LARGE_SLAB_PAGES = 64;
/** Cells of an index, and addresses for which it has room. */
export const INDEX_CELLS = 1024;
export const INDEX_ADDRESSES = 640;
const CELL_BYTES = Uint16Array.BYTES_PER_ELEMENT * INDEX_CELLS;
const INDEX_BYTES = CELL_BYTES + Uint32Array.BYTES_PER_ELEMENT * INDEX_ADDRESSES;
const LARGE_SLAB_INDEXES = 56;
/** The first slabs hold two items, enough for a few hundred keys. */
const SMALL_SLABS = 8;

/** Numbers that lead to the entries of a segment; the segment defines their meaning. */
export interface PageIndex {
  readonly cells: Uint16Array;
  readonly addresses: Uint32Array;
}

export class PagePool {
  readonly #free: Buffer[] = [];
  #pages = 0;
  readonly #freeIndexes: PageIndex[] = [];
  #indexes = 0;

  take(): Buffer {
    return this.#free.pop() ?? this.#grow();
  }

  giveBack(pages: readonly Buffer[]): void {
    for (const page of pages) this.#free.push(page);
  }

  /** All cells are 0; the addresses are uninitialised. */
  takeIndex(): PageIndex {
    return this.#freeIndexes.pop() ?? this.#growIndexes();
  }

  giveBackIndex(index: PageIndex): void {
    index.cells.fill(0);
    this.#freeIndexes.push(index);
  }

  /** Releases all slabs. Only to be called when no page or index is in use. */
  clear(): void {
    this.#free.length = 0;
    this.#pages = 0;
    this.#freeIndexes.length = 0;
    this.#indexes = 0;
  }

  #grow(): Buffer {
    const count = slabSize(this.#pages, LARGE_SLAB_PAGES);
    const slab = Buffer.allocUnsafeSlow(count * PAGE_BYTES);
    this.#pages += count;
    for (let i = 1; i < count; i += 1) this.#free.push(slab.subarray(i * PAGE_BYTES, (i + 1) * PAGE_BYTES));
    return slab.subarray(0, PAGE_BYTES);
  }

  #growIndexes(): PageIndex {
    const count = slabSize(this.#indexes, LARGE_SLAB_INDEXES);
    const slab = new ArrayBuffer(count * INDEX_BYTES);
    this.#indexes += count;
    for (let i = 1; i < count; i += 1) this.#freeIndexes.push(indexIn(slab, i));
    return indexIn(slab, 0);
  }
}

function slabSize(inUse: number, large: number): number {
  return inUse < 2 * SMALL_SLABS ? 2 : large;
}

function indexIn(slab: ArrayBuffer, place: number): PageIndex {
  const at = place * INDEX_BYTES;
  return {
    cells: new Uint16Array(slab, at, INDEX_CELLS),
    addresses: new Uint32Array(slab, at + CELL_BYTES, INDEX_ADDRESSES),
  };
}
