/** The requests of the published workflow client, unmodified, and the commands to the owner of its run. */
import { Client as QueueClient } from '@upstash/qstash';
import { Client, type WorkflowContext } from '@upstash/workflow';
import { serve } from '@upstash/workflow/nextjs';
import { expect } from 'chai';
import type { PublishItem } from '../../../src/domain/queue/index.js';
import type { WorkflowItem } from '../../../src/domain/queue/runs/index.js';
import { QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const ALIAS = { headerWord: 'Upstash', queueWord: 'qstash', kvWord: 'redis' };
const URL = 'https://app.example/flow';
const RUN = 'wfr_1';

type Route = (context: WorkflowContext) => Promise<unknown>;

describe('edge/queue: the npm workflow client, unmodified', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness({ aliases: [ALIAS] }).start());

  const config = () => ({ baseUrl: face.url, token: QUEUE_TOKEN, retry: false }) as const;
  const only = (): PublishItem => {
    expect(face.gateway.published).to.have.length(1);
    return face.gateway.lastPublished;
  };
  const workflowOf = <Kind extends WorkflowItem['kind']>(item: PublishItem, kind: Kind) => {
    expect(item.workflow?.kind).to.equal(kind);
    return item.workflow as Extract<WorkflowItem, { kind: Kind }>;
  };
  const settingsOf = ({ destination }: PublishItem) => {
    if (destination.kind !== 'url') throw new Error('published to a group');
    return destination.settings;
  };
  /** One delivery of a run with these results so far. */
  const deliver = async (route: Route, steps: readonly object[] = [], headers: Record<string, string> = {}) => {
    const { POST } = serve(route, {
      qstashClient: new QueueClient(config()),
      url: URL,
      env: {},
      disableTelemetry: true,
    } as Parameters<typeof serve>[1]);
    const entries = ['{"a":1}', ...steps.map((step) => JSON.stringify(step))].map((body, at) => ({
      messageId: `msg_${at}`,
      body: Buffer.from(body).toString('base64'),
      callType: 'step',
    }));
    const request = new Request(URL, {
      method: 'POST',
      headers: {
        'Upstash-Workflow-RunId': RUN,
        'Upstash-Workflow-Sdk-Version': '1',
        'Upstash-Workflow-CreatedAt': '1700000000000',
        'Upstash-Message-Id': `msg_${steps.length}`,
        'Content-Type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(entries),
    });
    return POST(request as never) as Promise<Response>;
  };

  it('triggers runs', async () => {
    const { workflowRunId } = await new Client(config()).trigger({
      url: URL,
      body: { hello: 'world' },
      headers: { 'x-user': 'me' },
      workflowRunId: 'mine',
      retries: 5,
      label: ['one', 'two'],
      flowControl: { key: 'k', parallelism: 2 },
      delay: 30,
    });
    expect(workflowRunId).to.equal('wfr_mine');
    const item = only();
    expect(workflowOf(item, 'trigger')).to.deep.equal({
      kind: 'trigger',
      runId: 'wfr_mine',
      mark: { detectsTrigger: true, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: true },
      isByEndpoint: false,
      invoker: undefined,
      depth: 0,
    });
    expect(item).to.deep.include({ isAlias: true, queueName: undefined, body: Buffer.from('{"hello":"world"}') });
    expect(item.destination).to.include({ kind: 'url', url: URL });
    expect(settingsOf(item)).to.deep.include({ maxRetries: 5, labels: ['one', 'two'], delaySeconds: 30 });
    expect(settingsOf(item).flowControl).to.include({ key: 'k', parallelism: 2 });
    expect(settingsOf(item).header).to.have.deep.members([
      ['Content-Type', 'application/json'],
      ['Svc-Workflow-Sdk-Version', '1'],
      ['X-User', 'me'],
      ['Svc-Label', 'one,two'],
    ]);
    expect(settingsOf(item).failureCallback?.url).to.equal(URL);
    expect(settingsOf(item).failureCallback?.settings.maxRetries).to.equal(5);
    expect(settingsOf(item).failureCallback?.settings.header).to.deep.include.members([
      ['Svc-Workflow-Is-Failure', 'true'],
      ['Svc-Workflow-Failure-Callback', 'true'],
      ['X-User', 'me'],
      ['Svc-Label', 'one,two'],
    ]);
  });

  it('triggers a run when its endpoint is called directly, with any headers', async () => {
    const { POST } = serve(async (context) => context.run('one', () => 1), {
      qstashClient: new QueueClient(config()),
      url: URL,
      env: {},
    } as Parameters<typeof serve>[1]);
    const request = new Request(URL, {
      method: 'POST',
      headers: { 'X-User': 'me', 'Content-Length': '5', Host: 'x', Connection: 'close', 'Upstash-Signature': 'old' },
      body: 'hello',
    });
    const answer = (await POST(request as never)) as Response;
    expect(answer.status).to.equal(200);
    const item = only();
    expect(workflowOf(item, 'trigger').runId).to.match(/^wfr_.{21}$/);
    const names = settingsOf(item).header.map(([name]) => name);
    expect(names).to.include('X-User');
    expect(names).not.to.include.oneOf(['Content-Length', 'Host', 'Connection', 'Svc-Signature']);
    expect(item.body.toString()).to.equal('hello');
  });

  it('submits results of steps', async () => {
    const answer = await deliver(async (context) => context.run('one', () => ({ b: 2 })));
    expect(answer.status).to.equal(200);
    const item = only();
    expect(workflowOf(item, 'entry')).to.deep.equal({
      kind: 'entry',
      runId: RUN,
      mark: { detectsTrigger: true, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: true },
      step: { stepId: 1, targetStep: 0, concurrent: 1, stepName: 'one', stepType: 'Run' },
    });
    expect(JSON.parse(item.body.toString())).to.deep.include({ out: '{"b":2}' });
  });

  it('announces the steps of a parallel group, each with its delay', async () => {
    await deliver(async (context) =>
      Promise.all([context.run('one', () => 1), context.sleep('two', 60), context.call('three', { url: URL })]),
    );
    const { published } = face.gateway;
    const steps = published.map((item) => workflowOf(item, 'entry').step);
    expect(steps.map(({ stepId, targetStep, concurrent }) => [stepId, targetStep, concurrent])).to.deep.equal([
      [0, 1, 3],
      [0, 2, 3],
      [0, 3, 3],
    ]);
    expect(published.map((item) => settingsOf(item).delaySeconds)).to.deep.equal([0, 60, 0]);
  });

  it('calls third parties', async () => {
    await deliver(
      async (context) =>
        context.call('ask', {
          url: 'https://third.example/a?b=c',
          method: 'GET',
          headers: { 'X-Key': 'k', 'Upstash-Workflow-Mine': '1' },
          timeout: 30,
        }),
      [],
      { 'Upstash-Workflow-Invoke-Count': '2' },
    );
    const item = only();
    // The settings of the result's delivery: the call itself is not a delivery to the endpoint.
    expect(workflowOf(item, 'call').mark).to.include({ detectsTrigger: false, isConfiguredByTrigger: true });
    expect(workflowOf(item, 'call').step).to.deep.equal({
      stepId: 1,
      targetStep: 0,
      concurrent: 1,
      stepName: 'ask',
      stepType: 'Call',
    });
    expect(item.destination).to.include({ url: 'https://third.example/a?b=c' });
    expect(settingsOf(item)).to.deep.include({ method: 'GET', maxRetries: 0, timeoutSeconds: 30 });
    expect(settingsOf(item).header).to.deep.include.members([
      ['X-Key', 'k'],
      ['Svc-Workflow-Mine', '1'],
    ]);
    expect(settingsOf(item).callback?.url).to.equal(URL);
    expect(settingsOf(item).callback?.settings.header).to.deep.include.members([
      ['Svc-Workflow-Callback', 'true'],
      ['Svc-Workflow-Stepid', '1'],
      ['Svc-Workflow-Stepname', 'ask'],
      ['Svc-Workflow-Steptype', 'Call'],
      ['Svc-Workflow-Concurrent', '1'],
      ['Svc-Workflow-Contenttype', 'application/json'],
      ['Svc-Workflow-Invoke-Count', '2'],
    ]);
  });

  it('waits for events', async () => {
    const answer = await deliver(async (context) => context.waitForEvent('hold', 'my event/1', { timeout: '1h' }));
    expect(answer.status).to.equal(200);
    const wait = face.gateway.last('Wait');
    expect(wait).to.deep.include({
      runId: RUN,
      eventId: 'my event/1',
      timeoutText: '1h',
      timeoutSeconds: 3600,
      step: { stepId: 1, targetStep: 0, concurrent: 1, stepName: 'hold', stepType: 'Wait' },
    });
    expect(JSON.parse(wait.stepText)).to.deep.equal({ stepId: 1, stepType: 'Wait', stepName: 'hold', concurrent: 1 });
    for (const delivery of [wait.onNotify, wait.onTimeout]) {
      expect(delivery.url).to.equal(URL);
      expect(delivery.mark).to.include({ canFetch: true, isConfiguredByTrigger: true });
      expect(delivery.settings.header).to.deep.include(['Svc-Workflow-Sdk-Version', '1']);
      expect(delivery.headers).to.deep.include(['svc-workflow-runid', RUN]);
    }
  });

  it('notifies, and lists waiters', async () => {
    face.gateway.answer('Notify', { type: 'Notified', notified: [] });
    face.gateway.answer('ListWaiters', { type: 'Waiters', waiters: [] });
    const client = new Client(config());
    expect(await client.notify({ eventId: 'e 1', eventData: { a: 1 } })).to.deep.equal([]);
    expect(face.gateway.last('Notify')).to.deep.include({ eventId: 'e 1', runId: undefined, isHook: false });
    await client.notify({ eventId: 'e 1', eventData: 'text', workflowRunId: RUN });
    expect(face.gateway.last('Notify')).to.deep.include({ eventId: 'e 1', runId: RUN, content: Buffer.from('text') });
    expect(await client.getWaiters({ eventId: 'e 1' })).to.deep.equal([]);
    expect(face.gateway.last('ListWaiters').eventId).to.equal('e 1');
  });

  it('invokes child runs', async () => {
    const workflow = { routeFunction: async () => 1, workflowId: 'child', options: {}, useJSONContent: false } as never;
    const answer = await deliver(
      async (context) => context.invoke('start', { workflow, body: { c: 3 }, headers: { 'X-User': 'me' }, retries: 1 }),
      [],
      { 'Upstash-Workflow-Invoke-Count': '4' },
    );
    expect(answer.status).to.equal(200);
    const item = only();
    const { invoker, depth, runId } = workflowOf(item, 'trigger');
    expect(runId).to.match(/^wfr_.{21}$/);
    expect(depth).to.equal(5);
    expect(item.destination).to.include({ url: 'https://app.example/child' });
    expect(item.body.toString()).to.equal('{"c":3}');
    expect(settingsOf(item)).to.include({ maxRetries: 1 });
    expect(settingsOf(item).header).to.deep.include.members([
      ['X-User', 'me'],
      ['Svc-Workflow-Invoke-Count', '5'],
    ]);
    expect(invoker).to.deep.include({
      runId: RUN,
      step: { stepId: 1, targetStep: 0, concurrent: 1, stepName: 'start', stepType: 'Invoke' },
    });
    expect(invoker?.delivery.url).to.equal(URL);
    expect(invoker?.delivery.settings.header).to.deep.include.members([
      ['Svc-Workflow-Sdk-Version', '1'],
      ['Svc-Workflow-Invoke-Count', '4'],
    ]);
    expect(invoker?.delivery.mark).to.include({ canFetch: true, isConfiguredByTrigger: true });
  });

  it('finishes runs, and cancels them', async () => {
    await deliver(
      async (context) => context.run('one', () => 1),
      [{ stepId: 1, stepName: 'one', stepType: 'Run', out: '1', concurrent: 1 }],
    );
    const end = face.gateway.last('EndRun');
    expect(end).to.deep.include({ runId: RUN, how: 'finish', response: Buffer.from('1') });
    await deliver(async (context) => context.cancel());
    expect(face.gateway.last('EndRun')).to.deep.include({ runId: RUN, how: 'cancel', response: undefined });
    face.gateway.answer('CancelRuns', { type: 'Cancelled', count: 2 });
    const client = new Client(config());
    expect(await client.cancel([RUN, 'wfr_2'])).to.deep.equal({ cancelled: 2 });
    expect(face.gateway.last('CancelRuns').selector).to.deep.equal({ kind: 'ids', runIds: [RUN, 'wfr_2'] });
    await client.cancel({ filter: { workflowUrl: URL, label: 'one' } });
    expect(face.gateway.last('CancelRuns').selector).to.deep.equal({
      kind: 'filter',
      filter: { url: [URL], isUrlExact: true, label: ['one'] },
      count: 100,
    });
  });

  describe('handles refusals of its steps', () => {
    const step: Route = async (context) => context.run('one', () => 1);

    it('a run that is over: it stops its work', async () => {
      face.gateway.publishReply = { type: 'Rejected', reason: 'RUN_OVER', message: 'can not append' };
      expect((await deliver(step)).status).to.equal(200);
    });

    it('an error that a retry cannot fix: it asks for no retry', async () => {
      const refused: readonly Route[] = [
        (context) => context.call('ask', { url: 'https://forbidden.example/' }),
        (context) => context.call('ask', { url: `https://third.example/${'x'.repeat(9000)}` }),
        (context) => context.call('ask', { url: URL, retries: 21 }),
        (context) => context.run('large', () => 'x'.repeat(face.limits.maxMessageBytes)),
        (context) => context.sleep('long', '8d'),
        (context) => context.waitForEvent('hold', 'e'.repeat(2000)),
        (context) => context.waitForEvent('hold', 'e', { timeout: '1x' as never }),
        (context) => context.notify('tell', 'e', 'x'.repeat(face.limits.maxMessageBytes + 1)),
        async (context) => Promise.all(Array.from({ length: 1001 }, (_, at) => context.run(`step ${at}`, () => at))),
      ];
      for (const route of refused) {
        const answer = await deliver(route);
        expect([answer.status, await answer.text()][0], route.toString()).to.equal(489);
      }
      expect(face.gateway.published).to.deep.equal([]);
    });

    it('a temporary limit: it asks to be called again', async () => {
      face.gateway.publishReply = { type: 'Rejected', reason: 'DAILY_LIMIT', message: 'quota exceeded' };
      expect((await deliver(step)).status).to.equal(500);
    });
  });
});
