/** Every way in which a run of the published client starts, and the requests to its endpoint. */
import { WorkflowNonRetryableError } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { entriesOf, kindOf } from '../../support/workflow-app.js';
import { type Flow, RUN_TIMEOUT_MS, sharedStand, UNSIGNED, type WorkflowStand } from '../../support/workflow-stand.js';

const twoSteps: Flow = async (context) => {
  const first = await context.run('one', () => ({ payload: context.requestPayload, label: context.label }));
  const headers = await context.run('two', () => Object.fromEntries(context.headers));
  return { ...first, headers, createdAt: context.workflowRunCreatedAt };
};
type TwoSteps = {
  readonly payload: unknown;
  readonly label?: string;
  readonly headers: Record<string, string>;
  readonly createdAt: number;
};

describe('starting runs', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();

  together('trigger: sends payload, headers and label with every step', async () => {
    const url = stand.serve('trigger', twoSteps);
    const before = Date.now();
    const headers = { 'X-Own': 'a, b', Authorization: 'Bearer of the caller', 'Content-Type': 'application/json; a=b' };
    const { id, result } = await stand.run(url, { body: { ü: 1 }, headers, label: ['first', 'second'] });
    expect(id).to.match(/^wfr_[A-Za-z0-9_-]{21}$/);
    const { payload, label, headers: sent, createdAt } = result as TwoSteps;
    expect({ payload, label }).to.deep.equal({ payload: { ü: 1 }, label: 'first' });
    expect(sent).to.include({
      'x-own': 'a, b',
      authorization: 'Bearer of the caller',
      'upstash-label': 'first,second',
    });
    expect(createdAt).to.be.within(before, Date.now());
    const posts = stand.posts(id);
    expect(posts.map((post) => entriesOf(post).length)).to.deep.equal([1, 2, 3]);
    for (const { headers } of posts) {
      expect(headers).to.include({
        'x-own': 'a, b',
        'upstash-workflow-createdat': String(createdAt),
        'upstash-retried': '0',
      });
      expect(headers['upstash-workflow-sdk-version']).to.equal('1');
      expect(headers).not.to.have.any.keys('upstash-workflow-failure-callback', 'upstash-telemetry-sdk');
      expect(Object.keys(headers).filter((name) => /forward|svc-/.test(name))).to.deep.equal([]);
    }
    expect(posts[0]?.headers['content-type']).to.equal('application/json; a=b');
    expect(posts[1]?.headers['content-type']).to.equal('application/json');
  });

  for (const [title, body, expected] of [
    ['no payload', undefined, undefined],
    ['text', 'no JSON: ü€', 'no JSON: ü€'],
    ['text of JSON', '[1,{"a":null}]', [1, { a: null }]],
  ] as const)
    together(`trigger: with ${title}`, async () => {
      const url = stand.serve('payload', twoSteps);
      const { id, result } = await stand.run(url, body === undefined ? {} : { body });
      expect((result as TwoSteps).payload).to.deep.equal(expected);
      expect(entriesOf(stand.posts(id)[0]!)[0]).to.include({ callType: 'step', body: body ?? '' });
    });

  together('trigger: starts several runs, each with its own id and payload', async () => {
    const url = stand.serve('many', twoSteps);
    const own = stand.app.name('own');
    const triggered = await stand.client.trigger([
      { url, body: 1, retries: 0, workflowRunId: own },
      { url, body: 2, retries: 0 },
    ]);
    const ids = triggered.map(({ workflowRunId }) => workflowRunId);
    expect(ids[0]).to.equal(`wfr_${own}`);
    const runs = await Promise.all(ids.map((id) => stand.ended(id)));
    expect(runs.map(({ result }) => (result as TwoSteps).payload)).to.deep.equal([1, 2]);
  });

  for (const [title, options] of [
    ['a delay', () => ({ delay: 2 })],
    ['an instant', () => ({ notBefore: Math.ceil(Date.now() / 1000) + 2 })],
  ] as const)
    together(`trigger: starts after ${title}`, async () => {
      const url = stand.serve('later', twoSteps);
      const before = Date.now();
      const { id } = await stand.run(url, options());
      expect((stand.posts(id)[0]?.atMs ?? 0) - before).to.be.within(1900, 30_000);
    });

  together('trigger: with the id of an active run returns that run; after its end, a new run', async () => {
    const url = stand.serve('same', async (context) => {
      await context.run('one', () => {});
      return context.requestPayload;
    });
    const options = { workflowRunId: stand.app.name('same') };
    const id = await stand.trigger(url, { ...options, body: 'first', delay: 2 });
    expect(await stand.trigger(url, { ...options, body: 'second' })).to.equal(id);
    expect((await stand.ended(id)).result).to.equal('first');
    expect(stand.posts(id)).to.have.length(2);
    expect((await stand.run(url, { ...options, body: 'third' })).result).to.equal('third');
    await eventually(async () => {
      const { runs } = await stand.client.logs({ filter: { workflowRunId: id } });
      const [first, second] = runs.map(({ workflowRunCreatedAt }) => workflowRunCreatedAt) as [number, number];
      expect(runs.map(({ workflowState }) => workflowState)).to.deep.equal(['RUN_SUCCESS', 'RUN_SUCCESS']);
      expect(first).to.be.above(second);
      const { runs: found } = await stand.client.logs({ filter: { workflowRunId: id, workflowCreatedAt: second } });
      expect(found.map(({ workflowRunCreatedAt }) => workflowRunCreatedAt)).to.deep.equal([second]);
    });
  });

  together('trigger: eight parallel calls with one id start one run', async () => {
    const url = stand.serve('at-once', twoSteps);
    const options = { workflowRunId: stand.app.name('at-once'), body: 'b' };
    const ids = await Promise.all(Array.from({ length: 8 }, () => stand.trigger(url, options)));
    expect(new Set(ids).size).to.equal(1);
    const [id] = ids as [string];
    await stand.ended(id);
    await stand.logOf(id, 'RUN_SUCCESS');
    expect(stand.posts(id)).to.have.length(3);
  });

  together('trigger: repeated soon after the end of a run is deduplicated, and later starts a new run', async () => {
    const url = stand.serve('once-more', twoSteps);
    const options = { workflowRunId: stand.app.name('once-more'), body: 'same' };
    const { id } = await stand.run(url, options);
    const { messageId, deduplicated } = await again(url, id);
    expect([messageId, deduplicated]).to.deep.equal([stand.posts(id)[0]?.headers['upstash-message-id'], true]);
    await eventually(
      async () => {
        await stand.trigger(url, options);
        expect(stand.posts(id).length).to.be.above(3);
      },
      { timeoutMs: 30_000, everyMs: 200 },
    );
    await stand.ended(id);
    expect(stand.posts(id)).to.have.length(6);
  });

  /** The server's answer to a trigger with the same payload. */
  const again = async (url: string, id: string) => {
    const headers = {
      'Upstash-Workflow-RunId': id,
      'Upstash-Workflow-Init': 'true',
      'Upstash-Workflow-Url': url,
      'Upstash-Workflow-Sdk-Version': '1',
      'Upstash-Feature-Set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig',
    };
    const { status, json } = await stand.queue.post(`/v2/publish/${url}`, { headers, body: 'same' });
    expect(status).to.be.within(200, 299);
    return json as { messageId: string; deduplicated?: boolean };
  };

  together('POST /v2/trigger: with a generated or given id, and a failure function', async () => {
    const failures: unknown[] = [];
    const url = stand.serve(
      'rest',
      (context) => (context.requestPayload === 'fail' ? context.run('fails', failForGood) : twoSteps(context)),
      {
        failureFunction: async ({ context }) => {
          failures.push([context.workflowRunId, context.requestPayload, context.headers.get('x-own')]);
        },
      },
    );
    const start = async (body: string, headers = {}) => {
      const { status, json } = await stand.queue.post(`/v2/trigger/${url}`, {
        headers: { 'Upstash-Forward-X-Own': 'own', 'Upstash-Retries': '0', 'Content-Type': 'text/plain', ...headers },
        body,
      });
      expect(status).to.equal(200);
      return json as { workflowRunId: string; workflowCreatedAt: number };
    };
    const { workflowRunId, workflowCreatedAt } = await start('text');
    expect(workflowRunId).to.match(/^wfr_/);
    const { payload, headers, createdAt } = (await stand.ended(workflowRunId)).result as TwoSteps;
    expect({ payload, own: headers['x-own'], createdAt }).to.deep.equal({
      payload: 'text',
      own: 'own',
      createdAt: workflowCreatedAt,
    });
    const given = stand.app.name('wfr_given');
    expect((await start('fail', { 'Upstash-Workflow-RunId': given })).workflowRunId).to.equal(given);
    await eventually(() => expect(failures).to.deep.equal([[given, 'fail', 'own']]), { timeoutMs: RUN_TIMEOUT_MS });
    await stand.log(given, (run) => expect(run.failureFunction?.state).to.equal('CALLBACK_SUCCESS'));
  });

  together('POST /v2/batch/trigger: starts several runs', async () => {
    const url = stand.serve('batch', twoSteps);
    const items = ['a', 'b'].map((body) => ({ destination: url, body, headers: { 'Upstash-Forward-X-Own': body } }));
    const { status, json } = await stand.queue.post('/v2/batch/trigger', { body: items });
    expect(status).to.be.oneOf([200, 201]);
    const runs = await Promise.all((json as { workflowRunId: string }[]).map((run) => stand.ended(run.workflowRunId)));
    const seen = runs.map(({ result }) => [(result as TwoSteps).payload, (result as TwoSteps).headers['x-own']]);
    expect(seen).to.deep.equal([
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  together(
    'a request to the endpoint itself: its headers go with every step, and no failure function is called',
    async () => {
      const flow: Flow = async (context) => {
        const seen = await twoSteps(context);
        return context.requestPayload === 'fail' ? context.run('fails', failForGood) : seen;
      };
      // The request comes directly from a client, so it has no signature.
      const url = stand.serve('direct', flow, { ...UNSIGNED, failureFunction: async () => 'asked' });
      const start = async (body: string) => {
        const headers = {
          'X-Own': 'own',
          'Content-Type': 'text/plain',
          'Upstash-Retried': '7',
          'Upstash-Signature': 'old',
        };
        const answer = await fetch(url, { method: 'POST', body, headers });
        expect(answer.status).to.equal(200);
        return ((await answer.json()) as { workflowRunId: string }).workflowRunId;
      };
      const id = await start('text');
      const { payload, headers } = (await stand.ended(id)).result as TwoSteps;
      expect({ payload, own: headers['x-own'] }).to.deep.equal({ payload: 'text', own: 'own' });
      for (const { headers } of stand.posts(id)) {
        expect(headers['upstash-retried']).to.equal('0');
        expect(headers['upstash-signature']).to.match(/^[^.,]+\.[^.,]+\.[^.,]+$/);
        expect(headers.host).to.equal(new URL(url).host);
      }
      const failed = await start('fail');
      const run = await stand.logOf(failed, 'RUN_FAILED');
      expect(run).not.to.have.property('failureFunction');
      expect(stand.posts(failed).map(kindOf)).to.deep.equal(['step', 'step', 'step']);
    },
  );

  together('a message of the queue starts a run', async () => {
    const url = stand.serve('message', twoSteps);
    const { messageId } = await stand.queue.client.publishJSON({ url, body: { a: 1 }, headers: { 'X-Own': 'own' } });
    const { id, result } = await startedBy(url, (headers) => headers['upstash-message-id'] === messageId);
    expect(result).to.deep.include({ payload: { a: 1 } });
    expect((result as TwoSteps).headers).to.include({ 'x-own': 'own' });
    const [first, ...others] = stand.posts(id);
    expect(
      new Set(
        [messageId, first, ...others].map((post) =>
          typeof post === 'object' ? post.headers['upstash-message-id'] : post,
        ),
      ).size,
    ).to.equal(4);
  });

  together('a schedule starts a run', async () => {
    const { result } = await startedBy(stand.scheduled as string, () => true, 90_000);
    expect(result).to.equal('tick');
  });

  /** The run that the endpoint started when it was asked directly. */
  const startedBy = async (
    url: string,
    is: (headers: Readonly<Record<string, string>>) => boolean,
    timeoutMs = 30_000,
  ) => {
    const id = await eventually(
      () => {
        const post = stand.app
          .of(url)
          .find((post) => kindOf(post) === 'direct' && is(post.headers) && post.answer !== undefined);
        return (JSON.parse(post?.answer as string) as { workflowRunId: string }).workflowRunId;
      },
      { timeoutMs },
    );
    return stand.ended(id);
  };
});

function failForGood(): never {
  throw new WorkflowNonRetryableError('it failed');
}
