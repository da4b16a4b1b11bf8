/**
 * Bytes that come piece by piece and are wanted in one. Putting ten megabytes together at the end holds everybody up for
 * the time of a copy; here they are where they belong as soon as they come.
 *
 *  GB1 what was taken is never written to again
 *  GB2 memory is asked for when bytes come; where nothing else was expected, at most half of it is unused, and three
 *      quarters where so many were announced
 */

/** Room behind what is there, so that a little more does not move much. */
const SLACK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

export class GrowingBytes {
  #buffer = EMPTY;
  #length = 0;

  /**
   * @param expectedBytes asked for with the first that come, where it is known
   * @param announcedBytes so many come if it is true: asked for when a quarter of them is there, so that little is moved
   */
  constructor(
    private readonly expectedBytes = 0,
    private readonly announcedBytes = 0,
  ) {}

  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** @param text of characters below 256 */
  appendLatin1(text: string): void {
    this.#reserve(text.length);
    this.#length += this.#buffer.write(text, this.#length, 'latin1');
  }

  /** Forgets what is behind the first `length` bytes. */
  cut(length: number): void {
    this.#length = length;
  }

  /** All of it; what comes next begins anew. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = EMPTY;
    this.#length = 0;
    return bytes;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#buffer.length) return;
    const grown = Math.max(needed + SLACK_BYTES, 2 * this.#buffer.length, this.expectedBytes);
    const isBelieved = needed <= this.announcedBytes && needed >= this.announcedBytes / 4;
    const larger = Buffer.allocUnsafeSlow(isBelieved ? this.announcedBytes : grown);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
