/**
 * The log of runs in a real process whose read model file was deleted, with the whole journal and with its front
 * removed.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowRunLog } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { RUN_TIMEOUT_MS, WorkflowStand } from '../../support/workflow-stand.js';

const SOON = { timeoutMs: RUN_TIMEOUT_MS, everyMs: 100 };
/** Each check starts a process and waits while it runs for the expected state. */
const OVER_SOME_STARTS = { timeoutMs: 120_000, everyMs: 100 };

describe('the log of runs, rebuilt', function () {
  this.timeout(240_000);
  let stand: WorkflowStand;
  afterEach(() => stand?.stop());

  /** Runs of every state, with something of everything that is listed. */
  async function runsOfAllStates(): Promise<Record<'done' | 'failed' | 'asleep' | 'waiting' | 'invoking', string>> {
    const failing = stand.serve(
      'failing',
      async (context) => {
        await context.run('one', () => 1);
        await context.run('two', () => Promise.reject(new Error('in vain')));
      },
      { failureFunction: () => 'told' },
    );
    const waiting = stand.serve('waiting', (context) => context.waitForEvent('wait', 'evt', { timeout: '1h' }));
    const asleep = stand.serve('asleep', async (context) => {
      await context.run('one', () => 'of one');
      await context.sleep('sleep', '1h');
    });
    const child = stand.invokable((context) => context.sleep('sleep', '1h'));
    const parent = stand.invokable((context) => context.invoke('invoke', { workflow: child, body: 'for the child' }));
    const urls = stand.serveMany('family', { parent, child });
    const one = stand.serve('one', (context) => context.run('one', () => 'x'));
    const ids = {
      done: (await stand.run(one)).id,
      failed: await stand.trigger(failing),
      asleep: await stand.trigger(asleep, { body: 'payload', label: 'a' }),
      waiting: await stand.trigger(waiting),
      invoking: await stand.trigger(urls.parent),
    };
    await stand.logOf(ids.done, 'RUN_SUCCESS');
    await stand.log(ids.failed, (run) => expect(run.failureFunction?.state).to.equal('CALLBACK_SUCCESS'));
    for (const id of [ids.asleep, ids.waiting, ids.invoking]) {
      await stand.log(id, ({ steps }) => {
        expect(steps.length).to.be.greaterThan(1);
        const last = steps.at(-1);
        expect([last?.type, last?.steps[0]?.state]).to.deep.equal(['sequential', 'STEP_PROGRESS']);
      });
    }
    return ids;
  }

  async function loseTheFile(): Promise<void> {
    rmSync(join(stand.queue.millrace.dataDir, 'read-models'), { recursive: true });
    await stand.queue.restart('SIGKILL');
  }

  const recordsOf = async (ids: readonly string[]) => {
    const records: WorkflowRunLog[] = [];
    for (const id of ids) records.push(await stand.log(id));
    return records;
  };

  it('is the same after a replay of the whole journal', async () => {
    stand = await WorkflowStand.start();
    const ids = Object.values(await runsOfAllStates());
    const before = await recordsOf(ids);
    await loseTheFile();
    await eventually(async () => expect(await recordsOf(ids)).to.deep.equal(before), SOON);
  });

  it('has active and failed runs when the front of the journal was removed', async () => {
    stand = await WorkflowStand.start({ MILLRACE_SNAPSHOT_ENTRIES: '10', MILLRACE_AUDIT_RETENTION: '1s' });
    const { done, ...ids } = await runsOfAllStates();
    const before = await recordsOf(Object.values(ids));
    const url = stand.serve('more', (context) => context.run('one', () => 'x'));
    for (let more = 0; more < 15; more += 1) await stand.run(url);
    await stand.queue.restart('SIGTERM');
    for (let more = 0; more < 15; more += 1) await stand.run(url);
    await eventually(async () => {
      await loseTheFile();
      const { runs } = await stand.client.logs({ filter: { workflowRunId: done } });
      expect(runs).to.deep.equal([]);
    }, OVER_SOME_STARTS);
    const after = await recordsOf(Object.values(ids));
    const told = ({ workflowRunId, workflowState, steps, failureFunction, dlqId }: WorkflowRunLog) => ({
      ...{ workflowRunId, workflowState, dlqId, failure: failureFunction?.state, told: failureFunction?.failStatus },
      steps: steps.map(({ type, steps: all }) => [type, all.map(({ state, messageId }) => `${state} ${messageId}`)]),
    });
    expect(after.map(told)).to.deep.equal(before.map(told));
    expect(after[1]?.steps[1]?.steps[0]).to.deep.include({ stepName: 'one', out: '"of one"' });
    await stand.client.cancel(ids.waiting);
    await stand.logOf(ids.waiting, 'RUN_CANCELED');
  });
});
