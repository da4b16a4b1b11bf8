/**
 * Byte strings of any length outside the JavaScript heap. Each is a chain of cells of 64 bytes; the number of the
 * first cell is its handle. A cell spends four bytes on its link, and the last cell is half empty on average.
 */
import { RecordPages } from './record-pages.js';

const CELL_BYTES = 64;
/**
 * The first word of a cell: the number of the next cell plus one (0: none), and a bit that marks the first cell of a
 * chain.
 */
const IS_FIRST = 0x8000_0000;
const NEXT_BYTES = 4;
/** In the first cell: the length of the byte string. */
const LENGTH = 1;
const LENGTH_BYTES = 4;
const SCRATCH_BYTES = 1024;

export class ByteChains {
  readonly #cells = new RecordPages(CELL_BYTES);
  #scratch = new Uint8Array(0);
  #size = 0;

  /** Number of byte strings. */
  get size(): number {
    return this.#size;
  }

  /** @returns the handle, valid until `remove` */
  add(bytes: Uint8Array): number {
    const first = this.#cells.take();
    let cell = first;
    let skipped = NEXT_BYTES + LENGTH_BYTES;
    let at = 0;
    for (;;) {
      const upTo = Math.min(bytes.length, at + CELL_BYTES - skipped);
      const next = upTo < bytes.length ? this.#cells.take() : -1;
      // Read only after the next cell exists: taking a cell may replace the buffers of a page.
      const page = this.#cells.pageOf(cell);
      const word = this.#cells.wordOf(cell);
      page.bytes.set(bytes.subarray(at, upTo), word * 4 + skipped);
      page.words[word] = cell === first ? IS_FIRST + next + 1 : next + 1;
      if (cell === first) page.words[word + LENGTH] = bytes.length;
      if (next === -1) break;
      cell = next;
      skipped = NEXT_BYTES;
      at = upTo;
    }
    this.#size += 1;
    return first;
  }

  /** @returns the bytes, valid until the next `read` */
  read(piece: number): Uint8Array {
    const { words } = this.#cells.pageOf(piece);
    const length = words[this.#cells.wordOf(piece) + LENGTH] as number;
    if (length > this.#scratch.length) this.#scratch = new Uint8Array(Math.max(SCRATCH_BYTES, 2 * length));
    let skipped = NEXT_BYTES + LENGTH_BYTES;
    let at = 0;
    for (let cell = piece; cell !== -1; cell = this.#after(cell)) {
      const upTo = Math.min(length, at + CELL_BYTES - skipped);
      const from = this.#cells.wordOf(cell) * 4 + skipped;
      this.#scratch.set(this.#cells.pageOf(cell).bytes.subarray(from, from + upTo - at), at);
      skipped = NEXT_BYTES;
      at = upTo;
    }
    return this.#scratch.subarray(0, length);
  }

  remove(piece: number): void {
    this.#size -= 1;
    for (let cell = piece; cell !== -1; ) {
      const next = this.#after(cell);
      this.#cells.release(cell);
      cell = next;
    }
  }

  /** Handles of all byte strings. Those added or removed during the iteration may or may not be seen. */
  *pieces(): IterableIterator<number> {
    for (const cell of this.#cells.slots()) if (this.#firstWord(cell) >= IS_FIRST) yield cell;
  }

  #after(cell: number): number {
    return (this.#firstWord(cell) % IS_FIRST) - 1;
  }

  #firstWord(cell: number): number {
    return this.#cells.pageOf(cell).words[this.#cells.wordOf(cell)] as number;
  }
}
