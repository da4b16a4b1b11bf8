/**
 * Payloads, results, errors and answers of five million characters, unchanged from end to end. The number in a title is
 * that of the requests.
 */
import { WorkflowNonRetryableError } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { kindOf } from '../../support/workflow-app.js';
import { type Flow, RUN_TIMEOUT_MS, WorkflowStand } from '../../support/workflow-stand.js';

const LARGE = 'ü'.repeat(8).padEnd(5_000_000, 'large ');
/** For cases in which the published client repeats its own slow work. It still exceeds a single delivery. */
const LARGE_ENOUGH = LARGE.slice(0, 1_500_000);
/** Room for an error with its text in its message and in its stack. */
const LIMIT = 12 * 1024 * 1024;

/** Large concurrent requests may be refused for a moment. */
const PATIENT = { retries: 3, retryDelay: '2000' };

describe('large values of workflows', function () {
  this.timeout(120_000);
  // The heap has room for all tests in parallel.
  const stand = standOfAllTests(() => WorkflowStand.start({ MILLRACE_HEAP_MB: '1024' }));
  before(async () => {
    await stand.queue.account('limits', `maxMessageBytes=${LIMIT}`);
    const url = stand.sink.url(stand.sink.path('probe'));
    await eventually(
      async () => expect((await stand.queue.post(`/v2/publish/${url}`, { body: LARGE })).status).to.equal(200),
      { timeoutMs: 20_000, everyMs: 200 },
    );
  });

  const expectRun = async (
    count: number,
    flow: Flow,
    options: Parameters<WorkflowStand['trigger']>[1] = {},
  ): Promise<string> => {
    const url = stand.serve('large', flow);
    const { id, result } = await stand.run(url, { ...PATIENT, ...options });
    expect(result, stand.toldOf(id)).to.equal('whole');
    expect(messagesOf(id)).to.have.length(count);
    return id;
  };
  /** Requests by message id: one that failed because of the machine's load is repeated, and counts once. */
  const postsOf = (id: string) => [
    ...new Map(stand.posts(id).map((post) => [post.headers['upstash-message-id'], post])).values(),
  ];
  const messagesOf = (id: string) => postsOf(id).map(kindOf);
  const bodies = (id: string) => postsOf(id).map(({ body }) => body.length);

  it('a payload, in 4 requests', async () => {
    const id = await expectRun(
      4,
      async (context) => {
        for (const name of ['one', 'two', 'three']) await context.run(name, () => {});
        return context.requestPayload === LARGE ? 'whole' : 'cut';
      },
      { body: LARGE, headers: { 'Content-Type': 'text/plain' } },
    );
    expect(bodies(id)).to.deep.equal([0, 0, 0, 0]);
    for (const { headers } of postsOf(id)) expect(headers['content-type']).to.equal('application/json');
  });

  it('a result of a step, in 3 requests', async () => {
    const id = await expectRun(3, async (context) => {
      const large = await context.run('large', () => LARGE);
      return context.run('check', () => (large === LARGE ? 'whole' : 'cut'));
    });
    const [first, ...others] = bodies(id);
    expect(first).to.be.above(0);
    expect(others).to.deep.equal([0, 0]);
  });

  it('results of groups, in 9 requests', async () => {
    await expectRun(9, async (context) => {
      for (const round of [1, 2]) {
        const [nothing, large] = await Promise.all([
          context.run(`nothing ${round}`, () => undefined),
          context.run(`large ${round}`, () => LARGE_ENOUGH),
        ]);
        expect([nothing, large === LARGE_ENOUGH]).to.deep.equal([undefined, true]);
      }
      return 'whole';
    });
  });

  it('the answer to a call, in 4 requests', async () => {
    const path = stand.sink.path('large');
    const url = stand.sink.answer(path, { headers: { 'Content-Type': 'text/plain' }, body: LARGE });
    const id = await expectRun(4, async (context) => {
      const { body } = await context.call('call', { url, method: 'POST', body: 'small' });
      return context.run('check', () => (body === LARGE ? 'whole' : 'cut'));
    });
    const callback = stand.posts(id).find((post) => kindOf(post) === 'callback');
    expect(callback?.body.length).to.be.above(LARGE.length);
  });

  it('the body of a call, in 4 requests', async () => {
    const path = stand.sink.path('large');
    await expectRun(4, async (context) => {
      const { status } = await context.call('call', { url: stand.sink.url(path), method: 'POST', body: LARGE_ENOUGH });
      return context.run('check', () => (status === 200 ? 'whole' : 'cut'));
    });
    expect((await stand.sink.call(path)).body === LARGE_ENOUGH).to.equal(true);
  });

  it('the text of an error, with the payload, in 3 requests', async () => {
    const told: boolean[] = [];
    const flow: Flow = async (context) => {
      await context.run('one', () => {});
      return context.run('fails', () => {
        throw new WorkflowNonRetryableError(LARGE);
      });
    };
    const url = stand.serve('large', flow, {
      failureFunction: async ({ context, failResponse }) => {
        told.push(context.requestPayload === LARGE, failResponse === LARGE);
      },
    });
    const { id } = await stand.run(url, { body: LARGE, ...PATIENT });
    await eventually(() => expect(told).to.deep.equal([true, true]), { timeoutMs: RUN_TIMEOUT_MS });
    expect(messagesOf(id)).to.deep.equal(['step', 'step', 'failure']);
  });

  it('an event, a child’s payload and its result', async () => {
    const eventId = stand.app.name('event');
    const child = stand.invokable((context) => context.run('one', () => context.requestPayload));
    const parent = stand.invokable(async (context) => {
      const { eventData } = await context.waitForEvent('wait', eventId, { timeout: '1h' });
      const { body } = await context.invoke('child', { workflow: child, body: eventData as string, ...PATIENT });
      return eventData === LARGE_ENOUGH && body === LARGE_ENOUGH ? 'whole' : 'cut';
    });
    const urls = stand.serveMany('large', { parent, child });
    const id = await stand.trigger(urls.parent, PATIENT);
    await eventually(
      async () => expect(await stand.client.notify({ eventId, eventData: LARGE_ENOUGH })).to.have.length(1),
      {
        timeoutMs: RUN_TIMEOUT_MS,
      },
    );
    expect((await stand.ended(id)).result).to.equal('whole');
  });

  it('a result above the account’s limit fails the run without retries', async () => {
    const url = stand.serve('beyond', (context) => context.run('huge', () => 'x'.repeat(LIMIT + 1)));
    const id = await stand.trigger(url, { retries: 3 });
    await stand.logOf(id, 'RUN_FAILED');
    expect(stand.posts(id).map(({ status }) => status)).to.deep.equal([489, 200]);
  });

  for (const [title, bytes, reason] of [
    ['is longer than a message may be', LIMIT + 1, /^the answer to the call is larger than a message may be/],
    ['fits into a message, but not with the rest of its step', LIMIT - 10, /^the step was refused: body is too large/],
  ] as const)
    it(`context.call with an answer that ${title} fails its run without retries, with the reason`, async () => {
      const path = stand.sink.path('beyond');
      const url = stand.sink.answer(path, { headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(bytes) });
      const flow = stand.serve('calls', async (context) => (await context.call('call', { url, retries: 0 })).status);
      const id = await stand.trigger(flow, { retries: 3, retryDelay: '600000' });
      await stand.logOf(id, 'RUN_FAILED');
      const headers = { authorization: `Bearer ${QUEUE_TOKEN}` };
      const answer = await fetch(`${stand.queue.url}/v2/workflows/dlq?workflowRunId=${id}`, { headers });
      const { messages } = (await answer.json()) as { messages: { error?: string }[] };
      expect(messages[0]?.error).to.match(reason);
    });
});
