/** The numbers of `math.random`: Redis's own generator (drand48's), so that scripts see the same sequence. */

const MULTIPLIER = 0x5deece66dn;
const INCREMENT = 0xbn;
const MASK = (1n << 48n) - 1n;
const LOW_WORD = 0x330en;
const MAX = 2 ** 31 - 1;
/** Where the generator begins that nobody has seeded. */
const UNSEEDED = 0x1234abcd330en;

export class LuaRandom {
  #state = UNSEEDED;

  /** @param seed its low 32 bits count */
  seed(seed: number): void {
    this.#state = (BigInt.asUintN(32, BigInt(Math.trunc(seed) || 0)) << 16n) | LOW_WORD;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state * MULTIPLIER + INCREMENT) & MASK;
    return (Number(this.#state >> 17n) % MAX) / MAX;
  }
}
