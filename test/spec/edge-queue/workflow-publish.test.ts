import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import { MAX_RUN_ID_BYTES, MAX_STEP_TEXT_BYTES } from '../../../src/domain/queue/runs/index.js';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://app.example/flow';
const STEP = { stepId: 1, stepName: 'one', stepType: 'Run', out: '1', concurrent: 1 };
const ENTRY = { 'Svc-Workflow-RunId': 'wfr_1', 'Svc-Workflow-Init': 'false' };
const TRIGGER = { 'Svc-Workflow-RunId': 'wfr_1', 'Svc-Workflow-Init': 'true' };
const CALL = {
  ...ENTRY,
  'Svc-Workflow-CallType': 'toCallback',
  'Svc-Callback': URL,
  'Svc-Callback-Forward-Svc-Workflow-StepId': '2',
  'Svc-Callback-Forward-Svc-Workflow-StepName': 'ask',
  'Svc-Callback-Forward-Svc-Workflow-StepType': 'Call',
  'Svc-Callback-Forward-Svc-Workflow-Concurrent': '3',
};
const INVOKE = { ...TRIGGER, 'Svc-Workflow-Invoke': 'true', 'Svc-Forward-Svc-Workflow-Invoke-Count': '2' };
const ENVELOPE = {
  body: 'payload',
  workflowRunId: 'wfr_parent',
  workflowRunCreatedAt: 1,
  workflowUrl: URL,
  headers: { 'Svc-Forward-Svc-Workflow-Sdk-Version': ['1'], 'Svc-Feature-Set': ['LazyFetch,WF_TriggerOnConfig'] },
  step: { stepId: 3, stepName: 'start', stepType: 'Invoke', concurrent: 1 },
};

type Headers = Readonly<Record<string, string>>;

