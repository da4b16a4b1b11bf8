import { expect } from 'chai';
import type { WaiterView } from '../../../src/domain/queue/runs/index.js';
import type { RunId } from '../../../src/kernel/index.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://app.example/flow';
const STEP = { stepId: 2, stepName: 'hold', stepType: 'Wait', concurrent: 1 };
const HEADERS = {
  'Svc-Workflow-RunId': 'wfr_1',
  'Svc-Workflow-Init': 'false',
  'Svc-Feature-Set': 'LazyFetch,WF_TriggerOnConfig',
  'Svc-Forward-Svc-Workflow-Sdk-Version': '1',
  'Content-Type': 'application/json',
};
const LATE = 'https://app.example/late';

describe('edge/queue: waits and events', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const waiter = (isAlias: boolean): WaiterView => ({
    runId: 'wfr_1' as never,
    runCreatedAtMs: 1_700_000_000_000,
    url: URL,
    headers: [
      ['svc-forward-svc-workflow-sdk-version', '1'],
      ['svc-workflow-runid', 'wfr_1'],
      ['content-type', 'application/json'],
    ],
    deadlineMs: 1_700_000_000_500,
    timeoutUrl: LATE,
    timeoutBody: undefined,
    timeoutHeaders: [['svc-retries', '1']],
    isAlias,
  });
  const record = (word: string) => ({
    url: URL,
    headers: {
      [`${word}-Forward-${word}-Workflow-Sdk-Version`]: ['1'],
      [`${word}-Workflow-Runid`]: ['wfr_1'],
      'Content-Type': ['application/json'],
    },
    deadline: 1_700_000_001,
    timeoutUrl: LATE,
    timeoutHeaders: { [`${word}-Retries`]: ['1'] },
  });

  describe('POST /v2/wait', () => {
    const wait = (body: string | object, headers: Record<string, string> = HEADERS, path = '/v2/wait/my%20event') =>
      face.post(path, { headers, body });

    it('stores the wait with its step and with the delivery of its end', async () => {
      const answer = await wait({
        url: URL,
        timeout: '1h30m',
        timeoutUrl: LATE,
        timeoutBody: 'late',
        timeoutHeaders: { 'Acme-Forward-Acme-Workflow-Sdk-Version': ['1'], 'Acme-Retries': ['3', '3'] },
        step: STEP,
      });
      expect(answer.status, answer.text).to.equal(200);
      const command = face.gateway.last('Wait');
      expect(command).to.deep.include({
        runId: 'wfr_1',
        eventId: 'my event',
        timeoutText: '1h30m',
        timeoutSeconds: 5400,
        timeoutBody: 'late',
        stepText: JSON.stringify(STEP),
        step: { stepId: 2, targetStep: 0, concurrent: 1, stepName: 'hold', stepType: 'Wait' },
      });
      expect(command.resultId).to.match(/^msg_/);
      expect(command.onNotify).to.deep.include({
        url: URL,
        mark: { detectsTrigger: false, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: true },
      });
      expect(command.onNotify.settings.header).to.deep.include(['Svc-Workflow-Sdk-Version', '1']);
      expect(command.onTimeout).to.deep.include({
        url: LATE,
        headers: [
          ['svc-forward-svc-workflow-sdk-version', '1'],
          ['svc-retries', '3'],
        ],
      });
      expect(command.onTimeout.settings).to.deep.include({ maxRetries: 3 });
      expect(command.onTimeout.mark.canFetch).to.equal(false);
    });

    it('sends timeout headers that set no option to the endpoint', async () => {
      const timeoutHeaders = {
        'X-Late': ['yes', 'very'],
        'Acme-Forward-X-Other': 'o',
        'Content-Type': ['text/plain'],
        Host: ['elsewhere.example'],
        'Acme-Feature-Set': 'WF_TriggerOnConfig',
      };
      const answer = await wait({ url: URL, timeoutHeaders, step: STEP });
      expect(answer.status, answer.text).to.equal(200);
      const { settings } = face.gateway.last('Wait').onTimeout;
      expect(settings.header.filter(([name]) => name !== 'Content-Type')).to.deep.equal([
        ['X-Late', 'yes'],
        ['X-Late', 'very'],
        ['X-Other', 'o'],
      ]);
    });

    it('waits a week and delivers the timeout to the same URL by default', async () => {
      await wait({ url: URL, step: STEP });
      const command = face.gateway.last('Wait');
      expect(command).to.include({ timeoutText: '7d', timeoutSeconds: 604_800, timeoutBody: undefined });
      expect(command.onTimeout).to.deep.equal(command.onNotify);
      await wait({ url: URL, step: STEP, timeout: 90 });
      expect(face.gateway.last('Wait')).to.include({ timeoutSeconds: 90 });
    });

    it('accepts any event id', async () => {
      for (const [path, eventId] of [
        ['a/b%2Fc', 'a/b/c'],
        ['100%', '100%'],
        ['%E2%82%AC', '€'],
      ] as const) {
        await wait({ url: URL, step: STEP }, HEADERS, `/v2/wait/${path}`);
        expect(face.gateway.last('Wait').eventId).to.equal(eventId);
      }
    });

    it('answers 400 when its run is over, and 412 to other errors, which also fail the run', async () => {
      face.gateway.answer('Wait', { type: 'Rejected', reason: 'RUN_OVER', message: 'can not append' });
      const over = await wait({ url: URL, step: STEP });
      expect([over.status, over.json]).to.deep.equal([400, { error: 'can not append' }]);
      face.gateway.answer('Wait', { type: 'Rejected', reason: 'TOO_MANY', message: 'quota maxDelay exceeded' });
      expect((await wait({ url: URL, step: STEP })).status).to.equal(412);
      face.gateway.asked.length = 0;
      const { 'Svc-Workflow-RunId': _, ...unnamed } = HEADERS;
      for (const [body, headers] of [
        [{ url: URL, step: STEP }, unnamed],
        ['', HEADERS],
        ['x', HEADERS],
        ['[]', HEADERS],
        [{ step: STEP }, HEADERS],
        [{ url: 'nowhere', step: STEP }, HEADERS],
        [{ url: 'https://forbidden.example/', step: STEP }, HEADERS],
        [{ url: URL, timeoutUrl: 'https://forbidden.example/', step: STEP }, HEADERS],
        [{ url: URL }, HEADERS],
        [{ url: URL, step: { ...STEP, stepId: 0 } }, HEADERS],
        [{ url: URL, step: { ...STEP, more: 'x'.repeat(70_000) } }, HEADERS],
        [{ url: URL, step: STEP, timeout: 'soon' }, HEADERS],
        [{ url: URL, step: STEP, timeout: {} }, HEADERS],
        [{ url: URL, step: STEP, timeoutBody: 7 }, HEADERS],
        [{ url: URL, step: STEP, timeoutHeaders: 'x' }, HEADERS],
        [{ url: URL, step: STEP, timeoutHeaders: { a: {} } }, HEADERS],
        [{ url: URL, step: STEP, timeoutHeaders: { 'svc-retries': '21' } }, HEADERS],
        [{ url: URL, step: STEP, more: 'x'.repeat(1_100_000) }, HEADERS],
      ] as const) {
        const answer = await wait(body, headers);
        expect(answer.status, `${JSON.stringify(body).slice(0, 200)} ${answer.text}`).to.equal(412);
      }
      expect((await wait({ url: URL, step: STEP }, HEADERS, `/v2/wait/${'x'.repeat(1100)}`)).status).to.equal(412);
      const refusals = face.gateway.asked as { type: string; runId: string; error: string }[];
      expect(refusals).to.have.length(18);
      for (const { type, runId, error } of refusals) {
        expect([type, runId]).to.deep.equal(['RefuseStep', 'wfr_1']);
        expect(error).to.match(/^the step was refused: /);
      }
    });

    it('requires a token that may write, and an active account', async () => {
      const options = { headers: HEADERS, body: { url: URL, step: STEP } };
      expect((await face.post('/v2/wait/e', { ...options, token: QUEUE_READ_ONLY_TOKEN })).status).to.equal(403);
      expect((await face.post('/v2/wait/e', { ...options, token: null })).status).to.equal(401);
      expect((await face.get('/v2/wait/e')).status).to.equal(405);
      expect((await face.post('/v2/wait/')).status).to.equal(404);
      face.state = 'passive';
      expect((await face.post('/v2/wait/e', options)).status).to.equal(403);
    });
  });

  describe('POST /v2/notify', () => {
    it('delivers an event to all waiters, and lists them in the answer', async () => {
      const notified = [{ waiter: waiter(false), messageId: 'msg_1' as never }];
      face.gateway.answer('Notify', { type: 'Notified', notified });
      const answer = await face.post('/v2/notify/my%20event', { body: Buffer.from([0, 255]) });
      expect(answer.status).to.equal(200);
      expect(answer.json).to.deep.equal([
        {
          waiter: record('Svc'),
          messageId: 'msg_1',
          error: '',
          workflowRunId: 'wfr_1',
          workflowCreatedAt: 1_700_000_000_000,
        },
      ]);
      const command = face.gateway.last('Notify');
      expect(command).to.deep.include({ eventId: 'my event', runId: undefined, isHook: false });
      expect(command.content).to.deep.equal(Buffer.from([0, 255]));
      expect(command.firstId).to.match(/^msg_/);
    });

    it('may name one run, and answers an empty list without waiters', async () => {
      face.gateway.answer('Notify', { type: 'Notified', notified: [] });
      const answer = await face.post('/v2/notify/wfr_1/a%2Fb/c');
      expect([answer.status, answer.json]).to.deep.equal([200, []]);
      expect(face.gateway.last('Notify')).to.deep.include({ runId: 'wfr_1', eventId: 'a/b/c' });
    });

    it('answers refusals with a status that does not mean a finished run', async () => {
      const large = 'x'.repeat(face.limits.maxMessageBytes + 1);
      expect((await face.post('/v2/notify/e', { body: large })).status).to.equal(412);
      expect((await face.post(`/v2/notify/${'x'.repeat(1100)}`)).status).to.equal(412);
      expect((await face.post('/v2/notify/wfr_1/')).status).to.equal(412);
      expect((await face.post('/v2/notify/')).status).to.equal(404);
      face.gateway.answer('Notify', { type: 'Rejected', reason: 'TOO_MANY', message: 'quota maxStoredEvents' });
      expect((await face.post('/v2/notify/wfr_1/e')).status).to.equal(412);
    });

    it('requires a token that may write, and an active account', async () => {
      expect((await face.post('/v2/notify/e', { token: QUEUE_READ_ONLY_TOKEN })).status).to.equal(403);
      expect((await face.post('/v2/notify/e', { token: null })).status).to.equal(401);
      expect((await face.get('/v2/notify/e')).status).to.equal(405);
      face.state = 'passive';
      expect((await face.post('/v2/notify/e')).status).to.equal(403);
    });
  });

  describe('GET /v2/waiters', () => {
    it('lists waiters in the spelling of the request, or else in their own', async () => {
      face.gateway.answer('ListWaiters', { type: 'Waiters', waiters: [waiter(true)] });
      const alias = await face.get('/v2/waiters/my%20event', { token: QUEUE_READ_ONLY_TOKEN });
      expect([alias.status, alias.json]).to.deep.equal([200, [record('Acme')]]);
      expect(face.gateway.last('ListWaiters').eventId).to.equal('my event');
      const neutral = await face.get('/v2/waiters/e', { headers: { 'Svc-Telemetry-Sdk': 'x' } });
      expect(neutral.json).to.deep.equal([record('Svc')]);
    });

    it('answers an empty list without waiters', async () => {
      face.gateway.answer('ListWaiters', { type: 'Waiters', waiters: [] });
      expect((await face.get('/v2/waiters/a/b')).json).to.deep.equal([]);
      expect(face.gateway.last('ListWaiters').eventId).to.equal('a/b');
    });

    it('lists the waiters of all events in pages, the earliest deadline first', async () => {
      const step = { eventId: 'a/b', runId: 'wfr_1' as RunId, runCreatedAtMs: 1, stepId: 2, stepName: 's' };
      const after = { deadlineMs: 9, stepId: 2, runId: 'wfr-1' as RunId };
      const waiters = [{ ...step, addedAtMs: 3, deadlineMs: 9 }];
      face.gateway.answer('ListAllWaiters', { type: 'AllWaiters', waiters, total: 5, after });
      const { json } = await face.get('/v2/waiters?count=1', { token: QUEUE_READ_ONLY_TOKEN });
      const shown = { eventId: 'a/b', workflowRunId: 'wfr_1', workflowCreatedAt: 1, stepId: 2, stepName: 's' };
      expect(json).to.deep.equal({ waiters: [{ ...shown, addedAt: 3, deadline: 9 }], total: 5, cursor: '9-2-wfr-1' });
      await face.get('/v2/waiters?cursor=9-2-wfr-1');
      expect(face.gateway.last('ListAllWaiters')).to.deep.equal({ type: 'ListAllWaiters', count: 100, after });
      for (const wrong of ['cursor=9', 'cursor=x-2-r', 'count=1001', 'event=a']) {
        expect((await face.get(`/v2/waiters?${wrong}`)).status, wrong).to.equal(400);
      }
    });

    it('answers 400 to an empty or too long event id', async () => {
      expect((await face.get(`/v2/waiters/${'x'.repeat(1100)}`)).status).to.equal(400);
      expect((await face.get('/v2/waiters/')).status).to.equal(400);
      expect((await face.delete('/v2/waiters/e')).status).to.equal(405);
      expect((await face.get('/v2/waiters/e', { token: null })).status).to.equal(401);
    });
  });
});
