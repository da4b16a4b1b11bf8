/**
 * What the random parts of these tests begin from: the same in every run, so that a change is what turns them red;
 * `DIFFERENTIAL_SEED` is another one, or `random` for one that nobody has seen.
 */
const STANDARD_SEED = 1;
const NEW_SEEDS = 1_000_000_000;

export const SEED = seedOf(process.env.DIFFERENTIAL_SEED);

function seedOf(given = ''): number {
  if (given === '') return STANDARD_SEED;
  if (given === 'random') return Date.now() % NEW_SEEDS;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new Error(`DIFFERENTIAL_SEED is a number or the word random, not ${given}`);
}
