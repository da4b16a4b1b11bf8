/** Bytes of a response up to a limit; further ones are dropped. */

const NOTHING = new Uint8Array(0);

export class ResponseBody {
  /** Always a copy, because chunks are views of a larger buffer. */
  #bytes: Uint8Array = NOTHING;
  #length = 0;

  constructor(readonly maxBytes: number) {}

  get length(): number {
    return this.#length;
  }

  /** @returns true when there was more than the limit */
  add(chunk: Uint8Array): boolean {
    const room = this.maxBytes - this.#length;
    const taken = chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (taken.length > 0) this.#append(taken);
    return chunk.length > room;
  }

  bytes(): Uint8Array {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.#length);
  }

  #append(chunk: Uint8Array): void {
    if (this.#length === 0) {
      this.#bytes = new Uint8Array(chunk);
    } else {
      const needed = this.#length + chunk.length;
      if (needed > this.#bytes.length) this.#growTo(Math.min(Math.max(needed, 2 * this.#bytes.length), this.maxBytes));
      this.#bytes.set(chunk, this.#length);
    }
    this.#length += chunk.length;
  }

  #growTo(capacity: number): void {
    const larger = new Uint8Array(capacity);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
