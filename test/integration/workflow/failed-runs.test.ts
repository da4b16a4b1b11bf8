/** The DLQ of runs, as the published client shows it. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { refusalOf } from '../../support/queue-process.js';
import { startTogether } from '../../support/together.js';
import { kindOf } from '../../support/workflow-app.js';
import { type Flow, RUN_TIMEOUT_MS, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

const SOON = { timeoutMs: RUN_TIMEOUT_MS, everyMs: 50 };
type Message = Awaited<ReturnType<WorkflowStand['client']['dlq']['list']>>['messages'][number];

describe('failed runs', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  let dlq: WorkflowStand['client']['dlq'];
  before(async () => {
    stand = await sharedStand();
    ({ dlq } = stand.client);
  });

  const together = startTogether();
  const entryOf = (workflowRunId: string, check: (message: Message) => void = () => {}) =>
    eventually(async () => {
      const { messages } = await dlq.list({ filter: { workflowRunId } });
      expect(messages, `entries of ${workflowRunId}`).to.have.length(1);
      check(messages[0] as Message);
      return messages[0] as Message;
    }, SOON);
  const expectGone = async (workflowRunId: string) =>
    eventually(async () => expect((await dlq.list({ filter: { workflowRunId } })).messages).to.deep.equal([]), SOON);
  /** Three steps that count their calls; the middle one fails while the test says so. */
  const breaking = (options: { readonly broken?: () => boolean } = {}) => {
    const calls = { one: 0, two: 0, three: 0 };
    const state = { isBroken: true };
    const flow: Flow = async (context) => {
      const one = await context.run('one', () => (calls.one += 1));
      await context.run('two', () => {
        calls.two += 1;
        if (options.broken?.() ?? state.isBroken) throw new Error('it failed');
      });
      const three = await context.run('three', () => (calls.three += 1));
      return { one, three, payload: context.requestPayload, own: context.headers.get('x-own'), label: context.label };
    };
    return { flow, calls, state };
  };
  const TRIGGER = { body: { ü: 1 }, headers: { 'X-Own': 'own' }, label: ['first', 'second'], retries: 0 };
  const RESULT = { payload: { ü: 1 }, own: 'own', label: 'first' };

  together('bulk calls: continue at the cursor of the answer', async () => {
    const { flow } = breaking();
    const url = stand.serve('in-bulk', flow);
    for (let count = 0; count < 5; count += 1) await entryOf((await stand.run(url, { retries: 0 })).id);
    const of = `workflowUrl=${encodeURIComponent(url)}&responseStatus=500&toDate=${Date.now()}`;
    const asked = async (method: string, path: string) => {
      const response = await stand.queue.request(method, `/v2/workflows/dlq${path}`);
      return response.json as { total?: number; deleted?: number; workflowRuns?: object[]; cursor?: string };
    };
    const counted = async () => (await asked('GET', `/counts?${of}`)).total;
    expect(await counted()).to.equal(5);
    const { deleted, cursor } = await asked('DELETE', `?${of}&count=2`);
    expect([deleted, await counted()]).to.deep.equal([2, 3]);
    let started = 0;
    let next = cursor;
    while (next !== undefined && next !== '') {
      const page = await asked('POST', `/restart?${of}&count=2&cursor=${next}`);
      started += page.workflowRuns?.length ?? 0;
      next = page.cursor;
    }
    expect([started, await counted()]).to.deep.equal([3, 0]);
  });

  together('list: shows the run and its failure', async () => {
    const { flow } = breaking();
    const url = stand.serve('listed', flow, { failureFunction: async () => 'told' });
    const before = Date.now();
    const { id } = await stand.run(url, TRIGGER);
    const entry = await entryOf(id, ({ failureCallbackInfo }) =>
      expect(failureCallbackInfo?.state).to.equal('CALLBACK_SUCCESS'),
    );
    expect(entry).to.deep.include({
      workflowRunId: id,
      workflowUrl: url,
      body: '{"ü":1}',
      responseStatus: 500,
      maxRetries: 0,
      label: 'first',
      labels: ['first', 'second'],
      failureCallback: url,
      callerIP: '127.0.0.1',
    });
    expect(entry.workflowCreatedAt).to.be.within(before, Date.now());
    expect(JSON.parse(entry.responseBody)).to.include({ message: 'it failed' });
    expect(entry.header['X-Own']).to.deep.equal(['own']);
    expect(entry.responseHeader['Upstash-Workflow-Sdk-Version']).to.deep.equal(['1']);
    expect(entry.failureCallbackInfo).to.include({ responseStatus: 200, responseBody: '{"result":"told"}' });
    expect(entry).to.have.property('failureFunctionState', 'CALLBACK_SUCCESS');
    expect((await stand.logOf(id, 'RUN_FAILED')).dlqId).to.equal(entry.dlqId);
    const plain = (await stand.queue.get('/v2/dlq')).json as { messages: { dlqId: string }[] };
    expect(plain.messages.map(({ dlqId }) => dlqId)).not.to.include(entry.dlqId);
  });

  together('list: filters by URL, label, state of the failure function and time, page by page', async () => {
    const url = stand.serve('filtered', breaking().flow);
    const label = stand.app.name('label');
    const ids = [];
    for (const each of [label, 'other', label]) ids.push((await stand.run(url, { ...TRIGGER, label: each })).id);
    for (const id of ids)
      await entryOf(id, ({ failureCallbackInfo }) => expect(failureCallbackInfo).to.equal(undefined));
    const found = async (filter: object) =>
      (await dlq.list({ filter })).messages.map(({ workflowRunId }) => workflowRunId);
    expect(await found({ workflowUrl: url })).to.have.members(ids);
    expect(await found({ label })).to.have.members([ids[0], ids[2]]);
    expect(await found({ label: [label, 'other'], workflowUrl: url })).to.have.members(ids);
    expect(await found({ workflowUrl: url, fromDate: new Date(Date.now() + 60_000) })).to.deep.equal([]);
    expect(await found({ workflowUrl: url, failureFunctionState: 'CALLBACK_FAIL' })).to.deep.equal([]);
    const first = await dlq.list({ count: 2, filter: { workflowUrl: url } });
    expect(first.messages).to.have.length(2);
    const second = await dlq.list({ count: 2, filter: { workflowUrl: url }, cursor: first.cursor as string });
    expect(second.cursor).to.equal(undefined);
    expect([...first.messages, ...second.messages].map(({ workflowRunId }) => workflowRunId)).to.have.members(ids);
  });

  together('delete: removes one entry, several, and those of a filter', async () => {
    const url = stand.serve('deleted', breaking().flow);
    const ids = await Promise.all([1, 2, 3, 4].map(async () => (await stand.run(url, TRIGGER)).id));
    const entries = await Promise.all(ids.map((id) => entryOf(id)));
    const [a, b, c] = entries.map(({ dlqId }) => dlqId) as [string, string, string];
    expect(await dlq.delete(a)).to.include({ deleted: 1 });
    expect(await dlq.delete([b, c])).to.include({ deleted: 2 });
    expect(await refusalOf(() => dlq.delete([a]))).to.include({ status: 404 });
    expect(await dlq.delete({ filter: { workflowUrl: url } })).to.include({ deleted: 1 });
    await Promise.all(ids.map(expectGone));
  });

  together('resume: starts a new run after the last completed step', async () => {
    const { flow, calls, state } = breaking();
    const url = stand.serve('resumed', flow);
    const { id } = await stand.run(url, TRIGGER);
    const { dlqId, workflowCreatedAt } = await entryOf(id);
    state.isBroken = false;
    const { workflowRuns } = await dlq.resume([dlqId]);
    expect(workflowRuns).to.have.length(1);
    const [run] = workflowRuns;
    expect(run?.workflowRunId).to.match(/^wfr_/).and.not.equal(id);
    expect(run?.workflowCreatedAt).to.be.a('number').and.above(workflowCreatedAt);
    const { result } = await stand.ended(run?.workflowRunId as string);
    expect(result).to.deep.equal({ one: 1, three: 1, ...RESULT });
    expect(calls).to.deep.equal({ one: 1, two: 2, three: 1 });
    expect(stand.posts(run?.workflowRunId as string)).to.have.length(3);
    await expectGone(id);
    expect((await stand.logOf(id, 'RUN_FAILED')).steps.at(-1)?.steps[0]?.state).to.equal('STEP_FAILED');
    const resumed = await stand.logOf(run?.workflowRunId as string, 'RUN_SUCCESS');
    expect(resumed.labels).to.deep.equal(['first', 'second']);
  });

  together('resume: runs only the members of a group that have no result', async () => {
    const calls: Record<string, number> = {};
    let isBroken = true;
    const count = (name: string) => {
      calls[name] = (calls[name] ?? 0) + 1;
      return name;
    };
    const url = stand.serve('group', (context) =>
      Promise.all([
        context.run('done', () => count('done')),
        context.run('fails', async () => {
          count('fails');
          // Once the plan and the other step are answered, the result of that step is stored.
          await eventually(() => {
            const answered = stand.posts(context.workflowRunId).filter(({ answer }) => answer?.includes('"success"'));
            expect(answered.length).to.be.at.least(isBroken ? 2 : 0);
          }, SOON);
          if (isBroken) throw new Error('it failed');
          return 'fails';
        }),
        context.call('call', { url: stand.sink.url('/of-the-group') }),
      ]),
    );
    const { id } = await stand.run(url, { retries: 0 });
    const { dlqId } = await entryOf(id);
    isBroken = false;
    const { workflowRunId } = await dlq.resume({ dlqId });
    const { result } = await stand.ended(workflowRunId);
    const [done, fails, call] = result as [string, string, { status: number }];
    expect([done, fails, call.status]).to.deep.equal(['done', 'fails', 200]);
    expect(calls).to.deep.equal({ done: 1, fails: 2 });
  });

  together('restart: runs all steps again, with the settings of the call', async () => {
    const { flow, calls, state } = breaking();
    const key = stand.app.name('key');
    const url = stand.serve('restarted', flow);
    const { id } = await stand.run(url, TRIGGER);
    const { dlqId } = await entryOf(id);
    state.isBroken = false;
    const { workflowRuns } = await dlq.restart(dlqId, { retries: 2, flowControl: { key, parallelism: 1 } });
    const [run] = workflowRuns;
    const { result } = await stand.ended(run?.workflowRunId as string);
    expect(result).to.deep.equal({ one: 2, three: 1, ...RESULT });
    expect(calls).to.deep.equal({ one: 2, two: 2, three: 1 });
    const posts = stand.posts(run?.workflowRunId as string);
    expect(posts).to.have.length(4);
    for (const { headers } of posts) expect(headers).to.include({ 'upstash-flow-control-key': key, 'x-own': 'own' });
    const { steps } = await stand.logOf(run?.workflowRunId as string, 'RUN_SUCCESS');
    expect(steps[1]?.steps[0]?.retries).to.equal(2);
    await expectGone(id);
  });

  together('resume and restart: start several runs by filter', async () => {
    const { flow, state } = breaking();
    const url = stand.serve('many', flow);
    const ids = await Promise.all([1, 2, 3].map(async () => (await stand.run(url, TRIGGER)).id));
    await Promise.all(ids.map((id) => entryOf(id)));
    state.isBroken = false;
    const resumed = await dlq.resume({ filter: { workflowUrl: url }, count: 2 });
    expect(resumed.workflowRuns).to.have.length(2);
    const restarted = await dlq.restart({ filter: { workflowUrl: url } });
    expect(restarted.workflowRuns).to.have.length(1);
    expect(restarted.cursor).to.equal(undefined);
    const runs = await Promise.all(
      [...resumed.workflowRuns, ...restarted.workflowRuns].map(({ workflowRunId }) => stand.ended(workflowRunId)),
    );
    for (const { result } of runs) expect(result).to.deep.include(RESULT);
    await Promise.all(ids.map(expectGone));
    expect((await dlq.resume({ filter: { workflowUrl: url } })).workflowRuns).to.deep.equal([]);
  });

  together('resume, restart and delete: refuse unknown entries, and change none', async () => {
    const url = stand.serve('unknown', breaking().flow);
    const { id } = await stand.run(url, TRIGGER);
    const { dlqId } = await entryOf(id);
    for (const action of ['resume', 'restart', 'delete'] as const) {
      expect(await refusalOf(() => dlq[action]([dlqId, '1-9999999']))).to.include({ status: 404 });
    }
    await entryOf(id);
  });

  together('resume: a run that fails again has a new entry', async () => {
    const url = stand.serve('again', breaking().flow);
    const { id } = await stand.run(url, TRIGGER);
    const { workflowRunId } = await dlq.resume({ dlqId: (await entryOf(id)).dlqId });
    await stand.ended(workflowRunId);
    const entry = await entryOf(workflowRunId);
    expect(entry).to.deep.include({ workflowRunId, body: '{"ü":1}', labels: ['first', 'second'] });
    await expectGone(id);
  });

  together('resume: repeats a call whose result could not be delivered', async () => {
    const path = stand.sink.path('called');
    const called = stand.sink.answer(path, { status: 200, body: 'answered' });
    const url = stand.serve('call', async (context) => {
      await context.run('one', () => {});
      return (await context.call('call', { url: called })).body;
    });
    stand.app.fault(url, { does: 'refuse', times: 1, of: (post) => kindOf(post) === 'callback' });
    const { id } = await stand.run(url, { ...TRIGGER, body: 'payload' });
    const { dlqId, responseStatus } = await entryOf(id);
    expect(responseStatus).to.equal(503);
    const { workflowRunId } = await dlq.resume({ dlqId });
    expect((await stand.ended(workflowRunId)).result).to.equal('answered');
    await stand.sink.arrived(path, 2);
    expect(stand.posts(workflowRunId).map(kindOf)).to.deep.equal(['step', 'callback', 'step']);
  });

  together('resume: a child does not report to its parent a second time', async () => {
    const eventId = stand.app.name('event');
    const { flow, state } = breaking();
    const child = stand.invokable(flow);
    const parent = stand.invokable(async (context) => {
      const { isFailed } = await context.invoke('invoke', { workflow: child, body: 'b', retries: 0 });
      const { eventData } = await context.waitForEvent('wait', eventId, { timeout: '60s' });
      return [isFailed, eventData];
    });
    const urls = stand.serveMany('family', { parent, child });
    const id = await stand.trigger(urls.parent);
    await stand.arrived(id, 2);
    const childId = stand.app.of(urls.child)[0]?.headers['upstash-workflow-runid'] as string;
    const { dlqId } = await entryOf(childId);
    state.isBroken = false;
    const { workflowRunId } = await dlq.resume({ dlqId });
    expect((await stand.ended(workflowRunId)).result).to.deep.include({ one: 1, three: 1, payload: 'b' });
    await stand.client.notify({ eventId, eventData: 'go on', workflowRunId: id });
    expect((await stand.ended(id)).result).to.deep.equal([true, 'go on']);
    expect(stand.posts(id)).to.have.length(3);
  });

  together('retryFailureFunction: repeats a failure function that failed', async () => {
    let isBroken = true;
    const told: unknown[] = [];
    const url = stand.serve('told', breaking().flow, {
      failureFunction: async ({ context, failStatus }) => {
        if (isBroken) throw new Error('this too');
        told.push([context.requestPayload, failStatus]);
      },
    });
    const { id } = await stand.run(url, TRIGGER);
    const stateIs = (state: string) => (message: Message) => expect(message.failureCallbackInfo?.state).to.equal(state);
    const { dlqId } = await entryOf(id, stateIs('CALLBACK_FAIL'));
    isBroken = false;
    expect(await dlq.retryFailureFunction({ dlqId })).to.include({ workflowRunId: id });
    await entryOf(id, stateIs('CALLBACK_SUCCESS'));
    expect(told).to.deep.equal([[{ ü: 1 }, 500]]);
    expect(stand.posts(id).filter((post) => kindOf(post) === 'failure')).to.have.length(2);
    expect(await refusalOf(() => dlq.retryFailureFunction({ dlqId }))).to.include({ status: 400 });
    expect(await refusalOf(() => dlq.retryFailureFunction({ dlqId: '1-9999999' }))).to.include({ status: 404 });
  });

  together('DELETE /v2/workflows/dlq/callback/:id cancels a pending failure function', async () => {
    const url = stand.serve('slow', breaking().flow, { failureFunction: async () => 'told' });
    stand.app.fault(url, { does: 'refuse', times: 1, of: (post) => kindOf(post) === 'failure' });
    const { id } = await stand.run(url, { ...TRIGGER, retries: 1, retryDelay: 'retried * 0 + 3000' });
    const { dlqId } = await entryOf(id, (message) =>
      expect(message.failureCallbackInfo?.state).to.equal('CALLBACK_INPROGRESS'),
    );
    const { status } = await stand.queue.delete(`/v2/workflows/dlq/callback/${dlqId}`);
    expect(status).to.be.oneOf([200, 302]);
    await entryOf(id, (message) => expect(message.failureCallbackInfo?.state).to.equal('CALLBACK_CANCELED'));
    expect((await stand.queue.delete(`/v2/workflows/dlq/callback/${dlqId}`)).status).to.equal(400);
  });
});
