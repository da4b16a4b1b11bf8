/** Proves QC2. */
import { expect } from 'chai';
import type { DlqEntry, Envelope, MessageView } from '../../../src/domain/queue/index.js';
import { PLAIN_ENVELOPE } from '../../support/plain-delivery.js';
import { QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { parse } from '../../support/queue-settings.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://api.example/';

describe('edge/queue: the alias spelling', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const settings = () => {
    const { destination } = face.gateway.lastPublished;
    if (destination.kind !== 'url') throw new Error('published to a group');
    return destination.settings;
  };

  it('is understood in headers, and marks the message', async () => {
    await face.post(`/v2/publish/${URL}`, { headers: { 'Acme-Retries': '5', 'Acme-Label': 'a' } });
    expect(settings()).to.deep.include({ maxRetries: 5, labels: ['a'] });
    expect(face.gateway.lastPublished.isAlias).to.equal(true);
  });

  it('is understood in query keys and in the key of the token, which are removed from the query of the destination', async () => {
    await face.post(`/v2/publish/${URL}?a=1&acme-retries=5&acmeq_token=${QUEUE_TOKEN}`, { token: null });
    expect(face.gateway.lastPublished.destination).to.include({ url: `${URL}?a=1` });
    expect(settings().maxRetries).to.equal(5);
    expect(face.gateway.lastPublished.isAlias).to.equal(true);
  });

  it('is stored in the neutral spelling where a forwarded header has it', async () => {
    await face.post(`/v2/publish/${URL}`, {
      headers: {
        'Acme-Forward-Acme-Run': '1',
        'Acme-Callback': URL,
        'Acme-Callback-Forward-Acme-Step': '2',
        'Acme-Redact-Fields': 'body, header[Acme-Run]',
      },
    });
    expect(settings().header).to.deep.equal([['Svc-Run', '1']]);
    expect(settings().callback?.settings.header).to.deep.include(['Svc-Step', '2']);
    expect(settings().redact?.headers).to.deep.equal(['Svc-Run']);
  });

  it('counts less than the neutral spelling of the same header', async () => {
    await face.post(`/v2/publish/${URL}`, { headers: { 'Acme-Retries': '5', 'Svc-Retries': '2' } });
    expect(settings().maxRetries).to.equal(2);
  });

  it('is used in the errors of a request that uses it', async () => {
    const neutral = await face.post(`/v2/publish/${URL}`, { headers: { 'Svc-Retries': 'x' } });
    const alias = await face.post(`/v2/publish/${URL}`, { headers: { 'Acme-Retries': 'x' } });
    expect((neutral.json as { error: string }).error).to.match(/^svc-retries /);
    expect((alias.json as { error: string }).error).to.match(/^acme-retries /);
  });

  describe('edge/queue: the spelling of errors about headers in a body', () => {
    const OWN = { 'Acme-Telemetry-Sdk': 'x' };
    const NEUTRAL = { 'Svc-Telemetry-Sdk': 'x' };
    const step = { stepId: 1, stepName: 's', stepType: 'Wait', concurrent: 1 };
    const waiting = (name: string) => ({ url: URL, step, timeoutHeaders: { [name]: ['x'] } });
    const RUN = { 'Svc-Workflow-RunId': 'wfr_1' };
    const calls: readonly [place: string, (name: string, headers?: Record<string, string>) => Promise<unknown>][] = [
      [
        'a batch',
        (name, headers = {}) =>
          face.post('/v2/batch', {
            headers,
            body: [{ destination: URL }, { destination: URL, headers: { [name]: 'x' } }],
          }),
      ],
      [
        'a batch of triggers',
        (name, headers = {}) =>
          face.post('/v2/batch/trigger', { headers, body: [{ destination: URL, headers: { [name]: 'x' } }] }),
      ],
      [
        'defaults of a group',
        (name, headers = {}) =>
          face.request('PATCH', '/v2/topics/g', { headers, body: { headers: { [name]: ['x'] } } }),
      ],
      [
        'headers of a timeout',
        (name, headers = {}) => face.post('/v2/wait/e', { headers: { ...RUN, ...headers }, body: waiting(name) }),
      ],
    ];
    for (const [place, ask] of calls) {
      it(`is that of these headers in ${place}`, async () => {
        for (const headers of [{}, OWN, NEUTRAL]) {
          expect(textIn(await ask('acme-retries', headers))).to.match(/^(message \d: )?acme-retries must be/);
          expect(textIn(await ask('Svc-Retries', headers))).to.match(/^(message \d: )?svc-retries must be/);
        }
      });
    }

    it('is that of the request where the body has no headers', async () => {
      const body = [{ destination: URL, callback: 'no url' }];
      expect(textIn(await face.post('/v2/batch', { headers: OWN, body }))).to.match(/^message 0: acme-callback: /);
      expect(textIn(await face.post('/v2/batch', { headers: NEUTRAL, body }))).to.match(/^message 0: svc-callback: /);
      expect(textIn(await face.post('/v2/batch', { body }))).to.match(/^message 0: svc-callback: /);
    });

    it('is the same when the owner of the queue refuses', async () => {
      face.gateway.publishReply = {
        type: 'Rejected',
        reason: 'INVALID',
        message: 'svc-retries must be',
        daily: undefined,
      };
      const body = [{ destination: 'g', headers: { 'Acme-Label': 'a' } }];
      expect(textIn(await face.post('/v2/batch', { body }))).to.equal('acme-retries must be');
    });

    const textIn = (answer: unknown) => (answer as { json: { error: string } }).json.error;
  });

  it('has no effect when no alias is configured', async () => {
    const plain = await new QueueEndpointHarness({ aliases: [] }).start();
    await plain.post(`/v2/publish/${URL}?acme-retries=5`, { headers: { 'Acme-Retries': '5' } });
    expect(plain.gateway.lastPublished.destination).to.include({ url: `${URL}?acme-retries=5` });
    expect(plain.gateway.lastPublished.isAlias).to.equal(false);
    await plain.stop();
  });

  describe('edge/queue: the spelling of records', () => {
    const envelope = (isAlias: boolean): Envelope => ({
      ...PLAIN_ENVELOPE,
      url: URL,
      settings: parse({ 'svc-forward-svc-run': '1', 'content-type': 'text/plain' }).settings,
      callerIp: '',
      isAlias,
    });
    const headerOf = async (isAlias: boolean, headers: Record<string, string> = {}) => {
      const message: MessageView = {
        id: 'msg_1' as never,
        envelope: envelope(isAlias),
        body: { number: 0, bytes: 0 },
        createdAtMs: 1,
        notBeforeMs: 1,
        status: 'waiting',
        retried: 0,
      };
      face.gateway.answer('GetMessage', { type: 'Message', message, content: undefined });
      const answer = await face.get('/v2/messages/msg_1', { headers });
      return Object.keys((answer.json as { header: DlqEntry }).header);
    };

    it('follows the request', async () => {
      expect(await headerOf(false, { 'Acme-Telemetry-Sdk': 'x' })).to.have.members(['Acme-Run', 'Content-Type']);
      expect(await headerOf(true, { 'Svc-Telemetry-Sdk': 'x' })).to.have.members(['Svc-Run', 'Content-Type']);
    });

    it('follows the message where the request has neither spelling', async () => {
      expect(await headerOf(true)).to.have.members(['Acme-Run', 'Content-Type']);
      expect(await headerOf(false)).to.have.members(['Svc-Run', 'Content-Type']);
    });
  });
});
