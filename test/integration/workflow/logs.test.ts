/** The log of runs, as the published client shows it. */
import type { StepLog, WorkflowRunLog } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { type Flow, RUN_TIMEOUT_MS, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

const SOON = { timeoutMs: RUN_TIMEOUT_MS, everyMs: 50 };
const oneStep: Flow = (context) => context.run('one', () => ({ ü: 1 }));
const asleep: Flow = (context) => context.sleep('sleep', '1h');
const steps = ({ steps }: WorkflowRunLog) => steps.map((group) => group.steps[0] as StepLog);

const groupOf = ({ steps }: WorkflowRunLog) =>
  (steps.find(({ type }) => type === 'parallel')?.steps ?? []) as StepLog[];

describe('the log of runs', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  const listed = async (filter: Parameters<WorkflowStand['client']['logs']>[0]) =>
    (await stand.client.logs(filter)).runs.map(({ workflowRunId }) => workflowRunId);

  together('shows a run with its steps, from the payload to the result', async () => {
    const url = stand.serve('logged', oneStep);
    const key = stand.app.name('key');
    const before = Date.now();
    const options = {
      body: { a: 'ü' },
      headers: { 'X-Own': 'own' },
      label: ['x', 'y'],
      flowControl: { key, parallelism: 2 },
    };
    const { id } = await stand.run(url, { ...options, retries: 1, retryDelay: '1000 * retried' });
    const run = await stand.logOf(id, 'RUN_SUCCESS');
    expect(run).to.deep.include({
      workflowRunId: id,
      workflowUrl: url,
      label: 'x',
      labels: ['x', 'y'],
      workflowRunResponse: '{"ü":1}',
    });
    expect(run).to.have.property('flowControlKey', key);
    expect(run.workflowRunCreatedAt).to.be.within(before, Date.now());
    expect(run.workflowRunCompletedAt).to.be.within(run.workflowRunCreatedAt, Date.now());
    expect(run.steps.map(({ type }) => type)).to.deep.equal(['sequential', 'sequential']);
    const [init, one] = steps(run) as [StepLog, StepLog];
    expect(init).to.include({
      stepName: 'init',
      stepType: 'Initial',
      callType: 'step',
      state: 'STEP_SUCCESS',
      concurrent: 1,
      out: '{"a":"ü"}',
    });
    expect(init).not.to.have.property('stepId');
    expect(init.headers['X-Own']).to.deep.equal(['own']);
    expect(one).to.include({
      stepId: 1,
      stepName: 'one',
      stepType: 'Run',
      state: 'STEP_SUCCESS',
      out: '{"ü":1}',
      retries: 1,
      concurrent: 1,
    });
    expect([init.messageId, one.messageId]).to.deep.equal(
      stand.posts(id).map(({ headers }) => headers['upstash-message-id']),
    );
    expect(one.createdAt).to.be.within(run.workflowRunCreatedAt, run.workflowRunCompletedAt as number);
    for (const absent of ['failureFunction', 'dlqId', 'invoker']) expect(run).not.to.have.property(absent);
  });

  together('shows a run that has just started, and one that sleeps', async () => {
    const url = stand.serve('sleeping', asleep);
    const [later, sleeping] = await Promise.all([stand.trigger(url, { delay: '1h' }), stand.trigger(url)]);
    const { steps: begun } = await stand.logOf(later, 'RUN_STARTED');
    expect(begun.map(({ type }) => type)).to.deep.equal(['sequential', 'next']);
    expect(begun[1]?.steps[0]?.state).to.equal('STEP_PROGRESS');
    const run = await stand.log(sleeping, ({ steps }) => {
      expect(steps[1]?.steps[0]).to.include({ stepType: 'SleepFor', state: 'STEP_PROGRESS' });
    });
    expect(run).not.to.have.property('workflowRunCompletedAt');
    await stand.client.cancel([later, sleeping]);
    const cancelled = await stand.logOf(sleeping, 'RUN_CANCELED');
    expect(steps(cancelled).at(-1)).to.include({ stepType: 'SleepFor', state: 'STEP_CANCELED' });
  });

  together('shows calls, waits, groups, webhooks and notifications with their details', async () => {
    const path = stand.sink.path('called');
    const called = stand.sink.answer(path, { status: 201, headers: { 'X-Reply': 'r' }, body: 'answered' });
    const eventId = stand.app.name('event');
    const url = stand.serve('kinds', async (context) => {
      await context.call('call', { url: called, method: 'PUT', body: 'sent', headers: { 'X-A': 'b' } });
      await context.waitForEvent('late', eventId, { timeout: 1 });
      await Promise.all([context.run('a', () => 'of a'), context.sleep('b', 1)]);
      await context.sleepUntil('until', 1);
      await context.notify('notify', eventId, 'data');
      const webhook = await context.createWebhook('webhook');
      await context.waitForWebhook('hook', webhook, '1s');
    });
    const { id } = await stand.run(url);
    const run = await stand.logOf(id, 'RUN_SUCCESS');
    expect(run.steps.map(({ type }) => type)).to.deep.equal([
      ...Array(3).fill('sequential'),
      'parallel',
      ...Array(4).fill('sequential'),
    ]);
    const [, call, late, , until, notify, webhook, hook] = steps(run) as StepLog[];
    expect(call).to.include({
      stepName: 'call',
      stepType: 'Call',
      callType: 'step',
      callUrl: called,
      callMethod: 'PUT',
      callBody: 'sent',
    });
    expect(call).to.include({ callResponseStatus: 201, callResponseBody: 'answered', state: 'STEP_SUCCESS' });
    expect(call?.callHeaders?.['X-A']).to.deep.equal(['b']);
    expect(call?.callResponseHeaders?.['X-Reply']).to.deep.equal(['r']);
    expect(late).to.include({
      stepType: 'Wait',
      waitEventId: eventId,
      waitTimeoutDuration: '1s',
      waitTimeout: true,
      state: 'STEP_SUCCESS',
    });
    expect(late?.waitTimeoutDeadline).to.be.within(run.workflowRunCreatedAt, Date.now());
    const group = run.steps[3]?.steps as StepLog[];
    expect(
      group.map(({ stepName, stepType, state, concurrent }) => [stepName, stepType, state, concurrent]),
    ).to.deep.equal([
      ['a', 'Run', 'STEP_SUCCESS', 2],
      ['b', 'SleepFor', 'STEP_SUCCESS', 2],
    ]);
    expect(group[0]?.out).to.equal('"of a"');
    expect([until?.stepType, notify?.stepType, webhook?.stepType, hook?.stepType]).to.deep.equal([
      'SleepUntil',
      'Notify',
      'CreateWebhook',
      'WaitForWebhook',
    ]);
    expect(hook).to.include({ waitTimeout: true });
  });

  together('shows a group and a wait in progress', async () => {
    const eventId = stand.app.name('event');
    const url = stand.serve('under-way', (context) =>
      Promise.all([context.run('done', () => 'd'), context.waitForEvent('wait', eventId, { timeout: '1h' })]),
    );
    const id = await stand.trigger(url);
    const run = await stand.log(id, (run) => {
      const states = groupOf(run).map(({ stepName, state }) => [stepName, state]);
      expect(states).to.deep.equal([
        ['done', 'STEP_SUCCESS'],
        ['wait', 'STEP_PROGRESS'],
      ]);
      // The step is in progress before its wait is registered.
      expect(groupOf(run)[1]?.waitTimeoutDeadline).to.not.equal(undefined);
    });
    const [, wait] = groupOf(run) as [StepLog, StepLog];
    expect(wait).to.include({ waitEventId: eventId, waitTimeoutDuration: '1h' });
    expect(wait.waitTimeoutDeadline).to.be.closeTo(Date.now() + 3_600_000, 60_000);
    await stand.client.cancel(id);
  });

  together('filters by id, URL, state, label, message and time', async () => {
    const [url, other] = [stand.serve('filtered', oneStep), stand.serve('filtered', asleep)];
    const label = stand.app.name('label');
    const [a, b] = [await stand.run(url, { label }), await stand.run(url, { label: ['else', `${label}-b`] })];
    const c = await stand.trigger(other, { label });
    await Promise.all([a.id, b.id].map((id) => stand.logOf(id, 'RUN_SUCCESS')));
    await eventually(async () => expect(await listed({ filter: { label } })).to.have.members([a.id, c]), SOON);
    expect(await listed({ filter: { label: [label, `${label}-b`] } })).to.deep.equal([c, b.id, a.id]);
    expect(await listed({ filter: { workflowUrl: url } })).to.deep.equal([b.id, a.id]);
    expect(await listed({ filter: { label, state: 'RUN_STARTED' } })).to.deep.equal([c]);
    expect(await listed({ filter: { label, state: 'RUN_SUCCESS' } })).to.deep.equal([a.id]);
    expect(await listed({ filter: { label, fromDate: Date.now() + 60_000 } })).to.deep.equal([]);
    expect(await listed({ workflowRunId: a.id })).to.deep.equal([a.id]);
    expect(await listed({ workflowRunId: 'wfr_unknown' })).to.deep.equal([]);
    const messageId = stand.posts(b.id)[1]?.headers['upstash-message-id'] as string;
    expect(await listed({ filter: { messageId } })).to.deep.equal([b.id]);
    await stand.client.cancel(c);
  });

  together('lists pages, newest first', async () => {
    const url = stand.serve('paged', oneStep);
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) ids.unshift(await stand.trigger(url));
    for (const id of ids) await stand.logOf(id, 'RUN_SUCCESS');
    const first = await stand.client.logs({ filter: { workflowUrl: url } });
    expect(first.runs).to.have.length(10);
    const second = await stand.client.logs({ cursor: first.cursor, filter: { workflowUrl: url } });
    expect(second).not.to.have.property('cursor');
    expect([...first.runs, ...second.runs].map(({ workflowRunId }) => workflowRunId)).to.deep.equal(ids);
    const few = await stand.client.logs({ count: 5, filter: { workflowUrl: url } });
    expect(few.runs.map(({ workflowRunId }) => workflowRunId)).to.deep.equal(ids.slice(0, 5));
    expect(few.cursor).to.be.a('string').and.not.equal('');
  });

  together('shows hashes of redacted values, which are delivered unchanged', async () => {
    const url = stand.serve('redacted', async (context) => {
      await context.run('one', () => {});
      return [context.requestPayload, context.headers.get('x-secret')].includes(null) ? 'cut' : 'whole';
    });
    const headers = { 'X-Secret': 'secret-header', 'X-Plain': 'plain' };
    const { id, result } = await stand.run(url, {
      body: 'secret-body',
      headers,
      redact: { body: true, header: ['X-Secret'] },
    });
    expect(result).to.equal('whole');
    expect(stand.posts(id)[1]?.headers).to.include({ 'x-secret': 'secret-header' });
    const run = await stand.logOf(id, 'RUN_SUCCESS');
    expect(JSON.stringify(run)).not.to.match(/secret-(body|header)/);
    expect(steps(run)[0]?.out).to.match(/^REDACTED:[0-9a-f]{64}$/i);
    expect(steps(run)[0]?.headers['X-Secret']?.[0]).to.match(/^REDACTED:[0-9a-f]{64}$/i);
    expect(steps(run)[0]?.headers['X-Plain']).to.deep.equal(['plain']);
  });

  together('lists events', async () => {
    const url = stand.serve('events', oneStep);
    const { id } = await stand.run(url);
    await eventually(async () => {
      const { json } = await stand.queue.get(`/v2/workflows/events?workflowRunId=${id}`);
      const { events } = json as { events: { state: string; workflowRunId: string; workflowUrl: string }[] };
      expect(events.map(({ state }) => state)).to.include.members(['RUN_STARTED', 'RUN_SUCCESS']);
      for (const event of events) expect(event).to.include({ workflowRunId: id, workflowUrl: url });
    }, SOON);
  });
});
