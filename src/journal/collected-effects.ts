/**
 * Effects of one partition, copied together, because an entry is often smaller than the overhead of holding it. Blocks
 * end where sections end, so each can be applied separately.
 */
/** A block never grows: a full one is followed by another, up to this length. */
const MAX_BLOCK_BYTES = 1024 * 1024;
const MIN_BLOCK_BYTES = 1024;

export class CollectedEffects {
  readonly #full: Uint8Array[] = [];
  #block = new Uint8Array(MIN_BLOCK_BYTES);
  #used = 0;
  #bytes = 0;

  /** The bytes added. */
  get bytes(): number {
    return this.#bytes;
  }

  add(effects: Uint8Array): void {
    this.#bytes += effects.length;
    if (this.#used + effects.length > this.#block.length) this.#beginBlock(effects.length);
    this.#block.set(effects, this.#used);
    this.#used += effects.length;
  }

  #beginBlock(neededBytes: number): void {
    if (this.#used > 0) this.#full.push(this.#block.subarray(0, this.#used));
    this.#block = new Uint8Array(Math.max(neededBytes, Math.min(2 * this.#block.length, MAX_BLOCK_BYTES)));
    this.#used = 0;
  }

  /** The blocks, for the last time: each is released when the next one is requested. */
  *taken(): Iterable<Uint8Array> {
    const blocks = [...this.blocks()].reverse();
    this.#full.length = 0;
    this.#block = new Uint8Array(0);
    this.#used = 0;
    for (let block = blocks.pop(); block !== undefined; block = blocks.pop()) yield block;
  }

  *blocks(): Iterable<Uint8Array> {
    yield* this.#full;
    if (this.#used > 0) yield this.#block.subarray(0, this.#used);
  }
}
