/**
 * Random workflows of the published client that fail are repaired, and resumed or restarted: a resumed run does the
 * remaining steps with the stored results, a restarted one does all steps; both end as the model of the repaired
 * workflow predicts.
 */
import { expect } from 'chai';
import { quietly } from '../../support/queue-process.js';
import { type SeededRandom, seededRandom, seedOfThisRun } from '../../support/seeded-random.js';
import { listedFailedRuns } from '../../support/workflow-chaos-listed.js';
import { judgeRedriven } from '../../support/workflow-chaos-redriven.js';
import { WorkflowChaosStand } from '../../support/workflow-chaos-stand.js';
import { expectedOf } from '../../support/workflow-model.js';
import { randomProgram } from '../../support/workflow-programs.js';

const PROGRAMS = 60;
const SETTLED_TIMEOUT_MS = 90_000;

describe('random workflows of the published client that fail', function () {
  this.timeout(240_000);
  let stand: WorkflowChaosStand;
  let random: SeededRandom;
  const seed = seedOfThisRun();
  before(async () => {
    console.log(`      seed ${seed}; replay: CHAOS_SEED=${seed}`);
    random = seededRandom(seed);
    stand = await WorkflowChaosStand.start({ random, retryDelay: '20', patienceSeconds: 120 });
  });
  after(() => stand?.stop());

  it('are resumed and restarted as the model predicts', async () => {
    const style = { isFaulty: false, isForResuming: true };
    const programs = Array.from({ length: PROGRAMS }, (_, at) => randomProgram(random, `p${at}`, style));
    const failing = programs.filter((program) => expectedOf(program).state === 'RUN_FAILED');
    const runIds = failing.map(({ id }) => `wfr_${id}`);
    const half = Math.ceil(runIds.length / 2);
    await quietly(async () => {
      await Promise.all(programs.map((program) => stand.trigger(program)));
      await stand.settled(SETTLED_TIMEOUT_MS);
    });
    expect(await stand.judge(programs, false)).to.deep.equal([]);
    stand.ledger.isMended = true;
    const redriven = await quietly(async () => {
      const resumed = await stand.redrive('resume', runIds.slice(0, half));
      const restarted = await stand.redrive('restart', runIds.slice(half));
      await stand.settled(SETTLED_TIMEOUT_MS);
      return { resumed, restarted };
    });
    console.log(`      ${JSON.stringify({ ...stand.counts(), resumed: redriven.resumed.size })}`);
    expect(failing.length).to.be.greaterThan(PROGRAMS / 4);
    const violations = failing.flatMap((program) => judgeRedriven(program, redriven, stand.ledger));
    expect(violations).to.deep.equal([]);
    expect(await listedFailedRuns(stand.queue)).to.deep.equal(new Set());
  });
});
