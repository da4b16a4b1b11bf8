/**
 * Workflows that start other workflows, and the number of requests that a faultless server sends to the endpoints of
 * all of them.
 */
import { WorkflowNonRetryableError } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import type { Invokable, WorkflowStand } from '../../support/workflow-stand.js';
import type { CountedFlow } from './counted-flows.js';

async function tree(stand: WorkflowStand): Promise<string> {
  const eventId = stand.app.name('event');
  const childId = stand.app.name('child');
  const called = stand.sink.url('/of-the-tree');
  const counts: Record<string, unknown> = {};
  const countOf = (context: unknown) => (context as { executor: { invokeCount: number } }).executor.invokeCount;

  const waiting = stand.invokable(async (context) => {
    expect((await context.waitForEvent('late', `${eventId}-never`, { timeout: 1 })).timeout).to.equal(true);
    counts.waiting = countOf(context);
    const { timeout } = await context.waitForEvent('notified', eventId, { timeout: '60s' });
    await context.sleep('sleep', 1);
    return { timeout };
  });
  const notifying = stand.invokable(async (context) => {
    expect((await context.call('call', { url: called })).status).to.equal(200);
    counts.notifying = countOf(context);
    await context.run('registered', () =>
      eventually(async () => expect(await stand.client.getWaiters({ eventId })).to.have.length(1), {
        timeoutMs: 30_000,
      }),
    );
    const { notifyResponse } = await context.notify('notify', eventId, 'data');
    expect(notifyResponse.length).to.equal(1);
    await context.sleep('again', 1);
    return 'notified';
  });
  const branching = stand.invokable(async (context) => {
    expect(context.requestPayload).to.equal('to the child');
    expect(context.headers.get('x-child')).to.equal('of the child');
    expect(context.workflowRunId).to.equal(`wfr_${childId}`);
    expect(context.label).to.equal('of-the-tree');
    await context.run('one', () => {});
    counts.branching = countOf(context);
    await context.run('two', () => {});
    const [first, second] = await Promise.all([
      context.invoke('first', { workflow: waiting, body: 1 }),
      context.invoke('second', { workflow: notifying, body: 2 }),
    ]);
    return [first.body, second.body];
  });
  const failing = stand.invokable(async () => {
    throw new Error('before its first step');
  });
  const apart = stand.invokable(async (context) => {
    counts.apart = await context.run('only', () => 'apart');
  });
  const root = stand.invokable(async (context) => {
    await context.run('one', () => {});
    const child = await context.invoke('branching', {
      workflow: branching,
      body: 'to the child',
      headers: { 'X-Child': 'of the child' },
      workflowRunId: childId,
      label: 'of-the-tree',
    });
    expect(child).to.deep.equal({ body: [{ timeout: false }, 'notified'], isCanceled: false, isFailed: false });
    const call = await context.call<{ workflowRunId: string }>('apart', { workflow: apart, body: 'b' });
    expect(call.body.workflowRunId).to.match(/^wfr_/);
    const failed = await context.invoke('failing', { workflow: failing, body: 'b', retries: 0 });
    expect(failed).to.deep.equal({ body: undefined, isCanceled: false, isFailed: true });
    await context.run('two', () => {});
    await context.sleep('sleep', 1);
    return 'to its end';
  });
  const urls = stand.serveMany('tree', { root, branching, waiting, notifying, failing, apart });
  const { id, result } = await stand.run(urls.root, { body: 1 });
  expect(result, stand.toldOf(id)).to.equal('to its end');
  await eventually(() => expect(counts).to.deep.equal({ branching: 1, waiting: 2, notifying: 2, apart: 'apart' }));
  return urls.root;
}

async function failedParent(stand: WorkflowStand): Promise<string> {
  const parentId = stand.app.name('parent');
  let childIsOver = false;
  const child = stand.invokable(async (context) => {
    await context.sleep('sleep', 2);
    await context.run('only', () => {});
    childIsOver = true;
  });
  const parent = stand.invokable((context) =>
    Promise.all([
      context.invoke('child', { workflow: child, body: 'b' }),
      context.run('fails', async () => {
        await eventually(() => expect(stand.app.of(urls.child)).not.to.have.length(0), { timeoutMs: 30_000 });
        throw new WorkflowNonRetryableError('it failed');
      }),
    ]),
  );
  const root = stand.invokable(async (context) => {
    await context.run('one', () => {});
    const result = await context.invoke('parent', { workflow: parent, body: 'b', workflowRunId: parentId });
    return context.run('last', () => result);
  });
  const urls = stand.serveMany('parents', { root, parent, child });
  const { id, result } = await stand.run(urls.root);
  expect(result, stand.toldOf(id)).to.deep.equal({ isCanceled: false, isFailed: true });
  await eventually(() => expect(childIsOver).to.equal(true), { timeoutMs: 30_000 });
  return urls.root;
}

