/**
 * How often a test repeats a case that chance decides. `make test` runs on four releases of Node.js and repeats it less
 * often; CI runs each release with another seed. `make test-random` sets `TEST_DEPTH=full` and repeats it in full.
 */
const IS_FULL_DEPTH = process.env.TEST_DEPTH === 'full' || Number(process.env.FUZZ_SECONDS ?? 0) > 0;

/** The share of the repetitions in the quick tier, unless a test says another. */
const QUICK_SHARE = 1 / 4;

/** @param full repetitions at full depth  @param quick repetitions in the quick tier */
export function repetitions(full: number, quick = Math.ceil(full * QUICK_SHARE)): number {
  return IS_FULL_DEPTH ? full : quick;
}
