import { expect } from 'chai';
import { QUEUE_USER, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const HOOK = `/v2/workflows/hooks/${QUEUE_USER}/wfr_1/evt_1`;

interface HookEvent {
  readonly method: string;
  readonly header: Record<string, string[]>;
  readonly body?: string;
  readonly proto: string;
  readonly host: string;
  readonly url: string;
}

describe('edge/queue: webhooks of workflows', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());
  beforeEach(async () => {
    face.gateway.answer('Notify', { type: 'Notified', notified: [] });
  });

  const event = () => JSON.parse(Buffer.from(face.gateway.last('Notify').content).toString()) as HookEvent;
  const call = (path = HOOK, method = 'POST', options: Parameters<QueueEndpointHarness['request']>[2] = {}) =>
    face.request(method, path, { token: null, ...options });

  it('are called without a token, and notify the run', async () => {
    const answer = await call(`${HOOK}?a=b%20c`, 'POST', {
      headers: { 'X-Hub-Signature': 's', 'content-type': 'text/plain', 'X-Twice': ['1', '2'] },
      body: Buffer.from([0, 255]),
    });
    expect([answer.status, answer.json]).to.deep.equal([200, {}]);
    expect(face.gateway.last('Notify')).to.deep.include({ runId: 'wfr_1', eventId: 'evt_1', isHook: true });
    const { header, ...rest } = event();
    expect(rest).to.deep.equal({
      method: 'POST',
      body: 'AP8=',
      proto: 'http',
      host: `127.0.0.1:${face.port}`,
      url: `${HOOK}?a=b%20c`,
    });
    expect(header).to.deep.include({
      'X-Hub-Signature': ['s'],
      'Content-Type': ['text/plain'],
      'X-Twice': ['1', '2'],
    });
  });

  it('record the caller’s headers, also Authorization, and ignore tokens', async () => {
    await call(`${HOOK}?msgq_token=x`, 'POST', { headers: { authorization: 'Basic abc', 'Acme-Retries': 'x' } });
    expect(event().header).to.deep.include({ Authorization: ['Basic abc'], 'Acme-Retries': ['x'] });
    expect(event().url).to.equal(`${HOOK}?msgq_token=x`);
  });

  it('accept any method', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND']) {
      expect((await call(HOOK, method)).status, method).to.equal(200);
      expect(event().method).to.equal(method);
      expect(event()).not.to.have.property('body');
    }
    const trace = await call(HOOK, 'TRACE');
    expect([trace.status, String(trace.headers.allow)]).to.deep.equal([
      405,
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    ]);
  });

  it('record the call so that it can be repeated', async () => {
    await call(`${HOOK}?a=b`, 'POST', { body: 'hello' });
    const { proto, host, url, method, header, body = '' } = event();
    const headers = header as unknown as Record<string, string>;
    const request = new Request(`${proto}://${host}${url}`, { method, headers, body: Buffer.from(body, 'base64') });
    expect(request.url).to.equal(`${face.url}${HOOK}?a=b`);
    expect(await request.text()).to.equal('hello');
  });

  it('trust forwarded headers of known proxies only', async () => {
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'hooks.example:8443, inner' };
    await call(HOOK, 'POST', { headers });
    expect(event()).to.include({ proto: 'http', host: `127.0.0.1:${face.port}` });
    const behind = await new QueueEndpointHarness({
      trustedProxies: [{ address: '127.0.0.1', prefixBits: 32 }],
    }).start();
    behind.gateway.answer('Notify', { type: 'Notified', notified: [] });
    const seen = () => JSON.parse(Buffer.from(behind.gateway.last('Notify').content).toString()) as HookEvent;
    try {
      await behind.post(HOOK, { token: null, headers });
      expect(seen()).to.include({ proto: 'https', host: 'hooks.example:8443' });
      await behind.post(HOOK, { token: null, headers: { 'X-Forwarded-Proto': 'gopher' } });
      expect(seen()).to.include({ proto: 'http', host: `127.0.0.1:${behind.port}` });
    } finally {
      await behind.stop();
    }
  });

  it('record the public URL of the endpoint where it is configured', async () => {
    const publicUrl = 'https://queue.example:8443/base/';
    const named = await new QueueEndpointHarness({ publicUrl }).start();
    named.gateway.answer('Notify', { type: 'Notified', notified: [] });
    try {
      await named.post(`${HOOK}?a=b`, { token: null });
      const { proto, host, url } = JSON.parse(
        Buffer.from(named.gateway.last('Notify').content).toString(),
      ) as HookEvent;
      expect(`${proto}://${host}${url}`).to.equal(`https://queue.example:8443/base${HOOK}?a=b`);
    } finally {
      await named.stop();
    }
  });

  it('accept names with any characters', async () => {
    await call(`/v2/workflows/hooks/${QUEUE_USER}/wfr_a%20b/evt%2F1/more`);
    expect(face.gateway.last('Notify')).to.include({ runId: 'wfr_a b', eventId: 'evt/1/more' });
  });

  it('answer 404 for an unknown account, run or event', async () => {
    for (const path of [
      '/v2/workflows/hooks/nobody/wfr_1/evt_1',
      `/v2/workflows/hooks/${QUEUE_USER}/wfr_1`,
      `/v2/workflows/hooks/${QUEUE_USER}/wfr_1/`,
      `/v2/workflows/hooks/${QUEUE_USER}//evt_1`,
      '/v2/workflows/hooks/',
    ]) {
      const answer = await call(path);
      expect([answer.status, answer.json], path).to.deep.equal([404, { error: 'no such webhook' }]);
    }
    face.gateway.answer('Notify', { type: 'Rejected', reason: 'NOT_FOUND', message: 'workflowRun wfr_1 not found' });
    const over = await call();
    expect([over.status, over.json]).to.deep.equal([404, { error: 'workflowRun wfr_1 not found' }]);
  });

  it('are refused for a suspended account, a too large body, and too many calls in a second', async () => {
    expect((await call(HOOK, 'POST', { body: 'x'.repeat(face.limits.maxMessageBytes + 1) })).status).to.equal(413);
    expect((await call(`/v2/workflows/hooks/${QUEUE_USER}/wfr_1/${'x'.repeat(1100)}`)).status).to.equal(400);
    expect((await call(HOOK, 'POST', { headers: { Host: 'a/b' } })).status).to.equal(400);
    face.limits = { ...face.limits, maxRequestsPerSecond: 1 };
    expect((await call()).status).to.equal(200);
    const many = await call();
    expect([many.status, many.headers['burst-ratelimit-limit']]).to.deep.equal([429, '1']);
    face.state = 'passive';
    expect((await call()).status).to.equal(403);
    face.isControlStale = true;
    expect((await call()).status).to.equal(503);
  });

  it('answer an error when the event was not stored', async () => {
    face.gateway.answer('Notify', new Error('boom'));
    expect((await call()).status).to.equal(500);
    face.gateway.answer('Notify', { type: 'Rejected', reason: 'TOO_MANY', message: 'quota maxStoredEvents exceeded' });
    expect((await call()).status).to.equal(412);
  });
});
