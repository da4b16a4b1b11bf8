/**
 * Hundreds of random workflows, run in parallel by the published client against a real process, give the results,
 * effects and their order, requests, calls and failures that a direct model predicts.
 */
import { expect } from 'chai';
import { quietly } from '../../support/queue-process.js';
import { type SeededRandom, seededRandom, seedOfThisRun } from '../../support/seeded-random.js';
import { WorkflowChaosStand } from '../../support/workflow-chaos-stand.js';
import { randomProgram } from '../../support/workflow-programs.js';

const PROGRAMS = 300;
const TRIGGERED_AT_ONCE = 25;

describe('random workflows of the published client', function () {
  this.timeout(180_000);
  let stand: WorkflowChaosStand;
  let random: SeededRandom;
  const seed = seedOfThisRun();
  before(async () => {
    console.log(`      seed ${seed}; replay: CHAOS_SEED=${seed}`);
    random = seededRandom(seed);
    stand = await WorkflowChaosStand.start({ random, retryDelay: '20', patienceSeconds: 120 });
  });
  after(() => stand?.stop());

  it(`${PROGRAMS} of them end as the model predicts`, async () => {
    const programs = Array.from({ length: PROGRAMS }, (_, at) => randomProgram(random, `p${at}`, { isFaulty: false }));
    await quietly(async () => {
      for (let from = 0; from < programs.length; from += TRIGGERED_AT_ONCE) {
        await Promise.all(programs.slice(from, from + TRIGGERED_AT_ONCE).map((program) => stand.trigger(program)));
      }
      expect(stand.started.size).to.equal(PROGRAMS);
      await stand.settled(120_000);
    });
    console.log(`      ${JSON.stringify(stand.counts())}`);
    expect(await stand.judge(programs, false)).to.deep.equal([]);
  });
});
