/** The test of the queue's tests: with a promise broken on purpose, some seed must turn red. */
import { expect } from 'chai';
import { DELIBERATE_QUEUE_BUGS, turnOnBug } from '../../src/kernel/deliberate-bugs.js';
import { runQueueSeed } from './queue-run-seeds.js';

/** Each is found within a few seeds; a bound far above that leaves room for changes of the workload. */
const MAX_SEEDS = 60;

describe('queue simulation: deliberate bugs', () => {
  for (const bug of DELIBERATE_QUEUE_BUGS) {
    it(`turns red with ${bug}`, async function () {
      this.timeout(0);
      const turnOff = turnOnBug(bug);
      try {
        for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
          const { violation } = await runQueueSeed(seed);
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
