/** `/v2/destinations`: requests, answers and refusals. */
import { expect } from 'chai';
import type { BreakerView } from '../../../src/domain/queue/index.js';
import { BREAKERS_FORMAT_LEVEL, type MessageId } from '../../../src/kernel/index.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const RULES = { failures: 10, seconds: 60, probeSeconds: 60, disableAfterSeconds: 432_000, messages: 'wait' } as const;
const OPEN: BreakerView = {
  url: 'https://a.example/x',
  state: 'open',
  reason: 'failures',
  failures: 12,
  failingSinceMs: 10,
  changedAtMs: 20,
  nextProbeAtMs: 30,
  probes: 1,
  probe: undefined,
  status: 503,
  error: 'HTTP status 503',
  waiting: 4,
};

describe('edge/queue: destinations', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  it('GET /v2/destinations lists breakers with the rules, and filters by state', async () => {
    const closed = { ...OPEN, url: 'https://b.example/', state: 'closed', nextProbeAtMs: 0 } as const;
    face.gateway.answer('ListBreakers', { type: 'Breakers', rules: RULES, breakers: [OPEN, closed] });
    const { json } = await face.get('/v2/destinations?state=open,disabled');
    expect(json).to.deep.equal({
      destinations: [
        {
          url: 'https://a.example/x',
          state: 'open',
          failures: 12,
          failingSince: 10,
          changedAt: 20,
          nextProbe: 30,
          failedProbes: 1,
          responseStatus: 503,
          error: 'HTTP status 503',
          waiting: 4,
        },
      ],
      rules: RULES,
    });
    face.gateway.answer('ListBreakers', { type: 'Breakers', rules: undefined, breakers: [] });
    expect((await face.get('/v2/destinations')).json).to.deep.equal({ destinations: [] });
    expect((await face.get('/v2/destinations?state=broken')).json).to.deep.equal({ error: 'unknown state broken' });
  });

  it('POST /v2/destinations/rules fills in what is left out, DELETE removes the rules', async () => {
    await face.post('/v2/destinations/rules', { body: { failures: 3, messages: 'dlq' } });
    expect(face.gateway.last('SetBreakerRules').rules).to.deep.equal({ ...RULES, failures: 3, messages: 'dlq' });
    await face.delete('/v2/destinations/rules');
    expect(face.gateway.last('SetBreakerRules').rules).to.equal(undefined);
  });

  for (const [body, error] of [
    [{ failures: 0 }, 'failures: must not be less than 1'],
    [{ seconds: '5' }, 'seconds: must be an integer number'],
    [{ messages: 'drop' }, 'messages: must be one of the following values: wait, dlq'],
    [{ failure: 3 }, 'unknown member failure'],
  ] as const) {
    it(`POST /v2/destinations/rules refuses ${JSON.stringify(body)} with the name of the member`, async () => {
      const { status, json } = await face.post('/v2/destinations/rules', { body });
      expect([status, json]).to.deep.equal([400, { error }]);
    });
  }

  it('POST /v2/destinations/rules is refused below its format level, and with a read-only token', async () => {
    face.formatLevel = BREAKERS_FORMAT_LEVEL - 1;
    const { json } = await face.post('/v2/destinations/rules', { body: {} });
    expect(json).to.deep.equal({ error: 'breakers need format level 6: run millrace cluster upgrade' });
    const refused = await face.request('POST', '/v2/destinations/rules', { body: {}, token: QUEUE_READ_ONLY_TOKEN });
    expect(refused.status).to.equal(403);
  });

  it('POST /v2/destinations/enable retries the DLQ entries of host and path', async () => {
    const results = [{ messageId: 'm' as MessageId, url: 'https://a.example/x', isDuplicate: false }];
    face.gateway.answer('RetryDlq', { type: 'DlqRetried', results, after: undefined });
    const body = { url: 'https://a.example/x?with=query', retry: true };
    expect((await face.post('/v2/destinations/enable', { body })).json).to.deep.equal({ retried: 1 });
    expect(face.gateway.last('SetBreaker')).to.include({ url: 'https://a.example/x?with=query', isDisabled: false });
    const { selector } = face.gateway.last('RetryDlq');
    expect(selector).to.have.nested.property('filter.host').deep.equal(['a.example:443']);
    expect(selector).to.have.nested.property('filter.path').deep.equal(['/x']);
    const wrong = await face.post('/v2/destinations/disable', { body: { url: 'ftp://a' } });
    expect(wrong.status).to.equal(400);
  });
});
