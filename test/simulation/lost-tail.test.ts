/** A journal that lost its end is stopped with an alarm, and no client is answered from the remaining entries. */
import { expect } from 'chai';
import { NO_FAULTS } from './faults.js';
import { loseTail } from './lost-tail.js';
import { explain, runSeed } from './run-seeds.js';

const SEEDS = 6;

describe('simulation: a journal that lost its end', () => {
  for (const whoLives of ['owners live', 'owners crash'] as const) {
    it(`is detected when its ${whoLives}`, async function () {
      this.timeout(60_000);
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        for (const lost of [1, 2, 7]) {
          const report = await runSeed(seed, { faults: NO_FAULTS }, (world) => loseTail(world, lost, whoLives));
          expect(report.violation, explain(report)).to.equal(undefined);
        }
      }
    });
  }
});