async function threeChildren(stand: WorkflowStand): Promise<string> {
  const children = Object.fromEntries(
    ['first', 'second', 'third'].map((name): [string, Invokable] => [
      name,
      stand.invokable(async (context) => {
        await context.run('one', () => {});
        await context.sleep('sleep', 1);
        return { name, got: context.requestPayload };
      }),
    ]),
  );
  const root = stand.invokable(async (context) => {
    const results: unknown[] = [];
    await context.run('one', () => {});
    for (const [name, workflow] of Object.entries(children)) {
      results.push((await context.invoke(name, { workflow, body: { to: name } })).body);
    }
    return context.run('last', () => results);
  });
  const urls = stand.serveMany('children', { root, ...children });
  const { id, result } = await stand.run(urls.root as string);
  const expected = Object.keys(children).map((name) => ({ name, got: { to: name } }));
  expect(result, stand.toldOf(id)).to.deep.equal(expected);
  return urls.root as string;
}

async function otherThanWorkflow(stand: WorkflowStand): Promise<string> {
  const path = stand.sink.path('plain');
  const plain = stand.sink.answer(path, { status: 200, body: 'no workflow' });
  const url = stand.serve('starting', async (context) => {
    const id = await context.run('trigger', () => stand.trigger(plain, { retries: 3 }));
    await context.sleep('sleep', 1);
    return context.run('check', async () => {
      const { steps } = await stand.logOf(id, 'RUN_FAILED');
      return steps.at(-1);
    });
  });
  const { id, result } = await stand.run(url);
  expect(result, stand.toldOf(id)).to.deep.include({ type: 'next' });
  const [step] = (result as { steps: { state: string; errors: { error: string; body: string }[] }[] }).steps;
  expect(step?.state).to.equal('STEP_FAILED');
  expect(step?.errors.length).to.equal(1);
  expect(step?.errors[0]).to.include({
    error:
      'detected a non-workflow destination for trigger/invoke. ' +
      'make sure you are sending the request to the correct endpoint',
    body: 'no workflow',
  });
  // The failure is reported to the same URL, because no other was given.
  await stand.sink.arrived(path, 2);
  return url;
}

async function restTriggers(stand: WorkflowStand): Promise<string> {
  const path = stand.sink.path('plain');
  const start = async (url: string, body: object, headers: Record<string, string> = {}) => {
    const { status, json } = await stand.queue.post(`/v2/trigger/${url}`, {
      headers: {
        'Content-Type': 'application/json',
        'Upstash-Retries': '0',
        'Upstash-Forward-X-Own': 'own',
        ...headers,
      },
      body,
    });
    expect(status).to.equal(200);
    return json as { workflowRunId: string; workflowCreatedAt: number };
  };
  const child = stand.invokable(async (context) => {
    expect(context.headers.get('x-own')).to.equal('own');
    await context.run('one', () => {});
    await context.run('hook', async () => {
      const { ok } = await fetch(context.requestPayload.webhookUrl, { method: 'POST', body: '{"done":true}' });
      return ok;
    });
  });
  const root = stand.invokable(async (context) => {
    const webhook = await context.createWebhook('webhook');
    const url = `${context.url.replace(/[^/]+$/, '')}child`;
    await context.run('rest', () => start(url, webhook));
    await context.run('unknown', () => start(url, webhook, { 'Upstash-Workflow-Unknown-Sdk': 'true' }));
    const plain = await context.run('plain', () => start(stand.sink.url(path), {}));
    expect(plain.workflowCreatedAt).to.be.a('number');
    for (const name of ['one', 'two']) {
      const { request } = await context.waitForWebhook(name, webhook, '30s');
      expect(await request?.json()).to.deep.equal({ done: true });
    }
    return context.run('check', async () => (await stand.logOf(plain.workflowRunId, 'RUN_FAILED')).steps);
  });
  const urls = stand.serveMany('rest', { root, child });
  const { id, result } = await stand.run(urls.root);
  expect(result, stand.toldOf(id)).to.have.length(2);
  const next = (result as { steps: { errors: { error: string }[] }[] }[])[1];
  expect(next?.steps[0]?.errors[0]?.error).to.equal(
    'trigger rest api is only usable with sdk versions after v1.0.0 major version',
  );
  await stand.sink.arrived(path, 2);
  return urls.root;
}

export const COUNTED_TREES: readonly CountedFlow[] = [
  { title: 'six workflows in a tree, one of them failing', count: 30, run: tree },
  { title: 'a parent that fails before its child ends', count: 11, run: failedParent },
  { title: 'three children, one after another', count: 15, run: threeChildren },
  { title: 'a trigger of an endpoint that is not a workflow', count: 4, run: otherThanWorkflow },
  { title: 'triggers over REST, and their webhooks (and requests elsewhere)', count: 15, run: restTriggers },
];
