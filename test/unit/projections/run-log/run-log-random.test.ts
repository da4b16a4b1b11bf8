/**
 * The log of runs after random histories: every fold shows the same, and includes all that the owner knows. Proves
 * RUR1.
 */
import { expect } from 'chai';
import type { LoggedRun } from '../../../../src/ports/index.js';
import { MESSAGE_STATES } from '../../../../src/ports/index.js';
import { repetitions } from '../../../support/depth.js';
import { RandomRuns } from '../../../support/random-run-histories.js';
import { brief, RunLogStand } from '../../../support/run-log-stand.js';

const SEEDS = [1, 2, 3, 4, 5, 6].slice(0, repetitions(6));
const OPERATIONS = 200;

describe('the run log after random histories', () => {
  for (const seed of SEEDS) {
    it(`is equal live, rebuilt and from a snapshot (seed ${seed})`, async () => {
      const log = new RunLogStand();
      try {
        const random = new RandomRuns(log.spec, seed);
        for (let at = 0; at < OPERATIONS; at += 1) {
          random.operate();
          if (at % 20 === 0) await log.store();
        }
        const live = { runs: await log.runs({ count: 7 }), events: await log.events({ count: 100 }) };
        expect(live.runs.length).to.be.greaterThan(5);
        for (const run of live.runs) expectWhole(run);
        const rebuilt = log.stand.open({}, 'rebuilt.db');
        expect({ runs: await log.runs({ count: 3 }, rebuilt), events: await log.events({}, rebuilt) }).to.deep.equal(
          live,
        );
        expect(idsIn(live.runs, 'RUN_STARTED')).to.deep.equal(random.activeRuns());
        expect(new Set(live.events.map(({ state }) => state)).size).to.be.greaterThan(MESSAGE_STATES.length - 2);

        await log.snapshotAndTruncate();
        const restored = await log.runs({}, log.stand.open({}, 'restored.db'));
        expect(idsIn(restored, 'RUN_STARTED')).to.deep.equal(random.activeRuns());
        expect(idsIn(restored, 'RUN_FAILED')).to.deep.equal(random.failedRuns());
        const known = new Map(live.runs.map((run) => [`${run.runId} ${run.createdAtMs}`, run]));
        for (const run of restored) {
          const before = known.get(`${run.runId} ${run.createdAtMs}`) as LoggedRun;
          expectWhole(run);
          expect(keptOf(run), run.runId).to.equal(keptOf(before));
          expect(run.failureFunction?.state, run.runId).to.equal(before.failureFunction?.state);
        }
        // After the snapshot, the restored log continues with the later ends of runs.
        for (let at = 0; at < OPERATIONS; at += 1) random.operate();
        const later = await log.runs({}, log.stand.open({}, 'restored.db again'));
        expect(idsIn(later, 'RUN_STARTED')).to.deep.equal(random.activeRuns());
      } finally {
        await log.end();
      }
    });
  }
});

function idsIn(runs: readonly LoggedRun[], state: LoggedRun['state']): string[] {
  return runs
    .filter((run) => run.state === state)
    .map(({ runId }) => runId)
    .sort();
}

/**
 * The part that a snapshot keeps: without earlier failures of a run in progress; of a failed run, only the finished
 * steps.
 */
function keptOf({ state, groups }: LoggedRun): string {
  const text = brief(groups).replaceAll(/ after [^+|)]*(?=$| [+|]|\))/g, '');
  if (state === 'RUN_STARTED') return text;
  const steps = groups.flatMap((group) => (group.type === 'next' ? [] : group.steps));
  // A snapshot does not contain whether a step was asleep when the run failed, or the results of its children.
  const isTold = (stepType: string) => stepType !== 'SleepFor' && stepType !== 'Invoke';
  const done = steps.filter(({ state: one, stepType }) => one === 'STEP_SUCCESS' && isTold(stepType));
  return done.map(({ stepId, stepType, out }) => `${stepId} ${stepType} ${out}`).join(' | ');
}

function expectWhole({ runId, state, groups, endedAtMs }: LoggedRun): void {
  const [first] = groups;
  expect(first?.type === 'sequential' && first.steps[0]?.stepName, runId).to.equal('init');
  expect(endedAtMs === undefined, runId).to.equal(state === 'RUN_STARTED');
  for (const group of groups) {
    const states = (group.type === 'next' ? group.deliveries : group.steps).map((step) => step.state);
    if (group.type === 'sequential') expect(states, runId).to.have.length(1);
    if (state === 'RUN_STARTED') expect(states, runId).to.not.include.members(['STEP_CANCELED']);
    else expect(states, runId).to.not.include.members(['STEP_PROGRESS']);
  }
  const all = groups.flatMap((group) =>
    (group.type === 'next' ? group.deliveries : group.steps).map((one) => one.state),
  );
  expect(all.filter((one) => one === 'STEP_FAILED').length, runId).to.equal(state === 'RUN_FAILED' ? 1 : 0);
  expect(
    groups.slice(0, -1).every(({ type }) => type !== 'next'),
    runId,
  ).to.equal(true);
}
