/**
 * Random workflows, run by the published client, while the server and the endpoint are killed and answers are lost in
 * both directions. Each workflow ends as a direct model predicts, and no acknowledged operation is lost.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { quietly } from '../support/queue-process.js';
import { replayLine, type SeededRandom, seededRandom, seedOfThisRun } from '../support/seeded-random.js';
import { verifyAccountJournal } from '../support/workflow-chaos-journal.js';
import { KILLED_ENVIRONMENT, snapshotMade } from '../support/workflow-chaos-restart.js';
import { WorkflowChaosStand } from '../support/workflow-chaos-stand.js';
import { type Program, randomProgram } from '../support/workflow-programs.js';

const FAULTS = 8;
const SNAPSHOT_EVERY = 4;
/** Programs that run at the same time. */
const PROGRAMS_AT_ONCE = 25;
/** The part of answers that is lost. */
const LOSSES = 0.04;
const ENDED_BETWEEN_FAULTS = 5;
const PROGRESS_TIMEOUT_MS = 60_000;
/** A fault falls somewhere in it. */
const MAX_PAUSE_MS = 1000;
const MAX_ABSENCE_MS = 1500;
/** Too short for a takeover. */
const MAX_STOPPED_MS = 500;

describe('random workflows under kills and lost answers', function () {
  this.timeout(300_000);
  const seed = seedOfThisRun();
  let stand: WorkflowChaosStand;
  let random: SeededRandom;
  before(async () => {
    console.log(replayLine(seed, 'workflow-model'));
    random = seededRandom(seed);
    const retryDelay = 'min(1000, 100 * (1 + retried))';
    const env = KILLED_ENVIRONMENT;
    stand = await WorkflowChaosStand.start({ random, losses: LOSSES, retryDelay, patienceSeconds: 120, env });
  });
  after(() => stand?.stop());

  it('end as the model predicts', async () => {
    const programs: Program[] = [];
    await quietly(async () => {
      const load = new AbortController();
      const loading = triggering(programs, load.signal);
      await faults().finally(() => load.abort());
      await loading;
      stand.stopLosingAnswers();
      await stand.settled(PROGRESS_TIMEOUT_MS);
    });
    console.log(`      ${JSON.stringify(stand.counts())}`);
    expect(await stand.judge(programs, true)).to.deep.equal([]);
    await verifyAccountJournal(stand.queue);
  });

  async function faults(): Promise<void> {
    for (let fault = 0; fault < FAULTS; fault += 1) {
      await progress();
      // The next process starts with runs from a snapshot.
      if (fault % SNAPSHOT_EVERY === SNAPSHOT_EVERY - 1) await snapshotMade(stand.queue);
      await pause(random.below(MAX_PAUSE_MS));
      const kind = random.below(3);
      await Promise.all([
        ...(kind === 0 ? [] : [stand.killServer(fault % 2 === 0 ? random.below(MAX_STOPPED_MS) : undefined)]),
        ...(kind === 1 ? [] : [stand.stopEndpoint(random.below(MAX_ABSENCE_MS))]),
      ]);
    }
  }

  async function triggering(programs: Program[], signal: AbortSignal): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!signal.aborted) {
      const isFull = (): boolean => open.size + stand.started.size - stand.ended >= PROGRAMS_AT_ONCE;
      await eventually(() => expect(isFull() && !signal.aborted).to.equal(false), { timeoutMs: PROGRESS_TIMEOUT_MS });
      const program = randomProgram(random, `p${programs.length}`, { isFaulty: true });
      programs.push(program);
      const triggered = stand.trigger(program).finally(() => open.delete(triggered));
      open.add(triggered);
    }
    await Promise.all(open);
  }

  /** Waits until a number of further runs have ended. */
  async function progress(): Promise<void> {
    const wanted = stand.ended + ENDED_BETWEEN_FAULTS;
    await eventually(() => expect(stand.ended).to.be.at.least(wanted), { timeoutMs: PROGRESS_TIMEOUT_MS });
  }
});
