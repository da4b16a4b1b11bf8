/** Chance for programs made at random: the same words from the same seed. */
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

  /** The words, or none. */
  maybe(words: () => string[], share = 0.35): string[] {
    return this.float() < share ? words() : [];
  }

  /** From one to `most` of them. */
  some(word: () => string, most: number): string[] {
    return Array.from({ length: 1 + this.below(most) }, word);
  }

  /** Seconds ahead, far and never twice the same: equal ones would compare by which server's clock was read first. */
  ahead(): number {
    this.#uses += 1;
    return 1000 + ((this.#uses * 7919) % 50_021);
  }
}

/** Makes the commands of a family at random. `major`: of the Redis they are compared with. */
export type Program = (dice: Dice, major: number) => readonly (() => string[])[];
