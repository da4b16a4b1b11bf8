/** A pause of the storage costs a run no retry. A run without retries therefore survives it. */
import { expect } from 'chai';
import { signalPid } from '../../support/millrace-process.js';
import { type Flow, WorkflowStand } from '../../support/workflow-stand.js';

/** Longer than permissions may be used without an update, plus the time that a request is held. */
const SILENCE_MS = 2500;
const HOLD_MS = 800;

describe('a run without retries, while its storage does not answer', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  let natsPid: number;

  before(async () => {
    stand = await WorkflowStand.start({ MILLRACE_REQUEST_HOLD_MS: String(HOLD_MS) });
    natsPid = await stand.queue.millrace.natsPid();
  });
  after(async () => {
    signalPid(natsPid, 'SIGCONT');
    await stand?.stop();
  });

  for (const [outcome, silenceMs] of [
    ['delivers a step that was held', HOLD_MS - 100],
    ['delivers a step that was held and then requested again', SILENCE_MS],
  ] as const) {
    it(outcome, async () => {
      const flow: Flow = async (context) => {
        await context.run('one', async () => {
          signalPid(natsPid, 'SIGSTOP');
          // Permissions have been without an update for longer than they may be used.
          await new Promise((done) => setTimeout(done, 700));
          setTimeout(() => signalPid(natsPid, 'SIGCONT'), silenceMs);
          return 'first';
        });
        return context.run('two', () => 'second');
      };
      const { id, result } = await stand.run(stand.serve('silence', flow));
      expect(result).to.equal('second');
      await stand.log(id, ({ workflowState }) => expect(workflowState).to.equal('RUN_SUCCESS'));
    });
  }
});
