/**
 * Random values for tokens and ids.
 *
 *  RN1 no byte is returned twice, and returned bytes are not kept
 */
import { randomBytes } from 'node:crypto';
import type { Random } from '../../ports/index.js';

/** Bits of a double's mantissa: the random bits that a number in [0, 1) can hold uniformly. */
const MANTISSA_BITS = 53;
/** One call to the generator takes microseconds and gives the bytes of a hundred ids. */
const POOL_BYTES = 4096;
/** Ids come from the pool; longer values, such as keys, are generated separately. */
const POOLED_BYTES = 28;
const FLOAT_BYTES = 8;

export class NodeRandom implements Random {
  #pool = Buffer.alloc(0);
  #usedBytes = 0;

  bytes(count: number): Uint8Array {
    if (count > POOLED_BYTES) return new Uint8Array(randomBytes(count));
    const bytes = new Uint8Array(count);
    const from = this.#take(count);
    for (let at = 0; at < count; at += 1) {
      bytes[at] = this.#pool[from + at] as number;
      this.#pool[from + at] = 0;
    }
    return bytes;
  }

  float(): number {
    const from = this.#take(FLOAT_BYTES);
    const bits = this.#pool.readBigUInt64LE(from) >> BigInt(64 - MANTISSA_BITS);
    return Number(bits) / 2 ** MANTISSA_BITS;
  }

  /** The place of this many new bytes in the pool, returned only once. */
  #take(count: number): number {
    if (this.#usedBytes + count > this.#pool.length) {
      this.#pool = randomBytes(POOL_BYTES);
      this.#usedBytes = 0;
    }
    const from = this.#usedBytes;
    this.#usedBytes += count;
    return from;
  }
}
