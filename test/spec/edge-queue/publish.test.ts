import { expect } from 'chai';
import { MillraceError } from '../../../src/kernel/index.js';
import { QUEUE_READ_ONLY_TOKEN, QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const DESTINATION = 'https://api.example/hook';

describe('edge/queue: publishing', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const destination = () => face.gateway.lastPublished.destination;
  const settings = () => {
    const found = destination();
    if (found.kind !== 'url') throw new Error('published to a group');
    return found.settings;
  };

  it('POST /v2/publish answers with the message’s id and its URL', async () => {
    const answer = await face.post(`/v2/publish/${DESTINATION}`, { body: 'hello' });
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.equal('application/json');
    expect(answer.json).to.deep.equal({ messageId: face.gateway.lastPublished.id, url: DESTINATION });
    expect(face.gateway.lastPublished.id).to.match(/^msg_[1-9A-HJ-NP-Za-km-z]{28}$/);
  });

  it('POST /v2/publish passes the body on byte for byte', async () => {
    const body = Buffer.from([0, 255, 13, 10, 195, 40]);
    await face.post(`/v2/publish/${DESTINATION}`, { body });
    expect(Buffer.from(face.gateway.lastPublished.body)).to.deep.equal(body);
  });

  it('POST /v2/publish takes the destination from the raw target, with slashes and query', async () => {
    await face.post(`/v2/publish/https://api.example//a/b%2Fc?x=1&y=%20&svc-retries=2&msgq_token=${QUEUE_TOKEN}&z`);
    expect(destination()).to.include({ kind: 'url', url: 'https://api.example//a/b%2Fc?x=1&y=%20&z' });
    expect(settings().maxRetries).to.equal(2);
  });

  it('POST /v2/publish leaves query keys without an option to the destination', async () => {
    await face.post('/v2/publish/https://api.example/?svc-unknown=1&retries=5&Svc-Retries=9');
    expect(destination()).to.include({ url: 'https://api.example/?svc-unknown=1&retries=5&Svc-Retries=9' });
  });

  it('POST /v2/publish understands a destination that is percent-encoded as a whole', async () => {
    await face.post('/v2/publish/https%3A%2F%2Fapi.example%2Fa%3Fb%3D1?c=2');
    expect(destination()).to.include({ url: 'https://api.example/a?b=1&c=2' });
  });

  it('POST /v2/publish to a URL group keeps all headers except the token, because its defaults may forward them', async () => {
    const answer = await face.post('/v2/publish/my-group', { headers: { 'X-Event': 'push', 'Svc-Delay': '10s' } });
    expect(answer.json).to.be.an('array').with.lengthOf(2);
    const found = destination();
    if (found.kind !== 'group') throw new Error('published to a URL');
    expect(found.name).to.equal('my-group');
    expect(found.raw.headers).to.deep.include.members([
      ['x-event', 'push'],
      ['svc-delay', '10s'],
    ]);
    expect(JSON.stringify(found.raw)).not.to.include(QUEUE_TOKEN);
  });

  it('POST /v2/publish answers 202 to a duplicate, with the id of the earlier message', async () => {
    const results = [{ messageId: 'msg_earlier' as never, url: DESTINATION, isDuplicate: true }];
    face.gateway.publishReply = { type: 'Published', results, daily: undefined };
    const answer = await face.post(`/v2/publish/${DESTINATION}`, { headers: { 'Svc-Deduplication-Id': 'a' } });
    expect(answer.status).to.equal(202);
    expect(answer.json).to.deep.equal({ messageId: 'msg_earlier', url: DESTINATION, deduplicated: true });
    expect(face.gateway.lastPublished.deduplication).to.deep.equal({ id: 'a' });
  });

  it('POST /v2/publish answers 200 for a group when at least one message is new', async () => {
    const first = { messageId: 'msg_1' as never, url: DESTINATION, isDuplicate: true };
    const results = [[first, { ...first, messageId: 'msg_2' as never, isDuplicate: false }]];
    face.gateway.publishReply = { type: 'Published', results, daily: undefined };
    const answer = await face.post('/v2/publish/my-group');
    expect(answer.status).to.equal(200);
    expect(answer.json).to.deep.equal([
      { messageId: 'msg_1', url: DESTINATION, deduplicated: true },
      { messageId: 'msg_2', url: DESTINATION },
    ]);
  });

  it('POST /v2/publish reads options from headers, and from the query where no header sets them', async () => {
    await face.post(`/v2/publish/${DESTINATION}?svc-retries=1&svc-method=put&svc-label=a`, {
      headers: { 'Svc-Retries': '5', 'Svc-Forward-X-Trace': 'abc' },
    });
    expect(settings()).to.deep.include({ maxRetries: 5, method: 'PUT', labels: ['a'], header: [['X-Trace', 'abc']] });
  });

  it('POST /v2/publish forwards all headers with Svc-Header-Forward, except Authorization and the token in the query', async () => {
    await face.post(`/v2/publish/${DESTINATION}?msgq_token=${QUEUE_TOKEN}&svc-header-forward=true`, {
      token: null,
      headers: { Authorization: 'Basic c2VjcmV0', 'X-Hub-Signature': 'sha1=00', 'Content-Type': 'text/plain' },
    });
    expect(settings().header).to.deep.include.members([
      ['X-Hub-Signature', 'sha1=00'],
      ['Content-Type', 'text/plain'],
    ]);
    expect(settings().header.map(([name]) => name)).not.to.include.members(['Authorization', 'Host']);
  });

  it('POST /v2/enqueue puts a message into the queue of the path', async () => {
    const answer = await face.post(`/v2/enqueue/my-queue/${DESTINATION}?a=b`);
    expect(answer.status).to.equal(200);
    expect(face.gateway.lastPublished.queueName).to.equal('my-queue');
    expect(destination()).to.include({ url: `${DESTINATION}?a=b` });
  });

  it('POST /v2/enqueue to a group answers an array', async () => {
    expect((await face.post('/v2/enqueue/my-queue/my-group')).json).to.be.an('array');
  });

  const REFUSED = [
    [
      'a name that is neither URL nor group',
      '/v2/publish/ftp%3A%2F%2Fa',
      /^invalid destination url: endpoint has invalid scheme, add http:\/\/ or https:\/\/$/,
    ],
    ['no destination', '/v2/publish/', /^invalid destination url: endpoint has invalid scheme/],
    ['language models', '/v2/publish/api/llm', /^destination api\/llm is not available/],
    [
      'a forbidden address',
      '/v2/publish/http://forbidden.example/',
      /^invalid destination url: endpoint is forbidden$/,
    ],
    [
      'a forbidden callback',
      `/v2/publish/${DESTINATION}?svc-callback=http://forbidden.example/`,
      /^invalid callback url/,
    ],
    [
      'a forbidden callback of a callback',
      `/v2/publish/${DESTINATION}?svc-callback=${DESTINATION}&svc-callback-failure-callback=http://forbidden.example/`,
      /^invalid failure callback url/,
    ],
    ['a bad name of a queue', `/v2/enqueue/a%20b/${DESTINATION}`, /^queue name may have letters/],
    [
      'a delay above the maximum of the plan',
      `/v2/publish/${DESTINATION}?svc-delay=30d`,
      /quota maxDelay exceeded, current limit: 604800$/,
    ],
    ['broken percent-encoding', '/v2/publish/%zz', /^malformed percent-encoding/],
  ] as const;
  for (const [mistake, path, text] of REFUSED) {
    it(`answers 400 to ${mistake}, with the reason`, async () => {
      const answer = await face.post(path);
      expect(answer.status).to.equal(400);
      expect((answer.json as { error: string }).error).to.match(text);
      expect(face.gateway.published).to.deep.equal([]);
    });
  }

  it('POST /v2/publish accepts a body of the account’s largest size, and answers 413 to one byte more', async () => {
    face.limits = { ...face.limits, maxMessageBytes: 10 };
    expect((await face.post(`/v2/publish/${DESTINATION}`, { body: '0123456789' })).status).to.equal(200);
    const answer = await face.post(`/v2/publish/${DESTINATION}`, { body: '0123456789a' });
    expect(answer.status).to.equal(413);
    expect(answer.json).to.deep.equal({ error: 'body is too large, current limit: 10 bytes' });
  });

  it('POST /v2/publish answers 401 without a token and to an unknown token', async () => {
    for (const token of [null, 'wrong']) {
      const answer = await face.post(`/v2/publish/${DESTINATION}`, { token });
      expect(answer.status).to.equal(401);
      expect(answer.json).to.deep.equal({ error: 'unable to authenticate: invalid token' });
    }
    expect(face.gateway.published).to.deep.equal([]);
  });

  it('POST /v2/publish answers 403 to a read-only token', async () => {
    const answer = await face.post(`/v2/publish/${DESTINATION}`, { token: QUEUE_READ_ONLY_TOKEN });
    expect(answer.status).to.equal(403);
  });

  it('GET /v2/publish answers 405', async () => {
    const answer = await face.get(`/v2/publish/${DESTINATION}`);
    expect([answer.status, answer.headers.allow]).to.deep.equal([405, 'POST']);
    expect(answer.json).to.deep.equal({ error: 'method is not allowed' });
  });

  const daily = { limit: 1000, remaining: 0, resetAtMs: 1_800_000_000_500, isAboveSoft: true };
  const dailyHeaders = { 'ratelimit-limit': '1000', 'ratelimit-remaining': '0', 'ratelimit-reset': '1800000001' };

  it('POST /v2/publish adds a warning above the daily soft limit, and none below it', async () => {
    const results = [{ messageId: 'msg_1' as never, url: DESTINATION, isDuplicate: false }];
    face.gateway.publishReply = { type: 'Published', results, daily };
    const warned = await face.post(`/v2/publish/${DESTINATION}`);
    expect(warned.status).to.equal(200);
    expect(warned.headers).to.include(dailyHeaders);
    face.gateway.publishReply = { type: 'Published', results, daily: { ...daily, isAboveSoft: false } };
    expect((await face.post(`/v2/publish/${DESTINATION}`)).headers).not.to.have.property('ratelimit-limit');
  });

  it('POST /v2/publish answers 429 at the daily hard limit, with the figures of the day', async () => {
    face.gateway.publishReply = { type: 'Rejected', reason: 'DAILY_LIMIT', message: 'daily limit reached', daily };
    const answer = await face.post(`/v2/publish/${DESTINATION}`);
    expect(answer.status).to.equal(429);
    expect(answer.headers).to.include(dailyHeaders);
    expect(answer.headers).not.to.have.property('burst-ratelimit-limit');
  });

  it('POST /v2/publish answers 403 for a suspended account', async () => {
    face.gateway.publishReply = { type: 'Rejected', reason: 'SUSPENDED', message: 'account is suspended' };
    const answer = await face.post(`/v2/publish/${DESTINATION}`);
    expect([answer.status, answer.json]).to.deep.equal([403, { error: 'account is suspended' }]);
  });

  it('POST /v2/publish, /v2/enqueue and /v2/batch answer 403 for a suspended account without asking its owner', async () => {
    face.state = 'passive';
    for (const path of [`/v2/publish/${DESTINATION}`, `/v2/enqueue/q/${DESTINATION}`, '/v2/batch']) {
      expect((await face.post(path, { body: '[]' })).status, path).to.equal(403);
    }
    expect(face.gateway.published).to.deep.equal([]);
  });

  it('POST /v2/publish names no daily limit when the budget refuses and there is none', async () => {
    const none = { ...daily, limit: 0 };
    face.gateway.publishReply = { type: 'Rejected', reason: 'BUDGET', message: 'quota budget exceeded', daily: none };
    const answer = await face.post(`/v2/publish/${DESTINATION}`);
    expect(answer.status).to.equal(429);
    expect(answer.headers).not.to.have.property('ratelimit-limit');
  });

  it('POST /v2/publish answers 503 with Retry-After when neither owner nor intake answered', async () => {
    face.gateway.publishReply = new MillraceError('SHARD_UNAVAILABLE', 'no owner');
    const answer = await face.post(`/v2/publish/${DESTINATION}`);
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
    expect(answer.json).to.deep.equal({ error: 'the queue is not available right now, nothing was done' });
  });

  it('POST /v2/publish answers 500 to a defect, with an incident id and without its message', async () => {
    face.gateway.publishReply = new Error('secret detail');
    const answer = await face.post(`/v2/publish/${DESTINATION}`);
    expect(answer.status).to.equal(500);
    expect(answer.text).to.match(/^\{"error":"internal error, incident=[a-z0-9]+-1"\}$/);
    expect(JSON.stringify(face.log.lines)).to.include('secret detail');
  });

  it('POST /v2/publish records the address of the peer and ignores X-Forwarded-For', async () => {
    await face.post(`/v2/publish/${DESTINATION}`, { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    expect(face.gateway.lastPublished.callerIp).to.equal('127.0.0.1');
  });
});

describe('edge/queue: publishing through a trusted proxy', () => {
  it('records the client address that the proxy reports', async () => {
    const face = await new QueueEndpointHarness({ trustedProxies: [{ address: '127.0.0.0', prefixBits: 8 }] }).start();
    await face.post('/v2/publish/https://api.example/', {
      headers: { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9' },
    });
    expect(face.gateway.lastPublished.callerIp).to.equal('203.0.113.9');
    await face.stop();
  });
});
