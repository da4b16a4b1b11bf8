/**
 * The seed of the random parts of these tests. It is the same in every run, therefore only a change can make them fail;
 * `DIFFERENTIAL_SEED` sets another seed, or `random` for a new one.
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
