/** The limits of an account on a real process: as operators set them, and the answer one step beyond. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { QUEUE_TOKEN, QueueProcess, type RawAnswer, refusalOf } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const DELAYED = { 'Svc-Delay': '1d' };
/** In force for all tests. */
const SMALL = [
  'maxMessageBytes=2000',
  'maxQueues=1',
  'maxParallelism=4',
  'maxGroups=1',
  'maxEndpointsPerGroup=2',
  'maxSchedules=1',
  'maxRetries=1',
  'maxDelaySeconds=86400',
  'timeoutSeconds=1',
  'maxDlqEntries=2',
];
const UNCOUNTED = ['maxMessagesPerDay=0', 'maxMessagesPerDayHard=0', 'maxRequestsPerSecond=0', 'budgetCents=0'];

describe('limits of an account', function () {
  this.timeout(90_000);
  // A cent a message.
  const queue = standOfAllTests(() => QueueProcess.start({ MILLRACE_QUEUE_PRICE_CENTS: '100000' }));
  let parallelism = 500;

  before(async () => {
    await limit(...SMALL, 'maxMessagesPerDay=5', 'maxMessagesPerDayHard=8');
  });

  /** Sets limits and waits until they are in force: a changed parallelism is set with them, and the API shows it. */
  async function limit(...limits: string[]): Promise<void> {
    parallelism += 1;
    await queue.account('limits', ...limits, `maxGlobalParallelism=${parallelism}`);
    await eventually(async () => {
      const { json } = await queue.get('/v2/globalParallelism');
      expect(json).to.include({ parallelismMax: parallelism });
    });
  }

  function expectRefused({ status, text, json }: RawAnswer, wanted: number, words: RegExp): void {
    expect(status, text).to.equal(wanted);
    expect((json as { error: string }).error).to.match(words);
  }

  const publish = (headers: Record<string, string> = DELAYED, body: string | Buffer = 'b') =>
    queue.post(`/v2/publish/${UNREACHABLE}`, { headers, body });
  const names = ({ headers }: RawAnswer) => Object.keys(headers).filter((name) => name.includes('ratelimit'));

  it('messages a day: rate limit headers above the soft limit, 429 at the hard limit', async () => {
    const sent = 5;
    const answers: RawAnswer[] = [];
    for (let n = 0; n < sent + 4; n += 1) answers.push(await publish());
    expect(answers.map(({ status }) => status)).to.deep.equal([...Array(sent + 3).fill(200), 429]);
    expect(names(answers[sent - 1] as RawAnswer)).to.deep.equal([]);
    const warned = answers[sent] as RawAnswer;
    expect(names(warned)).to.have.members(['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']);
    const refused = answers.at(-1) as RawAnswer;
    expectRefused(refused, 429, /^quota maxMessagesPerDay exceeded, current limit: 8$/);
    expect(refused.headers).to.include({ 'ratelimit-limit': String(sent + 3), 'ratelimit-remaining': '0' });
    const midnight = Number(refused.headers['ratelimit-reset']);
    expect(midnight % 86_400).to.equal(0);
    expect(midnight * 1000 - Date.now()).to.be.within(0, 86_400_000);
    const failure = await refusalOf(() => queue.client.publishJSON({ url: UNREACHABLE, body: 1 }));
    expect(failure.name).to.equal('QstashDailyRatelimitError');
    expectRefused(await queue.post('/v2/batch', { body: [{ destination: UNREACHABLE }] }), 429, /maxMessagesPerDay/);
  });

  it('monthly budget: 429 for a message beyond it', async () => {
    await limit(...UNCOUNTED, 'budgetCents=1');
    expectRefused(await publish(), 429, /^quota budget exceeded, current limit: 1 cents$/);
  });

  it('calls a second: 429 with burst headers, and publishes are not counted', async () => {
    await limit(...UNCOUNTED, 'maxRequestsPerSecond=3');
    const answers = await Promise.all(Array.from({ length: 12 }, () => queue.get('/v2/queues')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).to.be.at.least(6);
    for (const answer of refused) {
      expect(names(answer)).to.have.members([
        'burst-ratelimit-limit',
        'burst-ratelimit-remaining',
        'burst-ratelimit-reset',
      ]);
    }
    const published = await Promise.all(Array.from({ length: 12 }, () => publish()));
    expect(published.map(({ status }) => status)).to.deep.equal(Array(12).fill(200));
    const failure = await refusalOf(async () => {
      for (let n = 0; n < 12; n += 1) await queue.client.queue().list();
    });
    expect(failure.name).to.equal('QstashRatelimitError');
  });

  it('message size: 413 one byte beyond, for publish, enqueue, batch and schedule', async () => {
    await eventually(() => limit(...UNCOUNTED));
    const [fits, tooLong] = [Buffer.alloc(2000, 'x'), Buffer.alloc(2001, 'x')];
    expect((await publish(DELAYED, fits)).status).to.equal(200);
    const words = /body is too large, current limit: 2000 bytes/;
    expectRefused(await publish(DELAYED, tooLong), 413, words);
    expectRefused(await queue.post(`/v2/enqueue/q/${UNREACHABLE}`, { body: tooLong }), 413, words);
    const batch = [{ destination: UNREACHABLE, body: tooLong.toString(), headers: DELAYED }];
    expectRefused(await queue.post('/v2/batch', { body: batch }), 413, words);
    const headers = { 'Svc-Cron': '@yearly' };
    expectRefused(await queue.post(`/v2/schedules/${UNREACHABLE}`, { headers, body: tooLong }), 413, words);
  });

  it('message size: a callback has that many bytes of each body, and bodyTruncated when there were more', async () => {
    const [path, after] = [queue.sink.path('long'), queue.sink.path('cut')];
    queue.sink.answer(path, { body: 'y'.repeat(5000) });
    await queue.publish(queue.sink.url(path), { headers: { 'Svc-Callback': queue.sink.url(after) }, body: 'short' });
    const { bytes } = await queue.sink.call(after);
    const told = JSON.parse(bytes.toString()) as { body: string; sourceBody: string; bodyTruncated?: boolean };
    expect(Buffer.from(told.body, 'base64').toString()).to.equal('y'.repeat(2000));
    expect(told.bodyTruncated).to.equal(true);
    expect(Buffer.from(told.sourceBody, 'base64').toString()).to.equal('short');
    expect(told).to.not.have.property('sourceBodyTruncated');
  });

  it('queues: 412 for one too many; existing ones may change', async () => {
    const set = (queueName: string, parallelism = 1) => queue.post('/v2/queues', { body: { queueName, parallelism } });
    expect((await set('kept')).status).to.equal(200);
    expectRefused(await set('one-more'), 412, /^quota maxQueues exceeded, current limit: 1$/);
    expectRefused(await queue.post(`/v2/enqueue/one-more/${UNREACHABLE}`), 412, /^quota maxQueues exceeded/);
    expect((await set('kept', 4)).status).to.equal(200);
    expectRefused(await set('kept', 5), 412, /^quota maxParallelism exceeded, current limit: 4$/);
  });

  it('groups and endpoints: 412 for one too many', async () => {
    const add = (name: string, ...urls: string[]) =>
      queue.post(`/v2/topics/${name}/endpoints`, { body: { endpoints: urls.map((url) => ({ url })) } });
    expect((await add('kept', `${UNREACHABLE}/1`, `${UNREACHABLE}/2`)).status).to.equal(200);
    expectRefused(await add('kept', `${UNREACHABLE}/3`), 412, /current limit: 2/);
    expectRefused(await add('one-more', UNREACHABLE), 412, /current limit: 1/);
    expect((await add('kept', `${UNREACHABLE}/1`)).status).to.equal(200);
  });

  it('schedules: 412 for one too many; existing ones may be replaced', async () => {
    const make = (id: string) =>
      queue.post(`/v2/schedules/${UNREACHABLE}`, { headers: { 'Svc-Cron': '@yearly', 'Svc-Schedule-Id': id } });
    expect((await make('kept')).status).to.equal(200);
    expectRefused(await make('one-more'), 412, /current limit: 1/);
    expect((await make('kept')).status).to.equal(200);
  });

  it('retries and delay: 400 above the limit, also for a callback; the default is at most the limit', async () => {
    expectRefused(await publish({ 'Svc-Retries': '2' }), 400, /^quota maxRetries exceeded, current limit: 1$/);
    expectRefused(await publish({ 'Svc-Delay': '86401s' }), 400, /^quota maxDelay exceeded, current limit: 86400$/);
    const callback = { 'Svc-Callback': UNREACHABLE, 'Svc-Callback-Retries': '2' };
    expectRefused(await publish(callback), 400, /^quota maxRetries exceeded/);
    const id = await queue.publish(UNREACHABLE, { headers: { 'Svc-Delay': '86400s' } });
    expect((await queue.get(`/v2/messages/${id}`)).json).to.include({ maxRetries: 1 });
  });

  it('attempt duration: an attempt is cut off and fails', async () => {
    const path = queue.sink.path('slow');
    queue.sink.hold(path);
    const id = await queue.publish(queue.sink.url(path), { headers: { 'Svc-Retries': '0', 'Svc-Timeout': '1h' } });
    const entry = await queue.deadLetterOf(id);
    expect(entry).to.include({ responseStatus: 0 });
    expect(entry.error).to.match(/timed out/);
    queue.sink.release(path);
  });

  it('DLQ entries: the oldest are removed above the limit, and all after the retention', async () => {
    const dead: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const id = await queue.publish(UNREACHABLE, { headers: { 'Svc-Retries': '0', 'Svc-Label': 'leaving' } });
      dead.push((await queue.deadLetterOf(id)).dlqId);
    }
    const listed = async () => {
      const { json } = await queue.get('/v2/dlq?label=leaving');
      return (json as { messages: { dlqId: string }[] }).messages.map(({ dlqId }) => dlqId);
    };
    await eventually(async () => expect(await listed()).to.deep.equal(dead.slice(1)), { timeoutMs: 15_000 });
    await limit('dlqRetentionMs=1000');
    await eventually(async () => expect(await listed()).to.deep.equal([]), { timeoutMs: 15_000 });
  });

  it('events in the log: the oldest are removed above the limit, and with 0 none are kept', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await queue.publish(UNREACHABLE, { headers: { 'Svc-Delay': '1d' } }));
    const logged = async () => {
      const { json } = await queue.get('/v2/events?order=earliestFirst&count=1000');
      return (json as { events: { messageId: string }[] }).events.map(({ messageId }) => messageId);
    };
    await eventually(async () => expect((await logged()).slice(-4)).to.deep.equal(ids));
    await limit('maxEvents=3', 'dlqRetentionMs=604800000');
    await eventually(async () => expect(await logged()).to.deep.equal(ids.slice(1)));
    await limit('maxEvents=0');
    await eventually(async () => expect(await logged()).to.deep.equal([]));
    await limit('maxEvents=1000000');
    const id = await queue.publish(UNREACHABLE, { headers: { 'Svc-Delay': '1d' } });
    await eventually(async () => expect(await logged()).to.deep.equal([id]));
  });

  it('new tokens: the old ones are refused', async () => {
    const { stdout } = await queue.account('reset-tokens');
    const token = /^queue-token=(\S+)$/m.exec(stdout.toString())?.[1] as string;
    expect(token).to.be.a('string').and.not.equal(QUEUE_TOKEN);
    expectRefused(await queue.get('/v2/queues'), 401, /invalid token/);
    expect((await queue.get('/v2/queues', { token })).status).to.equal(200);
    const user = JSON.parse(Buffer.from(token, 'base64').toString()) as object;
    expect(user).to.have.property('UserID');
  });
});
