/** Randomness fit for tokens and ids, behind the port. */
import { randomBytes } from 'node:crypto';
import type { Random } from '../../ports/index.js';

/** Bits of a double's mantissa: as many random bits as a number in [0, 1) can hold evenly. */
const MANTISSA_BITS = 53;
/** Bytes fetched at a time for `float`: one call to the generator for 512 numbers. */
const POOL_BYTES = 4096;

export class NodeRandom implements Random {
  #pool = Buffer.alloc(0);
  #usedBytes = 0;

  /** Never from the pool: no two callers see bytes of the same fetch. */
  bytes(count: number): Uint8Array {
    return new Uint8Array(randomBytes(count));
  }

  float(): number {
    if (this.#usedBytes >= this.#pool.length) {
      this.#pool = randomBytes(POOL_BYTES);
      this.#usedBytes = 0;
    }
    const bits = this.#pool.readBigUInt64LE(this.#usedBytes) >> BigInt(64 - MANTISSA_BITS);
    this.#usedBytes += 8;
    return Number(bits) / 2 ** MANTISSA_BITS;
  }
}
