/**
 * The duration of fuzz tests, and the repetition of a run. In the quick tier each test has a quarter of its rounds.
 * With `FUZZ_SECONDS` each loaded test has all its rounds, then the tests share the remaining time evenly. `FUZZ_SEED`
 * repeats an earlier run.
 */
import { repetitions } from '../support/depth.js';
import { type SeededRandom, seededRandom } from '../support/seeded-random.js';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 0);
/** Of this run; the same at every run unless asked otherwise, so that the tier fails for changes alone. */
const FUZZ_SEED = Number(process.env.FUZZ_SEED ?? (SECONDS > 0 ? Date.now() % 1_000_000_000 : 1));

/** Added to the share of a test. It ends a test that hangs, and is too long to end one on a busy machine. */
const TIMEOUT_MS = 300_000;

/** Loaded before the first of them runs. */
let tests = 0;

/**
 * A test of mocha: `round` with other dice each time, `rounds` times at full depth, and for its share of FUZZ_SECONDS.
 * What fails is thrown again with the seed that repeats it.
 */
export function itHolds(title: string, rounds: number, round: (random: FuzzRandom) => void | Promise<void>): void {
  tests += 1;
  it(title, async function () {
    const shareMs = (SECONDS * 1000) / tests;
    this.timeout(shareMs + TIMEOUT_MS);
    const endMs = performance.now() + shareMs;
    const least = repetitions(rounds);
    for (let i = 0; i < least || performance.now() < endMs; i += 1) {
      const seed = FUZZ_SEED + i;
      try {
        await round(new FuzzRandom(seed));
      } catch (error) {
        const failure = error as Error;
        failure.message = `FUZZ_SEED=${seed}: ${failure.message}`;
        throw failure;
      }
    }
  });
}

/** Dice with what fuzzing asks of them. */
export class FuzzRandom {
  readonly #random: SeededRandom;

  constructor(readonly seed: number) {
    this.#random = seededRandom(Math.imul(seed, 2_654_435_761));
  }

  below(bound: number): number {
    return this.#random.below(bound);
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  pick<T>(choices: readonly T[]): T {
    return this.#random.pick(choices);
  }

  /** Each byte from those given, or any. */
  bytes(length: number, from?: string): string {
    let text = '';
    for (let i = 0; i < length; i += 1) {
      text += from === undefined ? String.fromCharCode(this.below(256)) : from.charAt(this.below(from.length));
    }
    return text;
  }

  list<T>(most: number, item: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, item);
  }

  /** Cut into pieces at random places; some are empty. */
  pieces(text: string): string[] {
    const cuts = this.list(6, () => this.below(text.length + 1)).sort((a, b) => a - b);
    return [...cuts, text.length].map((end, i) => text.slice(cuts[i - 1] ?? 0, end));
  }

  /** A few bytes changed, put in, taken out or doubled. */
  damaged(text: string): string {
    let result = text;
    for (let i = 0; i <= this.below(4); i += 1) {
      const at = this.below(result.length + 1);
      const length = this.below(4);
      const after = result.slice(at + this.below(4));
      const middle = this.pick([
        () => this.bytes(length),
        () => '',
        () => result.slice(at, at + 8),
        () => this.pick(['\x00', '\xff', '\x7f', '\x80', '\xff\xff\xff\xff']),
      ])();
      result = result.slice(0, at) + middle + after;
    }
    return result;
  }
}
