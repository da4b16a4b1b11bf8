/**
 * The number of repetitions of a random test. `make test` runs on four releases of Node.js with fewer repetitions; CI
 * runs each release with another seed. `make test-random` sets `TEST_DEPTH=full` for all repetitions.
 */
const IS_FULL_DEPTH = process.env.TEST_DEPTH === 'full' || Number(process.env.FUZZ_SECONDS ?? 0) > 0;

/** The share of repetitions in the quick tier, unless a test sets another. */
const QUICK_SHARE = 1 / 4;

/** @param full repetitions at full depth  @param quick repetitions in the quick tier */
export function repetitions(full: number, quick = Math.ceil(full * QUICK_SHARE)): number {
  return IS_FULL_DEPTH ? full : quick;
}
