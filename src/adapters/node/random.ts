/**
 * Randomness fit for tokens and ids, behind the port.
 *
 *  RN1 no byte is given out twice, and a byte that was given out is not kept
 */
import { randomBytes } from 'node:crypto';
import type { Random } from '../../ports/index.js';

/** Bits of a double's mantissa: as many random bits as a number in [0, 1) can hold evenly. */
const MANTISSA_BITS = 53;
/** Fetched at a time: one call to the generator, which costs microseconds, for a hundred ids. */
const POOL_BYTES = 4096;
/** Ids and the like come from the pool; anything longer, keys among it, is fetched for itself. */
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

  /** Where in the pool so many fresh bytes stand; nobody else gets them. */
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
