import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://app.example/flow';
const CREATED = 1_700_000_000_000;

describe('edge/queue: POST /v2/trigger', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const item = () => {
    const { destination, ...rest } = face.gateway.lastPublished;
    if (destination.kind !== 'url') throw new Error('published to a group');
    return { ...rest, url: destination.url, settings: destination.settings };
  };
  const started = (...runIds: string[]): QueueReply => ({
    type: 'Published',
    results: runIds.map((runId, at) => ({
      messageId: 'msg_1' as never,
      url: URL,
      isDuplicate: at > 0,
      run: { runId: runId as never, createdAtMs: CREATED },
    })),
    daily: undefined,
  });

  it('starts a run with a new id and the headers that a client would send', async () => {
    const answer = await face.post(`/v2/trigger/${URL}?a=b`, { body: 'payload' });
    const { workflow, settings, url, body } = item();
    expect(url).to.equal(`${URL}?a=b`);
    expect(body.toString()).to.equal('payload');
    if (workflow?.kind !== 'trigger') throw new Error('no trigger');
    expect(workflow.runId).to.match(/^wfr_[A-Za-z0-9_-]{21}$/);
    expect(workflow).to.deep.include({
      mark: { detectsTrigger: false, needsRecentClient: true, canFetch: true, isConfiguredByTrigger: true },
      isByEndpoint: false,
      invoker: undefined,
      depth: 0,
    });
    expect(settings.header).to.have.deep.members([
      ['Content-Type', 'application/json'],
      ['Svc-Workflow-Sdk-Version', '1'],
    ]);
    expect(settings.failureCallback?.url).to.equal(`${URL}?a=b`);
    expect(settings.failureCallback?.settings.header).to.deep.include.members([
      ['Svc-Workflow-Is-Failure', 'true'],
      ['Svc-Workflow-Failure-Callback', 'true'],
    ]);
    expect(answer.json).to.deep.equal({ workflowRunId: workflow.runId });
  });

  it('answers with the id of the run', async () => {
    face.gateway.publishReply = started('wfr_1');
    const answer = await face.post(`/v2/trigger/${URL}`, { headers: { 'Svc-Workflow-RunId': 'wfr_1' } });
    expect([answer.status, answer.json]).to.deep.equal([200, { workflowRunId: 'wfr_1', workflowCreatedAt: CREATED }]);
    expect(item().workflow).to.include({ runId: 'wfr_1' });
  });

  it('accepts the options of a message, and passes its headers to the failure function', async () => {
    await face.post(`/v2/trigger/${URL}?svc-forward-x-query=2`, {
      headers: {
        'Acme-Forward-X-User': 'me',
        'Acme-Label': 'one',
        'Acme-Retries': '7',
        'Acme-Delay': '1m',
        'Content-Type': 'text/plain',
        'Acme-Flow-Control-Key': 'k',
        'Acme-Flow-Control-Value': 'parallelism=1',
      },
    });
    const { settings, isAlias, url } = item();
    expect(isAlias).to.equal(true);
    expect(url).to.equal(URL);
    expect(settings).to.deep.include({ maxRetries: 7, delaySeconds: 60, labels: ['one'] });
    expect(settings.flowControl).to.include({ key: 'k' });
    const own = [
      ['X-User', 'me'],
      ['X-Query', '2'],
      ['Svc-Label', 'one'],
    ];
    expect(settings.header).to.deep.include.members([...own, ['Content-Type', 'text/plain']]);
    expect(settings.failureCallback?.settings.header).to.deep.include.members(own);
    expect(settings.failureCallback?.settings.maxRetries).to.equal(7);
  });

  it('keeps the options of the failure function from the call', async () => {
    const failure = 'https://other.example/';
    await face.post(`/v2/trigger/${URL}`, {
      headers: {
        'Svc-Failure-Callback': failure,
        'Svc-Failure-Callback-Retries': '1',
        'Svc-Failure-Callback-Forward-X-User': 'other',
        'Svc-Forward-X-User': 'me',
      },
    });
    const { failureCallback } = item().settings;
    expect(failureCallback?.url).to.equal(failure);
    expect(failureCallback?.settings.maxRetries).to.equal(1);
    expect(failureCallback?.settings.header).to.deep.include(['X-User', 'other']);
    expect(failureCallback?.settings.header).not.to.deep.include(['X-User', 'me']);
  });

  it('passes Svc-Workflow-Unknown-Sdk to the endpoint, so that the endpoint triggers the run itself', async () => {
    await face.post(`/v2/trigger/${URL}`, { headers: { 'Svc-Workflow-Unknown-Sdk': 'true' } });
    expect(item().settings.header).to.deep.include(['Svc-Workflow-Unknown-Sdk', 'true']);
    expect(item().settings.failureCallback?.settings.header).not.to.deep.include(['Svc-Workflow-Unknown-Sdk', 'true']);
  });

  it('starts several runs with POST /v2/batch/trigger', async () => {
    face.gateway.publishReply = started('wfr_1', 'wfr_2');
    const answer = await face.post('/v2/batch/trigger', {
      body: [
        { destination: URL, headers: { 'acme-workflow-runid': 'wfr_1', 'acme-retries': '1' }, body: 'one' },
        { destination: `${URL}?two`, body: 'two' },
      ],
    });
    expect(answer.status).to.equal(201);
    expect(answer.json).to.deep.equal([
      { workflowRunId: 'wfr_1', workflowCreatedAt: CREATED },
      { workflowRunId: 'wfr_2', workflowCreatedAt: CREATED, deduplicated: true },
    ]);
    expect(face.gateway.published.map(({ isAlias, body }) => [isAlias, body.toString()])).to.deep.equal([
      [true, 'one'],
      [false, 'two'],
    ]);
    expect(item().workflow).to.deep.include({ kind: 'trigger' });
    expect(item().url).to.equal(`${URL}?two`);
  });

  it('answers no run id when the owner returns none', async () => {
    const results = [{ messageId: 'msg_1' as never, url: URL, isDuplicate: true }];
    face.gateway.publishReply = { type: 'Published', results, daily: undefined };
    const answer = await face.post(`/v2/trigger/${URL}`, { headers: { 'Svc-Deduplication-Id': 'd' } });
    expect(answer.json).to.deep.equal({ deduplicated: true });
  });

  for (const runId of ['a,b', 'a/b', 'a\\b', 'a?b', 'a#b', 'a%2Fb', '.', '..']) {
    it(`refuses the run id ${JSON.stringify(runId)}, which later calls could not name`, async () => {
      const answer = await face.post(`/v2/trigger/${URL}`, { headers: { 'Svc-Workflow-RunId': runId } });
      expect(answer.status).to.equal(400);
      expect(answer.text).to.match(/"the workflow run id (has|is) /);
      expect(face.gateway.published).to.deep.equal([]);
    });
  }

  it('answers errors with the status codes of POST /v2/publish', async () => {
    const long = { 'Svc-Workflow-RunId': 'x'.repeat(300) };
    const refused: readonly (readonly [number, string, Parameters<QueueEndpointHarness['post']>[1]])[] = [
      [400, '/v2/trigger/group', {}],
      [400, '/v2/trigger/ftp://x.example/', {}],
      [400, '/v2/trigger/https://forbidden.example/', {}],
      [400, `/v2/trigger/${URL}`, { headers: { 'Svc-Retries': 'x' } }],
      [400, `/v2/trigger/${URL}`, { headers: long }],
      [412, `/v2/trigger/${URL}`, { headers: { 'Svc-Retries': '21' } }],
      [413, `/v2/trigger/${URL}`, { body: 'x'.repeat(face.limits.maxMessageBytes + 1) }],
      [403, `/v2/trigger/${URL}`, { token: QUEUE_READ_ONLY_TOKEN }],
      [403, '/v2/batch/trigger', { token: QUEUE_READ_ONLY_TOKEN, body: [] }],
      [401, `/v2/trigger/${URL}`, { token: null }],
      [404, '/v2/trigger/', {}],
      [400, '/v2/batch/trigger', { body: 'x' }],
      [400, '/v2/batch/trigger', { body: [] }],
      [400, '/v2/batch/trigger', { body: [{ destination: URL, headers: long }] }],
      [400, '/v2/batch/trigger', { body: [{ destination: 'group' }] }],
      [412, '/v2/batch/trigger', { body: [{ destination: URL, headers: { 'svc-retries': '21' } }] }],
    ];
    for (const [status, path, options] of refused) {
      const answer = await face.post(path, options);
      expect(answer.status, `${path} ${answer.text}`).to.equal(status);
      expect(answer.json).to.have.all.keys('error');
    }
    expect(face.gateway.published).to.deep.equal([]);
    face.state = 'passive';
    expect((await face.post(`/v2/trigger/${URL}`)).status).to.equal(403);
    expect((await face.get(`/v2/trigger/${URL}`)).status).to.equal(405);
    expect((await face.get('/v2/batch/trigger')).status).to.equal(405);
  });
});
