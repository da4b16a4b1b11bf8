import { expect } from 'chai';
import type { DlqEntry, Envelope, MessageView } from '../../../src/domain/queue/index.js';
import { QUEUE_TOKEN, QueueFaceHarness } from '../../support/queue-face.js';
import { parse } from '../../support/queue-settings.js';

const URL = 'https://api.example/';

describe('edge/queue: the other spelling', () => {
  let face: QueueFaceHarness;
  beforeEach(async () => {
    face = await new QueueFaceHarness().start();
  });
  afterEach(() => face.stop());

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

  it('is understood in query keys and in the token’s key, which leave the destination’s query', async () => {
    await face.post(`/v2/publish/${URL}?a=1&acme-retries=5&acmeq_token=${QUEUE_TOKEN}`, { token: null });
    expect(face.gateway.lastPublished.destination).to.include({ url: `${URL}?a=1` });
    expect(settings().maxRetries).to.equal(5);
    expect(face.gateway.lastPublished.isAlias).to.equal(true);
  });

  it('is kept in neutral words where a header of it is passed on', async () => {
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

  it('counts less than the neutral one for the same header', async () => {
    await face.post(`/v2/publish/${URL}`, { headers: { 'Acme-Retries': '5', 'Svc-Retries': '2' } });
    expect(settings().maxRetries).to.equal(2);
  });

  it('is what errors are worded in for whoever uses it', async () => {
    const neutral = await face.post(`/v2/publish/${URL}`, { headers: { 'Svc-Retries': 'x' } });
    const alias = await face.post(`/v2/publish/${URL}`, { headers: { 'Acme-Retries': 'x' } });
    expect((neutral.json as { error: string }).error).to.match(/^svc-retries /);
    expect((alias.json as { error: string }).error).to.match(/^acme-retries /);
  });

  it('means nothing when no alias is set', async () => {
    const plain = await new QueueFaceHarness({ aliases: [] }).start();
    await plain.post(`/v2/publish/${URL}?acme-retries=5`, { headers: { 'Acme-Retries': '5' } });
    expect(plain.gateway.lastPublished.destination).to.include({ url: `${URL}?acme-retries=5` });
    expect(plain.gateway.lastPublished.isAlias).to.equal(false);
    await plain.stop();
  });

  describe('in records', () => {
    const envelope = (isAlias: boolean): Envelope => ({
      url: URL,
      settings: parse({ 'svc-forward-svc-run': '1', 'content-type': 'text/plain' }).settings,
      queueName: undefined,
      scheduleId: undefined,
      topicName: undefined,
      endpointName: undefined,
      callerIp: '',
      isAlias,
      callbackOf: undefined,
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

    it('follows the message where the request shows neither', async () => {
      expect(await headerOf(true)).to.have.members(['Acme-Run', 'Content-Type']);
      expect(await headerOf(false)).to.have.members(['Svc-Run', 'Content-Type']);
    });
  });
});