describe('edge/queue: messages of workflow runs', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const publish = (headers: Headers, body: string | object = STEP, url = URL) =>
    face.post(`/v2/publish/${url}`, { headers, body });
  const workflow = () => face.gateway.lastPublished.workflow;
  const settings = () => {
    const { destination } = face.gateway.lastPublished;
    if (destination.kind !== 'url') throw new Error('published to a group');
    return destination.settings;
  };
  /** Published alone and as one of a batch, with the same answer. */
  const refusalOf = async (headers: Headers, body: string | object = STEP, destination = URL) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const alone = await publish(headers, text, destination);
    const inBatch = await face.post('/v2/batch', {
      body: [{ destination: URL }, { destination, headers, body: text }],
    });
    expect(inBatch.status, inBatch.text).to.equal(alone.status);
    expect(face.gateway.published).to.deep.equal([]);
    return [alone.status, (alone.json as { error: string }).error] as const;
  };

  describe('triggers', () => {
    it('start a run with the features of the endpoint', async () => {
      await publish({ ...TRIGGER, 'Svc-Feature-Set': 'LazyFetch, WF_DetectTrigger' }, 'payload');
      expect(workflow()).to.deep.equal({
        kind: 'trigger',
        runId: 'wfr_1',
        mark: { detectsTrigger: true, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: false },
        isByEndpoint: false,
        invoker: undefined,
        depth: 0,
      });
      expect(face.gateway.lastPublished.body.toString()).to.equal('payload');
    });

    it('answer with the run, or with the existing run', async () => {
      const reply = (isDuplicate: boolean): QueueReply => {
        const run = { runId: 'wfr_1' as never, createdAtMs: 1_700_000_000_000 };
        return {
          type: 'Published',
          results: [{ messageId: 'msg_1' as never, url: URL, isDuplicate, run }],
          daily: undefined,
        };
      };
      const run = { workflowRunId: 'wfr_1', workflowCreatedAt: 1_700_000_000_000 };
      face.gateway.publishReply = reply(false);
      const started = await publish(TRIGGER);
      expect([started.status, started.json]).to.deep.equal([200, { messageId: 'msg_1', url: URL, ...run }]);
      face.gateway.publishReply = reply(true);
      const found = await publish(TRIGGER);
      expect(found.json).to.deep.equal({ messageId: 'msg_1', url: URL, deduplicated: true, ...run });
    });

    it('by the endpoint itself are marked', async () => {
      await publish({ ...TRIGGER, 'Svc-Workflow-Trigger-By-Sdk': 'true' });
      expect(workflow()).to.include({ kind: 'trigger', isByEndpoint: true });
    });

    it('drop the headers that cannot be forwarded, also for the failure function', async () => {
      const unfit = ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade', 'TE'];
      const old = ['Svc-Signature', 'Svc-Message-Id', 'Svc-Retried', 'Svc-Caller-Ip', 'Proxy-Authorization'];
      const headers: Record<string, string> = { ...TRIGGER, 'Svc-Failure-Callback': URL };
      for (const name of [...unfit, ...old, 'Trailer', 'Expect', 'Accept-Encoding', 'X-Mine']) {
        headers[`svc-forward-${name}`] = 'x';
        headers[`svc-failure-callback-forward-${name}`] = 'x';
      }
      headers['svc-forward-x-unfit'] = 'a\nb';
      headers['svc-forward-not a name'] = 'x';
      const answer = await face.post('/v2/batch', { body: [{ destination: URL, headers }] });
      expect(answer.status, answer.text).to.equal(200);
      expect(settings().header).to.deep.equal([['X-Mine', 'x']]);
      expect(settings().failureCallback?.settings.header).to.deep.include(['X-Mine', 'x']).and.have.length(2);
    });

    it('above a bound of the account are refused with 412, and with 400 for any other error', async () => {
      expect(await refusalOf({ ...TRIGGER, 'Svc-Retries': '21' })).to.deep.equal([
        412,
        'quota maxRetries exceeded, current limit: 20',
      ]);
      expect((await refusalOf({ ...TRIGGER, 'Svc-Delay': '8d' }))[0]).to.equal(412);
      expect((await refusalOf({ ...TRIGGER, 'Svc-Retries': 'x' }))[0]).to.equal(400);
      expect((await refusalOf(TRIGGER, STEP, 'group'))[0]).to.equal(400);
      expect((await refusalOf({ ...TRIGGER, 'Svc-Workflow-RunId': 'x'.repeat(MAX_RUN_ID_BYTES + 1) }))[0]).to.equal(
        400,
      );
      expect((await refusalOf(TRIGGER, 'x'.repeat(face.limits.maxMessageBytes + 1)))[0]).to.equal(413);
    });

    it('are refused at the daily limit like any message', async () => {
      const daily = { limit: 10, remaining: 0, resetAtMs: 5000, isAboveSoft: true };
      face.gateway.publishReply = { type: 'Rejected', reason: 'DAILY_LIMIT', message: 'quota exceeded', daily };
      const answer = await publish(TRIGGER);
      expect([answer.status, answer.headers['ratelimit-limit']]).to.deep.equal([429, '10']);
    });
  });

  describe('entries', () => {
    it('are marked with their step, and are put into no queue', async () => {
      const plan = { ...STEP, stepId: 0, targetStep: 4, concurrent: 2 };
      await face.post(`/v2/enqueue/q/${URL}`, { headers: ENTRY, body: plan });
      expect(workflow()).to.deep.include({
        kind: 'entry',
        runId: 'wfr_1',
        step: { stepId: 0, targetStep: 4, concurrent: 2, stepName: 'one', stepType: 'Run' },
      });
      expect(face.gateway.lastPublished).to.include({ queueName: undefined, isAlias: false });
      await face.post('/v2/batch', {
        body: [{ destination: URL, headers: ENTRY, body: JSON.stringify(STEP), queue: 'q' }],
      });
      expect(workflow()).to.deep.include({ kind: 'entry' });
      expect(face.gateway.lastPublished.queueName).to.equal(undefined);
    });

    it('are messages of a run without Svc-Workflow-Init', async () => {
      await publish({ 'Svc-Workflow-RunId': 'wfr_1' });
      expect(workflow()).to.include({ kind: 'entry' });
    });

    it('are plain messages without a run', async () => {
      await publish({ 'Svc-Workflow-Init': 'true' });
      expect(workflow()).to.equal(undefined);
      await publish({ 'Svc-Workflow-RunId': ' ' });
      expect(workflow()).to.equal(undefined);
    });

    it('are refused with 412 for any error in them', async () => {
      const wrong: readonly (readonly [Headers, string | object, RegExp])[] = [
        [ENTRY, '', /the step has no record/],
        [ENTRY, 'not json', /not valid JSON/],
        [ENTRY, [STEP], /not a JSON object/],
        [ENTRY, { ...STEP, stepId: -1 }, /stepId/],
        [ENTRY, { ...STEP, stepId: '1' }, /stepId/],
        [ENTRY, { ...STEP, targetStep: 1.5 }, /targetStep/],
        [ENTRY, { ...STEP, stepId: 0 }, /neither/],
        [ENTRY, { ...STEP, concurrent: 0 }, /concurrent/],
        [ENTRY, { ...STEP, stepName: undefined }, /stepName/],
        [ENTRY, { ...STEP, stepName: 'x'.repeat(5000) }, /stepName .* longer/],
        [ENTRY, { ...STEP, stepType: 7 }, /stepType/],
        [{ ...ENTRY, 'Svc-Delay': 'x' }, STEP, /svc-delay/],
        [{ ...ENTRY, 'Svc-Delay': '8d' }, STEP, /quota maxDelay/],
        [{ ...ENTRY, 'Svc-Workflow-RunId': 'x'.repeat(MAX_RUN_ID_BYTES + 1) }, STEP, /run id is longer/],
        [ENTRY, { ...STEP, out: 'x'.repeat(face.limits.maxMessageBytes) }, /too large/],
      ];
      for (const [headers, body, words] of wrong) {
        const [status, text] = await refusalOf(headers, body);
        expect(status, text).to.equal(412);
        expect(text).to.match(words);
      }
      expect((await refusalOf(ENTRY, STEP, 'group'))[0]).to.equal(412);
      expect((await refusalOf(ENTRY, STEP, 'https://forbidden.example/'))[0]).to.equal(412);
    });

    it('are refused with 400 only by the owner, when the run is over', async () => {
      const asked = [() => publish(ENTRY), () => face.post('/v2/batch', { body: [batched(ENTRY)] })];
      const batched = (headers: Headers) => ({ destination: URL, headers, body: JSON.stringify(STEP) });
      for (const ask of asked) {
        face.gateway.publishReply = { type: 'Rejected', reason: 'RUN_OVER', message: 'can not append' };
        const over = await ask();
        expect([over.status, over.json]).to.deep.equal([400, { error: 'can not append' }]);
        face.gateway.publishReply = { type: 'Rejected', reason: 'INVALID', message: 'wrong' };
        expect((await ask()).status).to.equal(412);
        face.gateway.publishReply = { type: 'Rejected', reason: 'TOO_MANY', message: 'more' };
        expect((await ask()).status).to.equal(412);
        face.gateway.publishReply = { type: 'Rejected', reason: 'SUSPENDED', message: 'suspended' };
        expect((await ask()).status).to.equal(403);
      }
    });

    it('do not change the status of errors of other messages', async () => {
      face.gateway.publishReply = { type: 'Rejected', reason: 'INVALID', message: 'wrong' };
      expect((await publish({})).status).to.equal(400);
      expect((await publish(TRIGGER)).status).to.equal(400);
    });

    it('are accepted regardless of the burst limit', async () => {
      face.limits = { ...face.limits, maxRequestsPerSecond: 1 };
      const statuses: number[] = [];
      for (let at = 0; at < 3; at += 1) statuses.push((await face.post('/v2/wait/e', { body: '' })).status);
      expect(statuses).to.deep.equal([412, 412, 412]);
      expect((await face.get('/v2/queues')).status).not.to.equal(429);
      expect((await face.get('/v2/queues')).status).to.equal(429);
      expect((await publish(ENTRY)).status).to.equal(200);
      expect((await face.get('/v2/workflows/runs/wfr_1')).status).not.to.equal(429);
    });
  });

  describe('calls to third parties', () => {
    it('are marked with the step that their callback names', async () => {
      const own = { 'Svc-Method': 'PUT', 'Svc-Retries': '0', 'Svc-Forward-Accept-Encoding': 'gzip' };
      await publish({ ...CALL, ...own }, 'anything', 'https://third.example/');
      expect(workflow()).to.deep.include({
        kind: 'call',
        step: { stepId: 2, targetStep: 0, concurrent: 3, stepName: 'ask', stepType: 'Call' },
      });
      expect(settings()).to.include({ method: 'PUT', maxRetries: 0 });
      expect(settings().header).to.deep.equal([['Accept-Encoding', 'gzip']]);
      expect(settings().callback?.url).to.equal(URL);
    });

    it('are refused with 412 without a valid step, and above the bounds of the account', async () => {
      for (const [name, value] of [
        ['StepId', 'x'],
        ['StepId', ''],
        ['StepId', '0'],
        ['Concurrent', '0'],
        ['StepName', ''],
      ] as const) {
        const headers = { ...CALL, [`Svc-Callback-Forward-Svc-Workflow-${name}`]: value };
        expect((await refusalOf(headers))[0], `${name}: ${value}`).to.equal(412);
      }
      expect((await refusalOf({ ...CALL, 'Svc-Retries': '21' }))[0]).to.equal(412);
      expect((await refusalOf({ ...CALL, 'Svc-Callback': 'https://forbidden.example/' }))[0]).to.equal(412);
    });
  });

  describe('invokes', () => {
    it('start a child run with the payload of the envelope, and record the waiting run', async () => {
      await publish(INVOKE, ENVELOPE);
      expect(face.gateway.lastPublished.body.toString()).to.equal('payload');
      const item = workflow();
      if (item?.kind !== 'trigger') throw new Error('no trigger');
      expect(item.depth).to.equal(2);
      expect(item.invoker).to.deep.include({
        runId: 'wfr_parent',
        step: { stepId: 3, targetStep: 0, concurrent: 1, stepName: 'start', stepType: 'Invoke' },
        stepText: JSON.stringify(ENVELOPE.step),
      });
      expect(item.invoker?.delivery).to.deep.include({
        url: URL,
        mark: { detectsTrigger: false, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: true },
        headers: [
          ['svc-forward-svc-workflow-sdk-version', '1'],
          ['svc-feature-set', 'LazyFetch,WF_TriggerOnConfig'],
        ],
      });
      expect(item.invoker?.delivery.settings.header).to.deep.equal([['Svc-Workflow-Sdk-Version', '1']]);
    });

    it('may omit the payload and the depth; headers may have the alias spelling, and be repeated', async () => {
      const { 'Svc-Forward-Svc-Workflow-Invoke-Count': _, ...headers } = INVOKE;
      const { body: __, ...envelope } = ENVELOPE;
      const given = {
        'Acme-Forward-Acme-Workflow-Sdk-Version': '1',
        'Acme-Workflow-RunId': ['a'],
        'acme-workflow-runid': ['a'],
      };
      await publish(headers, { ...envelope, headers: given });
      expect(face.gateway.lastPublished.body).to.have.length(0);
      const item = workflow();
      expect(item).to.include({ depth: 1 });
      expect(item?.kind === 'trigger' && item.invoker?.delivery.headers).to.deep.equal([
        ['svc-forward-svc-workflow-sdk-version', '1'],
        ['svc-workflow-runid', 'a'],
      ]);
    });

    it('accept a payload as large as a message, in any JSON notation', async () => {
      const payload = '\u0001'.repeat(face.limits.maxMessageBytes);
      expect((await publish(INVOKE, { ...ENVELOPE, body: payload })).status).to.equal(200);
      expect(face.gateway.lastPublished.body).to.have.length(payload.length);
      face.gateway.published.length = 0;
      const answer = await publish(INVOKE, { ...ENVELOPE, body: `${payload}x` });
      expect([answer.status, face.gateway.published.length]).to.deep.equal([412, 0]);
      expect((await publish(INVOKE, 'x'.repeat(7_000_000))).status).to.equal(412);
    });

    it('are refused with 412 for any error in them', async () => {
      const wrong: readonly (readonly [Headers, unknown, RegExp])[] = [
        [INVOKE, 'not json', /not valid JSON/],
        [INVOKE, { ...ENVELOPE, body: 7 }, /body must be a string/],
        [INVOKE, { ...ENVELOPE, workflowRunId: '' }, /run id is empty/],
        [INVOKE, { ...ENVELOPE, workflowRunId: 7 }, /workflowRunId/],
        [INVOKE, { ...ENVELOPE, workflowUrl: 'nowhere' }, /invalid workflow url/],
        [INVOKE, { ...ENVELOPE, workflowUrl: 'https://forbidden.example/' }, /forbidden/],
        [INVOKE, { ...ENVELOPE, headers: { 'Svc-Retries': 'x' } }, /svc-retries/],
        [INVOKE, { ...ENVELOPE, headers: { 'Svc-Label': {} } }, /Svc-Label/],
        [INVOKE, { ...ENVELOPE, headers: 'x' }, /headers/],
        [INVOKE, { ...ENVELOPE, step: undefined }, /step/],
        [INVOKE, { ...ENVELOPE, step: { ...ENVELOPE.step, stepId: 'x' } }, /stepId/],
        [INVOKE, { ...ENVELOPE, step: { ...ENVELOPE.step, more: 'x'.repeat(MAX_STEP_TEXT_BYTES) } }, /step is longer/],
        [{ ...INVOKE, 'Svc-Forward-Svc-Workflow-Invoke-Count': 'x' }, ENVELOPE, /invoke count/],
        [{ ...INVOKE, 'Svc-Retries': 'x' }, ENVELOPE, /svc-retries/],
        [{ ...INVOKE, 'Svc-Retries': '21' }, ENVELOPE, /quota maxRetries/],
      ];
      for (const [headers, body, words] of wrong) {
        const [status, text] = await refusalOf(headers, body as object);
        expect(status, text).to.equal(412);
        expect(text).to.match(words);
      }
    });
  });

  it('in a batch make every error of the batch a 412', async () => {
    const entry = { destination: URL, headers: ENTRY, body: JSON.stringify(STEP) };
    expect((await face.post('/v2/batch', { body: [entry, 7] })).status).to.equal(412);
    expect((await face.post('/v2/batch', { body: `[${JSON.stringify(entry)},` })).status).to.equal(412);
    const many = Array.from({ length: 1001 }, () => entry);
    expect((await face.post('/v2/batch', { body: many })).status).to.equal(412);
    const large = { ...entry, body: JSON.stringify({ ...STEP, out: 'x'.repeat(17_000_000) }) };
    const [refused, plain] = [await face.post('/v2/batch', { body: [large] }), { ...large, headers: {} }];
    expect([refused.status, refused.json]).to.deep.equal([
      412,
      { error: 'body is too large, current limit: 16777216 bytes' },
    ]);
    expect((await face.post('/v2/batch', { body: [plain] })).status).to.equal(413);
    const less = { ...entry, body: JSON.stringify({ ...STEP, out: 'x'.repeat(15_000_000) }) };
    expect((await face.post('/v2/batch', { body: [less] })).status).to.equal(412);
    const unnamed = { ...entry, destination: 7 };
    expect((await face.post('/v2/batch', { body: [unnamed] })).status).to.equal(412);
  });
});
