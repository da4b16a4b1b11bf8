/** The numbers of `math.random`: Redis's generator (drand48), so that scripts get the same sequence. */

const MULTIPLIER = 0x5deece66dn;
const INCREMENT = 0xbn;
const MASK = (1n << 48n) - 1n;
const LOW_WORD = 0x330en;
const MAX = 2 ** 31 - 1;
/** The initial state without a seed. */
const UNSEEDED = 0x1234abcd330en;

export class LuaRandom {
  #state = UNSEEDED;

  /** @param seed of which the low 32 bits are used */
  seed(seed: number): void {
    this.#state = (BigInt.asUintN(32, BigInt(Math.trunc(seed) || 0)) << 16n) | LOW_WORD;
  }

  /** A number from 0 up to but excluding 1. */
  next(): number {
    this.#state = (this.#state * MULTIPLIER + INCREMENT) & MASK;
    return (Number(this.#state >> 17n) % MAX) / MAX;
  }
}
