/**
 * Pages of bytes outside of the heap. They are cut from slabs that grow with what is in use; a page given back is
 * taken again; slabs are left to the collector all at once, when no page is in use.
 */

/** Small, as a page belongs to one segment of keys and is filled by it alone. */
export const PAGE_BYTES = 4096;
/** Of 256 KiB: a mebibyte would be unused memory in partitions of a few thousand keys. */
const MAX_SLAB_PAGES = 64;
/** A new slab is about this part of what is there already. */
const SLAB_SHARE = 8;

export class PagePool {
  readonly #free: Buffer[] = [];
  #pages = 0;

  take(): Buffer {
    return this.#free.pop() ?? this.#grow();
  }

  giveBack(pages: readonly Buffer[]): void {
    for (const page of pages) this.#free.push(page);
  }

  /** To be called when all pages were given back: none is kept. */
  clear(): void {
    this.#free.length = 0;
    this.#pages = 0;
  }

  #grow(): Buffer {
    const count = Math.min(MAX_SLAB_PAGES, Math.max(2, Math.floor(this.#pages / SLAB_SHARE)));
    const slab = Buffer.allocUnsafeSlow(count * PAGE_BYTES);
    this.#pages += count;
    for (let i = 1; i < count; i += 1) this.#free.push(slab.subarray(i * PAGE_BYTES, (i + 1) * PAGE_BYTES));
    return slab.subarray(0, PAGE_BYTES);
  }
}
