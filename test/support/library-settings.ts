/**
 * Settings of the test libraries, loaded before the tests.
 *
 * Property tests use the same values in each run, so that two runs of a build have the same result. `PROPERTY_SEED` sets
 * another seed, or `random`; a failure prints its seed. A failed comparison shows up to 400 characters of its values,
 * because the summary of a CI run has the first line of an error only.
 */
import { config } from 'chai';
import fc from 'fast-check';

const given = process.env.PROPERTY_SEED ?? '1';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });

config.truncateThreshold = 400;

// Mocha sets the code at its end. If a worker crashes, a parallel run ends without a summary and would have the code 0.
process.exitCode = 1;
