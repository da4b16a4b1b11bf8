/** The test of the tests: with a promise of the protocol broken on purpose, some seed must turn red. */
import { expect } from 'chai';
import { DELIBERATE_BUGS, turnOnBug } from '../../src/kernel/deliberate-bugs.js';
import { runSeed } from './run-seeds.js';

/**
 * Most are found within a few seeds, the rarest by one seed in forty; a bound far above that leaves room for changes of
 * the workload.
 */
const MAX_SEEDS = 500;

describe('simulation: deliberate bugs', () => {
  for (const bug of DELIBERATE_BUGS) {
    it(`turns red with ${bug}`, async function () {
      this.timeout(0);
      const turnOff = turnOnBug(bug);
      try {
        for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
          const { violation } = await runSeed(seed);
          if (violation === undefined) continue;
          console.log(`      seed ${seed}: ${violation.message.split('\n')[0]}`);
          return;
        }
      } finally {
        turnOff();
      }
      expect.fail(`${MAX_SEEDS} seeds did not notice`);
    });
  }
});
