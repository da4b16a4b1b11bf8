/**
 * The only source of randomness in the simulation: xoshiro128**, seeded through splitmix32. `fork` gives each part a
 * separate stream, therefore a part that draws more does not change the draws of another. Source: Blackman and Vigna,
 * "Scrambled linear pseudorandom number generators".
 */
import type { Random } from '../../src/ports/index.js';

export class SeededRandom implements Random {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  constructor(seed: number) {
    let state = seed | 0;
    const next = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let mixed = state ^ (state >>> 16);
      mixed = Math.imul(mixed, 0x21f0aaad);
      mixed ^= mixed >>> 15;
      mixed = Math.imul(mixed, 0x735a2d97);
      return mixed ^ (mixed >>> 15);
    };
    this.a = next();
    this.b = next();
    this.c = next();
    this.d = next() | 1;
  }

  uint32(): number {
    const result = Math.imul(rotl(Math.imul(this.b, 5), 7), 9);
    const shifted = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = rotl(this.d, 11);
    return result >>> 0;
  }

  float(): number {
    return this.uint32() / 2 ** 32;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.uint32() & 0xff);
  }

  /** An integer from 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor(this.float() * bound);
  }

  between(low: number, high: number): number {
    return low + this.float() * (high - low);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  fork(): SeededRandom {
    return new SeededRandom(this.uint32());
  }
}

function rotl(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
