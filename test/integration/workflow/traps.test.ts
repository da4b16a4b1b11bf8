/** Common faults of workflow servers, each as a program with the published client would see it. */
import { Client as QueueClient, Receiver } from '@upstash/qstash';
import { Client } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { entriesOf, kindOf } from '../../support/workflow-app.js';
import { RUN_TIMEOUT_MS, sharedStand, UNSIGNED, type WorkflowStand } from '../../support/workflow-stand.js';

const SOON = { timeoutMs: RUN_TIMEOUT_MS, everyMs: 50 };

describe('compatibility of workflows', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  const call = () =>
    stand.sink.answer(stand.sink.path('called'), { headers: { 'X-Reply-Header': 'r' }, body: 'answered' });
  const failing = (told: unknown[] = []) =>
    stand.serve(
      'failing',
      async (context) => {
        await context.run('one', () => 'of the list');
        await context.run('fails', () => {
          throw new Error('it failed');
        });
      },
      { failureFunction: async (payload) => void told.push(payload.context.requestPayload) },
    );

  together('1: each list ends with the delivered entry, also when later entries exist', async () => {
    const url = stand.serve('group', (context) =>
      Promise.all(['a', 'b', 'c', 'd'].map((name) => context.run(name, () => name))),
    );
    // Entries of other members arrive while the first attempt of each member is refused.
    stand.app.fault(url, {
      does: 'refuse',
      times: 4,
      of: ({ body, headers }) => headers['upstash-retried'] === '0' && entriesOf({ body }).length > 1,
    });
    const { id, result } = await stand.run(url, { retries: 3, retryDelay: '200' });
    expect(result).to.deep.equal(['a', 'b', 'c', 'd']);
    const lists = new Map<string, string>();
    for (const { headers, body } of stand.posts(id)) {
      const messageId = headers['upstash-message-id'] as string;
      expect(entriesOf({ body }).at(-1)?.messageId).to.equal(messageId);
      expect(lists.get(messageId) ?? body, 'the list of a retry').to.equal(body);
      lists.set(messageId, body);
    }
    expect(lists.size).to.equal(1 + 4 + 4);
  });

  together('2: the result of a call has no protocol version header', async () => {
    const url = stand.serve('call', async (context) => (await context.call('call', { url: call() })).status);
    const { id, result } = await stand.run(url);
    expect(result).to.equal(200);
    const [callback] = stand.posts(id).filter((post) => kindOf(post) === 'callback');
    expect(callback?.headers).not.to.have.property('upstash-workflow-sdk-version');
    expect(callback?.headers).to.include({
      'upstash-workflow-stepid': '1',
      'upstash-workflow-stepname': 'call',
      'upstash-workflow-steptype': 'Call',
      'upstash-workflow-concurrent': '1',
      'upstash-workflow-contenttype': 'application/json',
      'content-type': 'application/json',
    });
  });

  together('3: headers of the trigger are in every delivery', async () => {
    const eventId = stand.app.name('event');
    const url = stand.serve('headers', async (context) => {
      await context.run('run', () => {});
      await context.call('call', { url: call() });
      await Promise.all([context.sleep('sleep', 1), context.waitForEvent('late', eventId, { timeout: 1 })]);
      await context.waitForEvent('stored', eventId, { timeout: '30s' });
    });
    const id = await stand.trigger(url, { headers: { 'X-Own': 'own' } });
    await stand.client.notify({ eventId: eventId, eventData: 'e', workflowRunId: id });
    await stand.client.notify({ eventId: eventId, eventData: 'e', workflowRunId: id });
    await stand.ended(id);
    const posts = stand.posts(id);
    expect(posts.map(kindOf)).to.include.members(['step', 'callback']);
    for (const { headers } of posts) expect(headers['x-own']).to.equal('own');
  });

  together('4: only a step submitted after its run has ended gets 400', async () => {
    const url = stand.serve('over', (context) => context.sleep('sleep', '1h'));
    const id = await stand.trigger(url);
    const step = { stepId: 9, stepName: 'n', stepType: 'Run', out: '1', concurrent: 1 };
    const submit = (headers: Record<string, string>, body: string = JSON.stringify(step)) =>
      stand.queue.post(`/v2/publish/${url}`, {
        headers: {
          'Upstash-Workflow-RunId': id,
          'Upstash-Workflow-Init': 'false',
          'Upstash-Workflow-Url': url,
          'Upstash-Workflow-Sdk-Version': '1',
          'Upstash-Forward-Upstash-Workflow-Sdk-Version': '1',
          ...headers,
        },
        body,
      });
    const refused = [
      await submit({ 'Upstash-Retries': '1000000' }),
      await submit({ 'Upstash-Delay': '100000d' }),
      await submit({ 'Upstash-Retries': 'many' }),
      await submit({ 'Upstash-Flow-Control-Key': 'k' }),
      await submit({}, 'no JSON'),
      await submit({}, '[]'),
    ];
    for (const { status, text } of refused) expect(status, text).to.equal(412);
    await stand.client.cancel(id);
    const late = await submit({});
    expect([late.status, late.json]).to.deep.equal([400, { error: 'can not append to a cancelled workflow' }]);
  });

  together('5: finishing a run a second time succeeds', async () => {
    const url = stand.serve('twice', (context) => context.run('one', () => 'done'));
    stand.app.fault(url, { does: 'lose', times: 1, of: ({ body }) => entriesOf({ body }).length === 2 });
    const { id } = await stand.run(url, { retries: 1, retryDelay: '10' });
    const again = await stand.queue.delete(`/v2/workflows/runs/${id}?cancel=false`, { body: '"again"' });
    expect(again.status).to.be.within(200, 299);
    expect((await stand.queue.delete('/v2/workflows/runs/wfr_unknown?cancel=false')).status).to.be.within(200, 299);
    expect(await stand.logOf(id, 'RUN_SUCCESS')).to.include({ workflowRunResponse: '"done"' });
  });

  together('6: the result of a call and a failure have a body, also when lists are fetched', async () => {
    const url = stand.serve(
      'call',
      async (context) => {
        const { body } = await context.call('call', { url: call() });
        expect(body).to.equal('refused');
      },
      { failureFunction: async () => {} },
    );
    const { id } = await stand.run(url);
    await stand.log(id, ({ failureFunction }) => expect(failureFunction?.state).to.equal('CALLBACK_SUCCESS'));
    const posts = stand.posts(id).filter((post) => kindOf(post) !== 'step');
    expect(posts.map(kindOf)).to.deep.equal(['callback', 'failure']);
    for (const { body } of posts) expect(JSON.parse(body)).to.have.property('status');
  });

  together('7: response header names are canonical', async () => {
    const url = stand.serve('names', async (context) =>
      Object.keys((await context.call('call', { url: call() })).header),
    );
    const { result } = await stand.run(url);
    expect(result).to.include('X-Reply-Header').and.not.include('x-reply-header');
  });

  together('8: the result of context.invoke has isFailed and isCanceled, and no empty body', async () => {
    const child = stand.invokable(async (context) => {
      await context.run('one', () => {});
    });
    const parent = stand.invokable((context) => context.invoke('invoke', { workflow: child, body: 'b' }));
    const urls = stand.serveMany('invoking', { parent, child });
    const { id } = await stand.run(urls.parent);
    const { out } = JSON.parse(entriesOf(stand.posts(id).at(-1)!)[1]!.body) as { out: string };
    expect(JSON.parse(out)).to.deep.equal({ isCanceled: false, isFailed: false });
  });

  together('9: a generated token names its user, so that webhook URLs contain it', async () => {
    const { stdout } = await stand.queue.account('create', '--name', 'other', '--email', 'other@example.com');
    const [, token = ''] = /^queue-token=(.+)$/m.exec(stdout.toString()) ?? [];
    const { UserID } = JSON.parse(Buffer.from(token, 'base64').toString()) as { UserID: string };
    const keys = await eventually(async () => {
      const { status, json } = await stand.queue.get('/v2/keys', { token });
      expect(status).to.equal(200);
      return json as { current: string; next: string };
    }, SOON);
    const url = stand.serve(
      'other',
      async (context) => {
        const webhook = await context.createWebhook('create');
        await context.run('call', async () => (await fetch(webhook.webhookUrl, { method: 'PUT', body: 'b' })).status);
        const { request } = await context.waitForWebhook('wait', webhook, '30s');
        return [webhook.webhookUrl.split('/').at(-3), request?.method];
      },
      {
        qstashClient: new QueueClient({ baseUrl: stand.queue.url, token }),
        receiver: new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next }),
      },
    );
    const client = new Client({ baseUrl: stand.queue.url, token });
    const { workflowRunId } = await client.trigger({ url, retries: 0 });
    await eventually(async () => {
      const { runs } = await client.logs({ filter: { workflowRunId } });
      expect(runs[0]?.workflowRunResponse).to.equal(JSON.stringify([UserID, 'PUT']));
    }, SOON);
    expect((await stand.client.logs({ filter: { workflowRunId } })).runs).to.deep.equal([]);
  });

  together('10: sourceBody of a failure is the payload, not the list of entries', async () => {
    const told: unknown[] = [];
    const { id } = await stand.run(failing(told), { body: { the: 'payload' } });
    await eventually(() => expect(told).to.deep.equal([{ the: 'payload' }]), SOON);
    const failure = stand.posts(id).find((post) => kindOf(post) === 'failure');
    const { sourceBody } = JSON.parse(failure?.body as string) as { sourceBody: string };
    expect(Buffer.from(sourceBody, 'base64').toString()).to.equal('{"the":"payload"}');
  });

  together('11: a failed call is a result, and does not fail the run', async () => {
    const path = stand.sink.path('refusing');
    const refusing = stand.sink.answer(path, { status: 503, body: 'no' });
    const url = stand.serve('vain', async (context) => {
      const answered = await context.call('answered', { url: refusing, retries: 2, retryDelay: '10' });
      const unreachable = await context.call('unreachable', { url: 'http://127.0.0.1:9/nobody' });
      return [
        answered.status,
        answered.body,
        typeof unreachable.status,
        unreachable.status < 200 || unreachable.status > 299,
      ];
    });
    const { id, result } = await stand.run(url);
    expect(result).to.deep.equal([503, 'no', 'number', true]);
    await stand.sink.arrived(path, 3);
    expect((await stand.logOf(id, 'RUN_SUCCESS')).failureFunction).to.equal(undefined);
    expect((await stand.client.dlq.list({ filter: { workflowRunId: id } })).messages).to.deep.equal([]);
  });

  together('12: connection headers of the first request are not in later deliveries', async () => {
    const url = stand.serve(
      'direct',
      async (context) => {
        await context.run('one', () => {});
        return context.run('two', () => 'done');
      },
      UNSIGNED,
    );
    const body = JSON.stringify({ long: 'payload of the first request' });
    const headers = {
      'Upstash-Signature': 'old',
      'Upstash-Message-Id': 'msg_old',
      'X-Own': 'own',
      'Content-Type': 'application/json',
    };
    const answer = await fetch(url, { method: 'POST', body, headers });
    const { workflowRunId } = (await answer.json()) as { workflowRunId: string };
    expect((await stand.ended(workflowRunId)).result).to.equal('done');
    for (const { headers, body } of stand.posts(workflowRunId)) {
      expect(headers).to.include({
        host: new URL(url).host,
        'content-length': String(Buffer.byteLength(body)),
        'x-own': 'own',
      });
      expect(headers['upstash-signature']).not.to.contain('old');
      expect(headers['upstash-message-id']).to.equal(entriesOf({ body }).at(-1)?.messageId);
    }
  });

  together('13: every delivery has the creation time of its run', async () => {
    const url = stand.serve('created', async (context) => {
      const seen = [await context.run('one', () => context.workflowRunCreatedAt)];
      await context.call('call', { url: call() });
      return [...seen, await context.run('two', () => context.workflowRunCreatedAt)];
    });
    const { id, result } = await stand.run(url);
    const { workflowRunCreatedAt } = await stand.logOf(id, 'RUN_SUCCESS');
    expect(result).to.deep.equal([workflowRunCreatedAt, workflowRunCreatedAt]);
    for (const { headers } of stand.posts(id)) {
      expect(headers['upstash-workflow-createdat']).to.equal(String(workflowRunCreatedAt));
    }
  });

  together('14: a missing failure function is not reported as successful', async () => {
    const url = stand.serve('without', (context) =>
      context.run('fails', () => {
        throw new Error('it failed');
      }),
    );
    const { id } = await stand.run(url);
    await stand.arrived(id, 2);
    expect(stand.posts(id).map(kindOf)).to.deep.equal(['step', 'failure']);
    await stand.log(id, (run) => expect(run).to.not.have.property('failureFunction'));
    const [entry] = (await stand.client.dlq.list({ filter: { workflowRunId: id } })).messages;
    expect(entry).not.to.have.any.keys('failureCallbackInfo', 'failureFunctionState');
  });

  together('15: a message keeps its id through all attempts', async () => {
    const url = stand.serve('attempts', async (context) => {
      await context.run('one', () => {});
      await Promise.all([context.run('a', () => {}), context.run('b', () => {})]);
      return 'done';
    });
    stand.app.fault(url, { does: 'refuse', times: 100, of: ({ headers }) => Number(headers['upstash-retried']) < 2 });
    const { id, result } = await stand.run(url, { retries: 2, retryDelay: '10' });
    expect(result).to.equal('done');
    const attempts = new Map<string, string[]>();
    for (const { headers } of stand.posts(id)) {
      const messageId = headers['upstash-message-id'] as string;
      attempts.set(messageId, [...(attempts.get(messageId) ?? []), headers['upstash-retried'] as string]);
    }
    expect([...attempts.values()]).to.deep.equal(Array(6).fill(['0', '1', '2']));
  });
});
