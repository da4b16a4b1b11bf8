/** Headers of calls: how their bytes are read, and which are forwarded. Proves CWO1, PLC5. */
import { expect } from 'chai';
import type { HeaderList } from '../../../src/domain/queue/index.js';
import { PLAIN_ENVELOPE } from '../../support/plain-delivery.js';
import { QUEUE_READ_ONLY_TOKEN, QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { rawExchange } from '../../support/raw-exchange.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const DESTINATION = 'https://api.example/hook';
const AUTH = `Host: x\r\nAuthorization: Bearer ${QUEUE_TOKEN}\r\n`;
/** A header that no plain request has: Node's server answers. */
const NODES = 'TE: trailers\r\n';
/** A text in the UTF-8 bytes of a client. */
const utf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

describe('edge/queue: text in headers', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const settings = () => {
    const { destination } = face.gateway.lastPublished;
    if (destination.kind !== 'url') throw new Error('published to a group');
    return destination.settings;
  };
  const sent = (name: string) => settings().header.filter(([given]) => given === name);
  const refusalOf = async (path: string, headers: Record<string, string>, body?: object) => {
    const { status, json } = await face.post(path, body === undefined ? { headers } : { headers, body });
    return { status, error: (json as { error?: string }).error ?? '' };
  };

  const options = {
    'svc-label': 'grün, à',
    'svc-flow-control-key': 'größe-日本',
    'svc-flow-control-value': 'parallelism=1',
    'svc-callback': 'https://api.example/é',
    'svc-forward-x-name': 'Zoë 日本',
  };
  const ways: readonly [string, () => Promise<unknown>][] = [
    [
      'headers',
      () =>
        face.post(`/v2/publish/${DESTINATION}`, {
          headers: Object.fromEntries(Object.entries(options).map(([name, value]) => [name, utf8(value)])),
        }),
    ],
    ['query keys', () => face.post(`/v2/publish/${DESTINATION}?${new URLSearchParams(options)}`)],
    ['a batch', () => face.post('/v2/batch', { body: [{ destination: DESTINATION, headers: options }] })],
  ];
  for (const [way, publish] of ways) {
    it(`POST /v2/publish understands UTF-8 in options that come as ${way}`, async () => {
      await publish();
      const { labels, flowControl, callback } = settings();
      expect(labels).to.deep.equal(['grün', 'à']);
      expect(flowControl?.key).to.equal('größe-日本');
      expect(callback?.url).to.match(/^https:\/\/api\.example\/(?:é|%C3%A9)$/);
      expect(sent('X-Name')).to.deep.equal([['X-Name', utf8('Zoë 日本')]]);
    });
  }

  it('POST /v2/publish reads bytes that are no UTF-8 as Latin-1, and forwards them unchanged', async () => {
    await face.post(`/v2/publish/${DESTINATION}`, { headers: { 'Svc-Label': 'gr\xfcn', 'Svc-Forward-X': 'gr\xfcn' } });
    expect(settings().labels).to.deep.equal(['grün']);
    expect(sent('X')).to.deep.equal([['X', 'gr\xfcn']]);
    await face.post(`/v2/publish/${DESTINATION}?svc-label=gr%FCn&svc-forward-x=gr%FCn`);
    expect(settings().labels).to.deep.equal(['grün']);
    expect(sent('X')).to.deep.equal([['X', 'gr\xfcn']]);
  });

  it('POST /v2/batch during a run leaves forwarded headers as the endpoint sent them', async () => {
    const headers = {
      'Svc-Workflow-Init': 'false',
      'Svc-Workflow-RunId': 'wfr_1',
      'Svc-Workflow-Url': DESTINATION,
      'Svc-Workflow-Sdk-Version': '1',
      'Svc-Forward-X-Name': utf8('Zoë'),
      'Svc-Label': utf8('grün'),
    };
    const body = JSON.stringify({ stepId: 1, stepName: 's', stepType: 'Run', concurrent: 1 });
    await face.post('/v2/batch', { body: [{ destination: DESTINATION, headers, body }] });
    expect(sent('X-Name')).to.deep.equal([['X-Name', utf8('Zoë')]]);
    expect(settings().labels).to.deep.equal(['grün']);
  });

  it('GET /v2/messages/:id shows forwarded headers as texts', async () => {
    await face.post(`/v2/publish/${DESTINATION}`, {
      headers: { 'Svc-Forward-X': utf8('日本'), 'Svc-Forward-Y': '\xe9' },
    });
    const { destination, ...of } = face.gateway.lastPublished;
    const envelope = {
      ...PLAIN_ENVELOPE,
      url: DESTINATION,
      settings: settings(),
      callerIp: of.callerIp,
    };
    const message = {
      id: of.id,
      envelope,
      body: { number: 0, bytes: 0 },
      createdAtMs: 1,
      notBeforeMs: 1,
      status: 'waiting',
      retried: 0,
    } as const;
    face.gateway.answer('GetMessage', { type: 'Message', message, content: undefined });
    const { json } = await face.get(`/v2/messages/${of.id}`);
    expect(json).to.deep.include({ header: { X: ['日本'], Y: ['é'] } });
  });

  const targets: readonly [string, string, () => unknown, unknown][] = [
    ['the destination', `/v2/publish/${DESTINATION}/é?q=日`, () => face.gateway.lastPublished.destination, undefined],
    ['an option', `/v2/publish/${DESTINATION}?svc-label=grün`, () => settings().labels, ['grün']],
  ];
  for (const road of ['', NODES]) {
    const by = road === '' ? 'without' : 'by';
    for (const [part, target, seen, wanted] of targets) {
      it(`POST /v2/publish treats UTF-8 in the target as percent-encoding: ${part}, ${by} Node's server`, async () => {
        const request = (path: string, last: string) =>
          `POST ${path} HTTP/1.1\r\n${AUTH}${road}${last}Content-Length: 0\r\n\r\n`;
        const heard = await rawExchange(face.port, request(utf8(target), 'Connection: close\r\n'));
        expect(heard).to.match(/^HTTP\/1\.1 200 /);
        const found = seen();
        await rawExchange(face.port, request(encodeURI(target), 'Connection: close\r\n'));
        expect(found).to.deep.equal(seen());
        if (wanted !== undefined) expect(found).to.deep.equal(wanted);
      });
    }
  }

  const forwarded = { 'Svc-Header-Forward': 'true', 'X-Event': 'push' };
  it('POST /v2/publish with its token in the query forwards the Authorization header, which is another one', async () => {
    const byQuery = (authorization: string) =>
      face.post(`/v2/publish/${DESTINATION}?msgq_token=${QUEUE_TOKEN}`, {
        token: null,
        headers: { ...forwarded, Authorization: authorization },
      });
    for (const another of ['Bearer theirs', 'Basic dXNlcjpwYXNz']) {
      await byQuery(another);
      expect(sent('Authorization')).to.deep.equal([['Authorization', another]]);
    }
    for (const ours of [QUEUE_TOKEN, QUEUE_READ_ONLY_TOKEN]) {
      await byQuery(`Bearer ${ours}`);
      expect(sent('Authorization')).to.deep.equal([]);
      expect(sent('X-Event')).to.have.lengthOf(1);
    }
    await face.post(`/v2/publish/${DESTINATION}`, { headers: forwarded });
    expect(sent('Authorization')).to.deep.equal([]);
  });

  it('POST /v2/publish forwards Content-Encoding with Content-Type', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    const kept: HeaderList = [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'gzip'],
    ];
    await face.post(`/v2/publish/${DESTINATION}`, { headers, body: Buffer.from([31, 139]) });
    expect(settings().header).to.deep.equal(kept);
    await face.post('/v2/batch', { body: [{ destination: DESTINATION, headers }] });
    expect(settings().header).to.deep.equal(kept);
  });

  it('POST /v2/trigger refuses a payload with Content-Encoding, which its list of entries cannot express', async () => {
    const { status, error } = await refusalOf(`/v2/trigger/${DESTINATION}`, { 'Content-Encoding': 'gzip' });
    expect(status).to.equal(400);
    expect(error).to.contain('content-encoding');
  });

  const meaningless: readonly [string, Record<string, string>, string][] = [
    [
      'a cron expression',
      { 'Svc-Cron': '* * * * *' },
      'svc-cron is no option of a message: a timetable is given to POST',
    ],
    ['a schedule id', { 'Svc-Schedule-Id': 's' }, 'svc-schedule-id is no option of a message'],
    ['a queue', { 'Svc-Queue-Name': 'q' }, 'svc-queue-name is no option of a message: a queue is named in the path'],
    [
      'an instant for a callback',
      { 'Svc-Callback': DESTINATION, 'Svc-Callback-Not-Before': '1790000000' },
      'svc-callback-not-before is no option of a callback',
    ],
    [
      'options that a callback does not have',
      { 'Svc-Callback-Retries': '1' },
      'svc-callback-… configures a callback that the call does not have: give its URL as svc-callback',
    ],
  ];
  for (const [part, headers, text] of meaningless) {
    it(`POST /v2/publish and POST /v2/batch refuse ${part}, which would have no effect`, async () => {
      const published = await refusalOf(`/v2/publish/${DESTINATION}`, headers);
      expect(published.status).to.equal(400);
      expect(published.error).to.contain(text);
      const batch = await face.post('/v2/batch', { body: [{ destination: DESTINATION, headers }] });
      expect(batch.status).to.equal(400);
      expect((batch.json as { error: string }).error).to.contain(text);
    });
  }

  it('POST /v2/schedules refuses Svc-Not-Before and deduplication', async () => {
    for (const name of ['Svc-Not-Before', 'Svc-Deduplication-Id', 'Svc-Content-Based-Deduplication']) {
      const value = name === 'Svc-Not-Before' ? '1790000000' : 'true';
      const { status, error } = await refusalOf(`/v2/schedules/${DESTINATION}`, {
        'Svc-Cron': '* * * * *',
        [name]: value,
      });
      expect(status).to.equal(400);
      expect(error).to.equal(`${name.toLowerCase()} is no option of a schedule`);
    }
  });

  it('POST /v2/dlq/retry and POST /v2/workflows/dlq/resume refuse options without effect', async () => {
    const retried = await refusalOf('/v2/dlq/retry/1-1', { 'Svc-Deduplication-Id': 'd' });
    expect(retried).to.deep.equal({ status: 400, error: 'svc-deduplication-id is no option of a retry' });
    const resumed = await refusalOf('/v2/workflows/dlq/resume/1-1', { 'Svc-Forward-X': '1' });
    expect(resumed).to.deep.equal({
      status: 400,
      error: 'svc-forward-x is not an option of resume and restart',
    });
  });
});
