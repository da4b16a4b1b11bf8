/**
 * A buffer that collects bytes in pieces. Joining ten megabytes at the end would block for the time of the copy; here
 * each piece is copied into place when it arrives.
 *
 *  GB1 bytes that were taken are never written again
 *  GB2 memory is allocated as bytes arrive; at most half of it is unused, or three quarters if that many bytes were
 *      announced
 */

/** Spare capacity, so that a small addition does not copy the whole buffer. */
const SLACK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

export class GrowingBytes {
  #buffer = EMPTY;
  #length = 0;

  /**
   * @param expectedBytes allocated with the first bytes, if known @param announcedBytes an unverified total: allocated
   * once a quarter has arrived, so that little is copied
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

  /** @param text with characters below 256 */
  appendLatin1(text: string): void {
    this.#reserve(text.length);
    this.#length += this.#buffer.write(text, this.#length, 'latin1');
  }

  /** Drops all bytes after the first `length`. */
  cut(length: number): void {
    this.#length = length;
  }

  /** Returns all bytes; the buffer is empty afterwards. */
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
