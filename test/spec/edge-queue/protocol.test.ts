import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

describe('edge/queue: protocol', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  it('answers 404 as JSON to an unknown path', async () => {
    for (const path of ['/', '/v2', '/v2/nothing', '/v1/publish/x', '/v2/workflows']) {
      const answer = await face.get(path);
      expect([answer.status, answer.json], path).to.deep.equal([404, { error: 'no such route' }]);
    }
  });

  it('answers 405 as JSON with the methods of the route', async () => {
    const answer = await face.request('PUT', '/v2/queues/q');
    expect(answer.status).to.equal(405);
    expect(answer.json).to.deep.equal({ error: 'method is not allowed' });
    expect(String(answer.headers.allow).split(', ')).to.have.members(['GET', 'HEAD', 'DELETE']);
  });

  it('answers 404 to calls of language models, with an error that says they are not available', async () => {
    const answer = await face.post('/llm/v1/chat/completions', { body: { model: 'x' } });
    expect(answer.status).to.equal(404);
    expect((answer.json as { error: string }).error).to.match(/not available/);
  });

  it('answers 401 to calls without a valid token, on every route', async () => {
    for (const path of ['/v2/queues', '/v2/keys', '/v2/dlq', '/v2/nothing']) {
      expect((await face.get(path, { token: null })).status, path).to.equal(401);
    }
  });

  it('answers 503 while the control state is not loaded', async () => {
    face.isControlStale = true;
    const answer = await face.get('/v2/queues');
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
  });

  it('answers 413 to JSON above its size bound, and 400 above its depth bound', async () => {
    const small = await new QueueEndpointHarness({ limits: { maxJsonBytes: 1000 } }).start();
    const body = (bytes: number) => JSON.stringify({ queueName: 'a', x: '' }).replace('""', `"${'x'.repeat(bytes)}"`);
    const overhead = body(0).length;
    expect((await small.post('/v2/queues', { body: body(1000 - overhead) })).status).to.equal(200);
    expect((await small.post('/v2/queues', { body: body(1001 - overhead) })).status).to.equal(413);
    await small.stop();
    const nested = (depth: number) => `{"queueName":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect((await face.post('/v2/queues', { body: nested(63) })).status).to.equal(200);
    expect((await face.post('/v2/queues', { body: nested(64) })).json).to.deep.equal({
      error: 'the body is nested deeper than 64 levels',
    });
  });

  describe('burst limit', () => {
    beforeEach(() => {
      face.limits = { ...face.limits, maxRequestsPerSecond: 2 };
    });

    it('answers 429 to the first call above it, with its own rate-limit headers', async () => {
      face.gateway.answer('ListQueues', { type: 'Queues', queues: [] });
      const beganMs = Date.now();
      const statuses: number[] = [];
      let refused = await face.get('/v2/queues');
      for (let call = 0; call < 20 && refused.status !== 429; call += 1) {
        statuses.push(refused.status);
        refused = await face.get('/v2/queues');
      }
      expect(statuses.length).to.be.at.least(2);
      expect(refused.status).to.equal(429);
      expect(refused.headers).to.include({ 'burst-ratelimit-limit': '2', 'burst-ratelimit-remaining': '0' });
      expect(Number(refused.headers['burst-ratelimit-reset'])).to.be.within(beganMs / 1000, Date.now() / 1000 + 2);
      expect(refused.headers).not.to.have.property('ratelimit-limit');
    });

    it('does not count publishes, enqueues and batches', async () => {
      for (let call = 0; call < 10; call += 1) {
        expect((await face.post('/v2/publish/https://a.example')).status).to.equal(200);
        expect((await face.post('/v2/enqueue/q/https://a.example')).status).to.equal(200);
        expect((await face.post('/v2/batch', { body: [{ destination: 'https://a.example' }] })).status).to.equal(200);
      }
    });
  });

  it('closes connections after their answer while it drains', async () => {
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      face.gateway.publish = () => {
        resolve();
        return new Promise((reply) => {
          answer = () => reply({ type: 'Rejected', reason: 'INVALID', message: 'late' });
        });
      };
    });
    const late = face.post('/v2/publish/https://a.example');
    await asked;
    const closing = face.server.close();
    await eventually(async () => {
      const refused = await face.get('/v2/queues').catch((error: NodeJS.ErrnoException) => error.code);
      expect(refused).to.equal('ECONNREFUSED');
    });
    answer();
    expect((await late).headers.connection).to.equal('close');
    await closing;
  });
});
