/** Random choices for generated programs; the same seed gives the same words. */
import { seededRandom } from '../kv-bench.js';

export class Dice {
  readonly float: () => number;
  #uses = 0;

  constructor(seed: number) {
    const random = seededRandom(seed);
    for (let i = 0; i < 20; i += 1) random.float();
    this.float = () => random.float();
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.float() * choices.length)] as T;
  }

  /** An integer from 0 to `below` - 1. */
  below(below: number): number {
    return Math.floor(this.float() * below);
  }

  chance(share: number): boolean {
    return this.float() < share;
  }

  /** The words with probability `share`, otherwise none. */
  maybe(words: () => string[], share = 0.35): string[] {
    return this.float() < share ? words() : [];
  }

  /** One to `most` words. */
  some(word: () => string, most: number): string[] {
    return Array.from({ length: 1 + this.below(most) }, word);
  }

  /**
   * An instant in seconds, far in the future and different each time. The order of equal ones would depend on which
   * server reads its clock first.
   */
  ahead(): number {
    this.#uses += 1;
    return 1000 + ((this.#uses * 7919) % 50_021);
  }
}

/** Makes random commands of a family. `major` is the version of the Redis server to compare with. */
export type Program = (dice: Dice, major: number) => readonly (() => string[])[];
