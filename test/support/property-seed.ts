/**
 * Loaded before the tests: property tests use the same values in each run, so that two runs of a build have the same
 * result. `PROPERTY_SEED` sets another seed, or `random`; a failure prints its seed.
 */
import fc from 'fast-check';

const given = process.env.PROPERTY_SEED ?? '1';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });
