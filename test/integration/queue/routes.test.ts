/** Publishing and messages over raw HTTP on a real process: the answer of each route to success and to each error. */
import { expect } from 'chai';
import {
  expectAnswer,
  expectDone,
  expectRefused,
  itRefuses,
  type PublishedRecord,
} from '../../support/queue-answers.js';
import { QUEUE_READONLY_TOKEN, QUEUE_TOKEN, QueueProcess } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const DELAYED = { 'Svc-Delay': '1d' };
const UNKNOWN_DLQ_ID = '1700000000000-1';

describe('routes of messages', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());
  const served = () => queue;

  const group = async (name: string, ...urls: string[]) => {
    const endpoints = urls.map((url) => ({ url }));
    expectDone(await queue.post(`/v2/topics/${name}/endpoints`, { body: { endpoints } }));
  };

  describe('any route', () => {
    itRefuses(served, [
      ['no token', 'GET', '/v2/queues', { token: null }, 401, /^unable to authenticate: invalid token$/],
      ['an unknown token', 'GET', '/v2/queues', { token: 'unknown' }, 401, /^unable to authenticate: invalid token$/],
      ['an unknown path', 'GET', '/v2/nothing', {}, 404, /no such route/],
      ['an unknown path of workflows', 'POST', '/v2/workflows/nothing', {}, 404, /no such route/],
      ['another method', 'PUT', '/v2/queues', {}, 405, /method is not allowed/],
      ['language models', 'POST', '/llm/v1/chat/completions', { body: '{}' }, 404, /not available/],
      ['broken JSON', 'POST', '/v2/queues', { body: '{"queueName":' }, 400, /./],
      ['JSON that is not an object', 'POST', '/v2/queues', { body: '[]' }, 400, /not a JSON object/],
    ]);

    it('answers 405 with the allowed methods', async () => {
      const { headers } = await queue.request('PUT', '/v2/queues');
      expect(String(headers.allow).split(', ')).to.include.members(['GET', 'POST']);
    });

    for (const key of ['msgq_token', 'qstash_token']) {
      it(`accepts the token from ${key} in the query`, async () => {
        const token = encodeURIComponent(QUEUE_TOKEN);
        expectAnswer(await queue.get(`/v2/queues?${key}=${token}`, { token: null }), 200);
      });
    }

    it('reads everything with the read-only token, and answers 403 to changes', async () => {
      const token = QUEUE_READONLY_TOKEN;
      const reads = ['queues', 'topics', 'schedules', 'dlq', 'events', 'logs', 'flowControl', 'globalParallelism'];
      for (const path of reads) expectAnswer(await queue.get(`/v2/${path}`, { token }), 200);
      const changes: [string, string][] = [
        ['POST', `/v2/publish/${UNREACHABLE}`],
        ['POST', `/v2/enqueue/q/${UNREACHABLE}`],
        ['POST', '/v2/batch'],
        ['DELETE', '/v2/messages/msg_1'],
        ['DELETE', '/v2/messages'],
        ['POST', '/v2/queues'],
        ['DELETE', '/v2/queues/q'],
        ['POST', '/v2/queues/q/pause'],
        ['POST', '/v2/topics/t/endpoints'],
        ['DELETE', '/v2/topics/t/endpoints'],
        ['PATCH', '/v2/topics/t'],
        ['DELETE', '/v2/topics/t'],
        ['POST', `/v2/schedules/${UNREACHABLE}`],
        ['PATCH', '/v2/schedules/s/pause'],
        ['DELETE', '/v2/schedules/s'],
        ['DELETE', '/v2/dlq'],
        ['DELETE', `/v2/dlq/${UNKNOWN_DLQ_ID}`],
        ['POST', '/v2/dlq/retry'],
        ['POST', '/v2/flowControl/k/pause'],
        ['GET', '/v2/keys'],
        ['POST', '/v2/keys/rotate'],
      ];
      for (const [method, path] of changes) {
        expectRefused(await queue.request(method, path, { token, body: '{}' }), 403, /read-only token/);
      }
    });

    it('answers 400 to bytes that are not HTTP and 431 to large headers, and closes', async () => {
      expect(await queue.raw('NONSENSE\r\n\r\n')).to.match(/^HTTP\/1\.1 400 .*"error":/s);
      const big = `GET /v2/keys HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(70_000)}\r\n\r\n`;
      expect(await queue.raw(big)).to.match(/^HTTP\/1\.1 431 .*"error":/s);
    });

    it('accepts a target in absolute form, as proxies send it', async () => {
      const answer = await queue.raw(
        `GET http://queue.example/v2/keys HTTP/1.1\r\nHost: queue.example\r\nAuthorization: Bearer ${QUEUE_TOKEN}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).to.match(/^HTTP\/1\.1 200 /);
    });
  });

  describe('POST /v2/publish/<destination>', () => {
    it('answers 200 with the id and the URL', async () => {
      const url = queue.sink.url(queue.sink.path());
      const published = expectAnswer<PublishedRecord>(await queue.post(`/v2/publish/${url}`, { body: 'b' }), 200);
      expect(Object.keys(published)).to.deep.equal(['messageId', 'url']);
      expect(published.url).to.equal(url);
      expect(published.messageId).to.match(/^msg_[0-9A-Za-z]{20,}$/);
    });

    it('answers 202 with the earlier id for a duplicate', async () => {
      const headers = { 'Svc-Deduplication-Id': 'of-routes' };
      const target = `/v2/publish/${queue.sink.url(queue.sink.path())}`;
      const { messageId } = expectAnswer<PublishedRecord>(await queue.post(target, { headers }), 200);
      const again = expectAnswer<PublishedRecord>(await queue.post(target, { headers }), 202);
      expect(again).to.include({ messageId, deduplicated: true });
    });

    it('answers a bare array for a group, in the order of its endpoints', async () => {
      const urls = [queue.sink.url(queue.sink.path()), queue.sink.url(queue.sink.path())];
      await group('published', ...urls);
      const published = expectAnswer<PublishedRecord[]>(await queue.post('/v2/publish/published', { body: 'b' }), 200);
      expect(published.map(({ url }) => url)).to.deep.equal(urls);
      expect(new Set(published.map(({ messageId }) => messageId)).size).to.equal(2);
    });

    it('accepts a percent-encoded destination', async () => {
      const url = queue.sink.url(`${queue.sink.path()}?a=1`);
      const target = `/v2/publish/${encodeURIComponent(url)}`;
      expect(expectAnswer<PublishedRecord>(await queue.post(target), 200)).to.include({ url });
    });

    const to = (headers: Record<string, string>) => ({ headers, body: 'b' });
    itRefuses(served, [
      ['no scheme', 'POST', '/v2/publish/host.example/x', {}, 400, /invalid scheme, add http:\/\/ or https:\/\//],
      ['an unknown group', 'POST', '/v2/publish/nobodys-group', {}, 400, /invalid scheme, add http:\/\/ or https:\/\//],
      ['no destination', 'POST', '/v2/publish/', {}, 400, /invalid destination url/],
      ['a destination without a host', 'POST', '/v2/publish/http://', {}, 400, /invalid destination url/],
      ['the language model', 'POST', '/v2/publish/api/llm', {}, 400, /not available/],
      ['another method', 'GET', `/v2/publish/${UNREACHABLE}`, {}, 405, /method is not allowed/],
      ['no token', 'POST', `/v2/publish/${UNREACHABLE}`, { token: null }, 401, /invalid token/],
      [
        'too many retries',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Retries': '101' }),
        400,
        /^quota maxRetries exceeded, current limit: 100$/,
      ],
      [
        'too long a delay',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Delay': '366d' }),
        400,
        /^quota maxDelay exceeded, current limit: 31536000$/,
      ],
      [
        'a colon in a deduplication id',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Deduplication-Id': 'a:b' }),
        400,
        /^DeduplicationId cannot contain ':'$/,
      ],
      [
        'a callback that is no URL',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Callback': 'nowhere' }),
        400,
        /invalid callback url/,
      ],
      [
        'a failure callback that is no URL',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Failure-Callback': 'ftp://a' }),
        400,
        /invalid .*callback url/,
      ],
      ['an invalid method', 'POST', `/v2/publish/${UNREACHABLE}`, to({ 'Svc-Method': 'FETCH' }), 400, /svc-method/i],
      ['an invalid delay', 'POST', `/v2/publish/${UNREACHABLE}`, to({ 'Svc-Delay': 'soon' }), 400, /svc-delay/i],
      [
        'an invalid retry delay expression',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Retry-Delay': 'retried **' }),
        400,
        /svc-retry-delay/i,
      ],
      [
        'a flow-control key alone',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Flow-Control-Key': 'k' }),
        400,
        /flow-control/i,
      ],
      [
        'a flow control without a limit',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Flow-Control-Key': 'k', 'Svc-Flow-Control-Value': 'period=1s' }),
        400,
        /flow-control/i,
      ],
      [
        'a header that is the connection’s',
        'POST',
        `/v2/publish/${UNREACHABLE}`,
        to({ 'Svc-Forward-Host': 'a' }),
        400,
        /host/i,
      ],
    ]);
  });

  describe('POST /v2/enqueue/<queue>/<destination>', () => {
    it('answers as a publish does, and creates the queue', async () => {
      const url = queue.sink.url(queue.sink.path());
      expect(expectAnswer<PublishedRecord>(await queue.post(`/v2/enqueue/enqueued/${url}`), 200)).to.include({ url });
      expect(expectAnswer(await queue.get('/v2/queues/enqueued'), 200)).to.include({ parallelism: 1 });
      await group('enqueued', url);
      const published = expectAnswer<PublishedRecord[]>(await queue.post('/v2/enqueue/enqueued/enqueued'), 200);
      expect(published.map((each) => each.url)).to.deep.equal([url]);
    });

    itRefuses(served, [
      ['a bad name', 'POST', `/v2/enqueue/a%20b/${UNREACHABLE}`, {}, 400, /queue name/],
      ['no destination', 'POST', '/v2/enqueue/q', {}, 400, /invalid destination url/],
      ['another method', 'DELETE', `/v2/enqueue/q/${UNREACHABLE}`, {}, 405, /method is not allowed/],
    ]);
  });

  describe('POST /v2/batch', () => {
    it('answers an array, also for one message, with an inner array for a group', async () => {
      await group('in-batch', UNREACHABLE, `${UNREACHABLE}/2`);
      const headers = { 'Svc-Delay': '1d' };
      const one = await queue.post('/v2/batch', { body: [{ destination: UNREACHABLE, headers }] });
      expect(expectAnswer<PublishedRecord[]>(one, 200)).to.have.lengthOf(1);
      const two = await queue.post('/v2/batch', {
        body: [
          { destination: 'in-batch', headers, body: 'b' },
          { destination: UNREACHABLE, headers, queue: 'in-batch' },
        ],
      });
      const [first, second] = expectAnswer<[PublishedRecord[], PublishedRecord]>(two, 200);
      expect(first.map(({ url }) => url)).to.deep.equal([UNREACHABLE, `${UNREACHABLE}/2`]);
      expect(second).to.include({ url: UNREACHABLE });
    });

    it('accepts all messages or none', async () => {
      const label = { 'Svc-Label': 'all-or-none', 'Svc-Delay': '1d' };
      const good = { destination: UNREACHABLE, headers: label };
      for (const [bad, words] of [
        [{ destination: 'nobodys-group', headers: label }, /invalid scheme/],
        [
          { destination: UNREACHABLE, headers: { ...label, 'Svc-Delay': '366d' } },
          /^message 1: quota maxDelay exceeded/,
        ],
        [{ headers: label }, /^message 1: destination/],
        [{ destination: UNREACHABLE, body: 1 }, /^message 1: body/],
        [{ destination: UNREACHABLE, queue: 'a b' }, /^message 1: queue/],
      ] as [object, RegExp][]) {
        expectRefused(await queue.post('/v2/batch', { body: [good, bad] }), 400, words);
      }
      const cancelled = await queue.delete('/v2/messages?label=all-or-none');
      expect(expectAnswer(cancelled, 200)).to.deep.equal({ cancelled: 0 });
    });

    itRefuses(served, [
      ['no messages', 'POST', '/v2/batch', { body: '[]' }, 400, /empty/],
      ['JSON that is not an array', 'POST', '/v2/batch', { body: '{}' }, 400, /array/],
      ['broken JSON', 'POST', '/v2/batch', { body: '[{"destination":"http://a"' }, 400, /./],
      ['another method', 'GET', '/v2/batch', {}, 405, /method is not allowed/],
    ]);

    it('answers 400 to more than 1,000 messages', async () => {
      const body = Array(1001).fill({ destination: UNREACHABLE, headers: { 'Svc-Delay': '1d' } });
      expectRefused(await queue.post('/v2/batch', { body }), 400, /1000/);
    });
  });

  describe('/v2/messages', () => {
    it('shows a waiting message, and cancels it once', async () => {
      const id = await queue.publish(UNREACHABLE, { headers: DELAYED, body: Buffer.from([0xff, 0]) });
      const target = `/v2/messages/${id}`;
      const message = expectAnswer<Record<string, unknown>>(await queue.get(target), 200);
      expect(message).to.include({ messageId: id, url: UNREACHABLE, bodyBase64: '/wA=' });
      expect(message).not.to.have.property('body');
      expect(expectAnswer(await queue.delete(target), 200)).to.deep.equal({ cancelled: 1 });
      expectRefused(await queue.get(target), 404, /not found/);
      expectRefused(await queue.delete(target), 404, /not found/);
    });

    it('cancels by repeated values, by values with commas, and by all filters together', async () => {
      const labelled = (label: string) => queue.publish(UNREACHABLE, { headers: { ...DELAYED, 'Svc-Label': label } });
      const cancelled = async (query: string) =>
        expectAnswer<{ cancelled: number }>(await queue.delete(`/v2/messages?${query}`), 200).cancelled;
      for (const label of ['r1', 'r2', 'r3', 'r3', 'r4']) await labelled(label);
      expect(await cancelled('label=r1&label=r2')).to.equal(2);
      expect(await cancelled('label=r3,r4&host=elsewhere.example')).to.equal(0);
      expect(await cancelled('label=r3,r4&host=127.0.0.1&count=1')).to.equal(3);
    });

    itRefuses(served, [
      ['an unknown message', 'GET', '/v2/messages/msg_unknown', {}, 404, /not found/],
      ['an unknown filter', 'DELETE', '/v2/messages?lable=a', {}, 400, /unknown parameter lable/],
      ['an empty filter', 'DELETE', '/v2/messages?label=', {}, 400, /label is empty/],
      ['no ids', 'DELETE', '/v2/messages', { body: { messageIds: [] } }, 400, /messageIds is empty/],
      ['a missing id', 'DELETE', '/v2/messages/', {}, 400, /message id is missing/],
      ['a count of 0', 'DELETE', '/v2/messages?count=0', {}, 400, /count/],
      ['an invalid date', 'DELETE', '/v2/messages?fromDate=today', {}, 400, /fromDate/],
    ]);
  });
});
