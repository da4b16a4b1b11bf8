/**
 * Loaded before the tests: properties are tried with the same values each time, so that a build says the same twice.
 * `PROPERTY_SEED` is another seed, or the word `random`; a failure prints the one it had.
 */
import fc from 'fast-check';

const given = process.env.PROPERTY_SEED ?? '1';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });
