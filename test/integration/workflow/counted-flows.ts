/**
 * Workflows with every construct, and the number of requests that a faultless server sends to their endpoint. Each
 * workflow runs to its end, checks the results of its steps, and returns a URL of its endpoint.
 */
import { type WorkflowContext, WorkflowNonRetryableError } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import type { Flow, WorkflowStand } from '../../support/workflow-stand.js';

export interface CountedFlow {
  readonly title: string;
  readonly count: number;
  readonly run: (stand: WorkflowStand) => Promise<string>;
}

const PAYLOAD = { of: 'the trigger', ü: [1, null] };
const step = (context: WorkflowContext, name: string) => context.run(name, () => name);
const seconds = () => Math.floor(Date.now() / 1000);

/** A workflow with a result that shows that it reached its end. */
const alone = (flow: Flow, options: Parameters<WorkflowStand['trigger']>[1] = {}) => {
  return async (stand: WorkflowStand) => {
    const url = stand.serve('counted', async (context) => (await flow(context)) ?? 'to its end');
    const { id, result } = await stand.run(url, { body: PAYLOAD, headers: { 'X-Own': 'own' }, ...options });
    expect(result, stand.toldOf(id)).to.equal('to its end');
    return url;
  };
};

const threeSteps: Flow = async (context) => {
  expect(context.requestPayload).to.deep.equal(PAYLOAD);
  for (const name of ['one', 'two', 'three']) expect(await step(context, name)).to.equal(name);
  expect(context.headers.get('x-own')).to.equal('own');
};

const failing = (count: number, options: Parameters<WorkflowStand['trigger']>[1], error: () => Error) => ({
  count,
  run: async (stand: WorkflowStand) => {
    const told: unknown[] = [];
    const flow: Flow = (context) =>
      context.run('fails', () => {
        throw error();
      });
    const url = stand.serve('failing', flow, {
      failureFunction: async ({ context, failStatus, failResponse }) => {
        told.push(context.requestPayload, failStatus, failResponse);
      },
    });
    await stand.run(url, { body: PAYLOAD, retryDelay: '10', ...options });
    const status = error() instanceof WorkflowNonRetryableError ? 489 : 500;
    await eventually(() => expect(told).to.deep.equal([PAYLOAD, status, 'it failed']));
    return url;
  },
});

async function calls(stand: WorkflowStand): Promise<string> {
  const { sink } = stand;
  const json = (status: number, body: unknown) =>
    sink.answer(sink.path('called'), {
      status,
      headers: { 'Content-Type': 'application/json', 'X-Reply-Header': String(status) },
      body: JSON.stringify(body),
    });
  const [posted, got, deleted] = [json(201, { ü: '€' }), json(200, 'text'), json(400, { a: 1 })];
  const [refused, empty] = [json(401, 7), sink.answer(sink.path('empty'), { status: 300 })];
  const url = await alone(async (context) => {
    const post = await context.call<unknown>('post', {
      url: posted,
      method: 'POST',
      body: 'ü',
      headers: { 'X-A': 'b' },
    });
    expect(post).to.deep.include({ status: 201, body: { ü: '€' } });
    await context.sleep('sleep', 1);
    const get = await context.call('get', { url: got });
    expect(get).to.deep.include({ status: 200, body: 'text' });
    expect(get.header['X-Reply-Header']).to.deep.equal(['200']);
    const patch = await context.call('patch', { url: refused, method: 'PATCH', retries: 1, retryDelay: '10' });
    expect(patch).to.deep.include({ status: 401, body: 7 });
    const put = await context.call('put', { url: empty, method: 'PUT' });
    expect(put).to.deep.include({ status: 300, body: '' });
    expect(await context.call('delete', { url: deleted, method: 'DELETE' })).to.deep.include({
      status: 400,
      body: { a: 1 },
    });
  })(stand);
  const [call] = sink.calls(new URL(posted).pathname);
  expect(call).to.include({ method: 'POST', body: 'ü' });
  expect(call?.headers).to.include({ 'x-a': 'b' });
  expect(sink.calls(new URL(refused).pathname).length).to.equal(2);
  return url;
}

async function callsOfWorkflow(stand: WorkflowStand): Promise<string> {
  const called: string[] = [];
  const target = stand.serve('called', async (context) => {
    called.push(await context.run('only', () => context.requestPayload as string));
  });
  const url = await alone(async (context) => {
    for (const name of ['a', 'b', 'c']) {
      const { status, body } = await context.call<{ workflowRunId: string }>(name, {
        url: target,
        method: 'POST',
        body: name,
      });
      expect({ status, id: body.workflowRunId }).to.deep.include({ status: 200 });
      expect(body.workflowRunId).to.match(/^wfr_/);
    }
  })(stand);
  await eventually(() => expect(called.sort()).to.deep.equal(['a', 'b', 'c']));
  expect(stand.app.of(target).length).to.equal(9);
  return url;
}

async function refusedCall(stand: WorkflowStand): Promise<string> {
  const refused = stand.sink.answer(stand.sink.path('refused'), { status: 401, body: 'no' });
  const flow: Flow = async (context) => {
    const { status } = await context.call('call', { url: refused });
    return status;
  };
  const url = stand.serve('refused', flow, { failureFunction: async () => 'is not asked' });
  expect((await stand.run(url)).result).to.equal(401);
  return url;
}

async function failureElsewhere(stand: WorkflowStand): Promise<string> {
  const path = stand.sink.path('elsewhere');
  const url = stand.serve('failing', (context) =>
    context.run('fails', () => {
      throw new Error('it failed');
    }),
  );
  const { id } = await stand.run(url, { body: PAYLOAD, failureUrl: stand.sink.url(path) });
  const { body } = await stand.sink.call(path);
  const told = JSON.parse(body) as Record<string, string>;
  expect(told).to.include({ status: 500, workflowRunId: id, url });
  expect(JSON.parse(Buffer.from(told.sourceBody as string, 'base64').toString())).to.deep.equal(PAYLOAD);
  return url;
}

async function waits(stand: WorkflowStand): Promise<string> {
  const { client, sink } = stand;
  const id = stand.app.name('event');
  const notified = (event: string, eventData: unknown) =>
    eventually(async () => expect(await client.notify({ eventId: `${id}-${event}`, eventData })).to.have.length(1), {
      timeoutMs: 30_000,
    });
  const run = alone(async (context) => {
    const late = await context.waitForEvent('late', `${id}-never`, { timeout: 1 });
    expect(late).to.deep.equal({ eventData: undefined, timeout: true });
    await step(context, 'config');
    for (const event of ['text', 'other']) {
      const [call, wait] = await Promise.all([
        context.call('call', { url: sink.url('/waits'), method: 'POST', body: event }),
        context.waitForEvent('wait', `${id}-${event}`, { timeout: '60s' }),
      ]);
      expect([call.status, wait]).to.deep.equal([200, { eventData: event, timeout: false }]);
    }
    const wait = await context.waitForEvent('wait object', `${id}-object`, { timeout: '60s' });
    expect(wait).to.deep.equal({ eventData: PAYLOAD, timeout: false });
    await context.sleep('sleep', 1);
    await step(context, 'last');
  });
  const [url] = await Promise.all([
    run(stand),
    (async () => {
      for (const event of ['text', 'other']) await notified(event, event);
      await notified('object', PAYLOAD);
    })(),
  ]);
  return url;
}

async function webhooks(stand: WorkflowStand): Promise<string> {
  const run = alone(async (context) => {
    const first = await context.createWebhook('first');
    expect(await context.waitForWebhook('late', first, '1s')).to.deep.equal({ timeout: true, request: undefined });
    const second = await context.createWebhook('second');
    const url = `${second.webhookUrl}?a=b`;
    const body = JSON.stringify(PAYLOAD);
    const call = await context.call('call', { url, method: 'PUT', body, headers: { 'X-Hook': 'h' } });
    expect(call.status).to.be.within(200, 299);
    const { request } = await context.waitForWebhook('wait', second, '30s');
    expect([request?.url, request?.method, request?.headers.get('x-hook')]).to.deep.equal([url, 'PUT', 'h']);
    expect(await request?.json()).to.deep.equal(PAYLOAD);
    await step(context, 'last');
  });
  return run(stand);
}

/** Flows that send as many requests to the endpoint as its contract states, with one run at a time. */
export const COUNTED_FLOWS: readonly CountedFlow[] = [
  { title: 'three steps', count: 4, run: alone(threeSteps) },
  {
    title: 'three steps, triggered without the endpoint',
    count: 5,
    run: alone(threeSteps, { headers: { 'X-Own': 'own', 'Upstash-Workflow-Unknown-Sdk': 'true' } }),
  },
  {
    title: 'run, sleepUntil, run, sleep, run',
    count: 6,
    run: alone(async (context) => {
      await step(context, 'one');
      await context.sleepUntil('until', seconds() + 1);
      await step(context, 'two');
      await context.sleep('sleep', '1s');
      await step(context, 'three');
    }),
  },
  {
    title: 'a loop of steps and sleeps, and a group with a sleep',
    count: 12,
    run: alone(async (context) => {
      await step(context, 'one');
      await context.sleep('first', 1);
      await step(context, 'two');
      await context.sleep('second', 1);
      await step(context, 'three');
      const group = [step(context, 'a'), step(context, 'b'), context.sleep('c', 1)];
      expect(await Promise.all(group)).to.deep.equal(['a', 'b', undefined]);
    }),
  },
  { title: 'five calls, one of them failing after a retry, and a sleep', count: 12, run: calls },
  { title: 'three calls of another workflow', count: 7, run: callsOfWorkflow },
  { title: 'a refused call, which is not a failure', count: 3, run: refusedCall },
  { title: 'a failing step without retries', ...failing(2, { retries: 0 }, () => new Error('it failed')) },
  { title: 'a failing step with a retry', ...failing(3, { retries: 1 }, () => new Error('it failed')) },
  {
    title: 'a non-retryable error',
    ...failing(2, { retries: 3 }, () => new WorkflowNonRetryableError('it failed')),
  },
  { title: 'a failing step with a failure URL', count: 1, run: failureElsewhere },
  { title: 'waits alone, and in groups with calls', count: 16, run: waits },
  { title: 'webhooks', count: 8, run: webhooks },
];
