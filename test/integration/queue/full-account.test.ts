/**
 * An account with its maximum of waiting messages, on a real process: the answer to every call that would add another.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { expectAnswer, expectDone } from '../../support/queue-answers.js';
import { QueueProcess, type RawAnswer, refusalOf } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const DELAYED = { 'Svc-Delay': '1d' };
const MAX_MESSAGES = 3;
const LARGE = 'x'.repeat(60_000);

describe('an account that is full', function () {
  this.timeout(90_000);
  const queue = standOfAllTests(() =>
    QueueProcess.start({
      MILLRACE_QUEUE_MAX_MESSAGES: String(MAX_MESSAGES),
      MILLRACE_QUEUE_MAX_BYTES: '64KiB',
    }),
  );

  before(async () => {
    const { sink } = queue;
    const endpoints = [{ url: UNREACHABLE, name: 'one' }];
    expectDone(await queue.post('/v2/topics/team/endpoints', { body: { endpoints } }));
    expectDone(await queue.post('/v2/queues', { body: { queueName: 'line', parallelism: 1, paused: true } }));
    expectAnswer(await queue.post(`/v2/publish/${UNREACHABLE}`, { headers: DELAYED, body: LARGE }), 200);
    expectAnswer(await queue.post(`/v2/publish/${UNREACHABLE}`, { headers: DELAYED }), 200);
    expectAnswer(await queue.post(`/v2/enqueue/line/${sink.url('/held')}`, { body: 'accepted' }), 200);
  });

  function expectFull(
    { status, text, json, headers }: RawAnswer,
    words = /^too many messages are waiting, current limit: 3$/,
  ) {
    expect(status, text).to.equal(429);
    expect((json as { error: string }).error).to.match(words);
    expect(headers['retry-after']).to.equal('10');
  }

  const calls: Record<string, () => Promise<RawAnswer>> = {
    'a publish': () => queue.post(`/v2/publish/${UNREACHABLE}`, { body: 'b' }),
    'a publish to a group': () => queue.post('/v2/publish/team', { body: 'b' }),
    'an enqueue': () => queue.post(`/v2/enqueue/line/${UNREACHABLE}`, { body: 'b' }),
    'a batch': () => queue.post('/v2/batch', { body: [{ destination: UNREACHABLE }, { destination: 'team' }] }),
    'the trigger of a workflow': () => queue.post(`/v2/trigger/${UNREACHABLE}`, { body: 'b' }),
  };
  for (const [name, call] of Object.entries(calls)) {
    it(`gets 429 with Retry-After for ${name}`, async () => expectFull(await call()));
  }

  it('gets 429 for a schedule with a body above the remaining size', async () => {
    const headers = { 'Svc-Cron': '1 1 1 1 *', 'Svc-Schedule-Id': 'large' };
    const words = /^the messages that are waiting are too large, current limit: 65536 bytes$/;
    expectFull(await queue.post(`/v2/schedules/${UNREACHABLE}`, { headers, body: LARGE }), words);
    expectAnswer(await queue.post(`/v2/schedules/${UNREACHABLE}`, { headers, body: 'small' }), 200);
  });

  it('gets a rate limit error from the published client', async () => {
    const failure = await refusalOf(() => queue.client.publishJSON({ url: UNREACHABLE, body: 1 }));
    expect(failure.name).to.equal('QstashRatelimitError');
  });

  it('is still full after a crash, is counted in the metrics, and its messages are delivered', async () => {
    await queue.restart('SIGKILL');
    expectFull(await queue.post(`/v2/publish/${UNREACHABLE}`, { body: 'b' }));
    await eventually(async () => {
      const text = await (await fetch(`${queue.millrace.metricsUrl}/metrics`)).text();
      expect(text).to.match(/^millrace_queue_messages 3$/m);
      expect(text).to.match(/^millrace_queue_refused_total [1-9]\d*$/m);
    });
    expectDone(await queue.post('/v2/queues/line/resume'));
    expect((await queue.sink.call('/held')).body.toString()).to.equal('accepted');
    await eventually(async () =>
      expectAnswer(await queue.post(`/v2/publish/${UNREACHABLE}`, { headers: DELAYED }), 200),
    );
    expectFull(await queue.post(`/v2/publish/${UNREACHABLE}`, { body: 'b' }));
  });
});
