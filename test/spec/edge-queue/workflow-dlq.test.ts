import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import {
  DLQ,
  envelope,
  failedRun,
  NOT_FOUND,
  PARTY,
  page,
  STARTED,
  startedRuns,
  WORKFLOW,
} from '../../support/failed-run-views.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

describe('edge/queue: failed runs of workflows', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  it('are listed under both paths, and not in a plain list', async () => {
    face.gateway.answer('ListFailedRuns', page(failedRun(), failedRun({}, '6-2')));
    for (const path of [DLQ, '/v2/dlq?source=workflow']) {
      const { messages, cursor } = (await face.get(path)).json as { messages: { dlqId: string }[]; cursor?: string };
      expect(messages.map(({ dlqId }) => dlqId)).to.deep.equal(['5-1', '6-2']);
      expect(cursor).to.equal(undefined);
    }
    const asked = face.gateway.asked.length;
    expect((await face.get('/v2/dlq')).json).to.deep.equal({ messages: [] });
    expect(face.gateway.asked.slice(asked).map(({ type }) => type)).to.deep.equal(['GetPosition']);
  });

  it('are listed by every filter', async () => {
    face.gateway.answer('ListFailedRuns', page());
    const query = new URLSearchParams([
      ['source', 'workflow'],
      ['workflowUrl', `${WORKFLOW}?a=1,2,https://b.example/`],
      ['workflowUrl', 'https://c.example/'],
      ['workflowRunId', 'wfr_1'],
      ['workflowCreatedAt', '100'],
      ['label', 'one,two'],
      ['callerIp', '192.0.2.1'],
      ['flowControlKey', 'k'],
      ['failureFunctionState', 'CALLBACK_FAIL,CALLBACK_SUCCESS'],
      ['url', PARTY],
      ['responseStatus', '500,404'],
      ['fromDate', '1'],
      ['toDate', '2'],
      ['cursor', '5-1'],
      ['count', '7'],
      ['order', 'latestFirst'],
    ]);
    expect((await face.get(`/v2/dlq?${query}`)).status).to.equal(200);
    expect(face.gateway.last('ListFailedRuns').selector).to.deep.equal({
      kind: 'filter',
      filter: {
        workflowUrl: [`${WORKFLOW}?a=1,2`, 'https://b.example/', 'https://c.example/'],
        runId: ['wfr_1'],
        createdAtMs: [100],
        label: ['one', 'two'],
        callerIp: ['192.0.2.1'],
        flowControlKey: ['k'],
        failureFunctionState: ['CALLBACK_FAIL', 'CALLBACK_SUCCESS'],
        url: [PARTY],
        responseStatus: [500, 404],
        fromMs: 1,
        toMs: 2,
      },
      count: 7,
      after: '5-1',
      order: 'latestFirst',
    });
  });

  it('are counted with the filters of the list', async () => {
    face.gateway.answer('CountFailedRuns', {
      type: 'FailedRunCounts',
      counts: [
        [500, 2],
        [0, 1],
      ],
    });
    const { status, json } = await face.get(`${DLQ}/counts?responseStatus=500,0&label=a&toDate=2`);
    expect([status, json]).to.deep.equal([200, { total: 3, counts: { 0: 1, 500: 2 }, isWhole: true }]);
    const { filter } = face.gateway.last('CountFailedRuns');
    expect(filter).to.deep.equal({ label: ['a'], responseStatus: [500, 0], toMs: 2 });
    for (const other of ['cursor=5-1', 'count=1', 'dlqIds=5-1', 'order=latestFirst']) {
      expect((await face.get(`${DLQ}/counts?${other}`)).status, other).to.equal(400);
    }
  });

  it('are deleted by every filter of the list', async () => {
    face.gateway.answer('DeleteFailedRuns', { type: 'DlqDeleted', count: 1, after: undefined });
    const query = `url=${encodeURIComponent(PARTY)}&responseStatus=500&order=latestFirst`;
    expect((await face.request('DELETE', `${DLQ}?${query}`)).status).to.equal(200);
    const { selector } = face.gateway.last('DeleteFailedRuns');
    expect(selector).to.deep.include({ filter: { url: [PARTY], responseStatus: [500] }, order: 'latestFirst' });
  });

  it('are listed with shortened bodies or without bodies, and stay the same when grouped by run', async () => {
    const redacted = failedRun({ envelope: envelope({ 'svc-redact-fields': 'body' }) }, '6-2');
    face.gateway.answer('ListFailedRuns', page(failedRun(), redacted));
    const bodies = async (query: string) => {
      const { messages } = (await face.get(`${DLQ}?${query}`)).json as { messages: Record<string, unknown>[] };
      return messages.map(({ body, responseBody }) => [body, responseBody]);
    };
    const hash = ((await bodies('groupBy=workflowRunId'))[1] as unknown[])[0];
    expect(hash).to.match(/^REDACTED:/);
    expect(await bodies('')).to.deep.equal([
      ['payload', 'no'],
      [hash, 'no'],
    ]);
    expect(await bodies('trimBody=1')).to.deep.equal([
      ['p', 'n'],
      [hash, 'n'],
    ]);
    for (const none of ['0', '-1'])
      expect(await bodies(`trimBody=${none}`)).to.deep.equal(Array(2).fill([undefined, undefined]));
    await face.get(`${DLQ}?failureCallbackState=CALLBACK_FAIL`);
    const { selector } = face.gateway.last('ListFailedRuns');
    expect(selector).to.deep.include({ filter: { failureFunctionState: ['CALLBACK_FAIL'] } });
    for (const wrong of ['groupBy=messageId', 'trimBody=x', 'trimBody=-2', 'failureCallbackState=x']) {
      expect((await face.get(`${DLQ}?${wrong}`)).status, wrong).to.equal(400);
    }
    for (const [method, path] of [
      ['DELETE', DLQ],
      ['POST', `${DLQ}/resume`],
      ['POST', `${DLQ}/restart`],
    ] as const) {
      for (const known of ['trimBody=0', 'groupBy=workflowRunId', 'failureCallbackState=CALLBACK_FAIL']) {
        const { status, json } = await face.request(method, `${path}?${known}`);
        expect([status, json], `${method} ${known}`).to.deep.equal([
          400,
          { error: `unknown parameter ${known.split('=')[0]}` },
        ]);
      }
    }
  });

  it('are collected from several answers of the owner for one page', async () => {
    const pages: QueueReply[] = [
      { type: 'FailedRuns', runs: [failedRun()], after: '5-1' as never },
      { type: 'FailedRuns', runs: [failedRun({}, '6-2')], after: '6-2' as never },
    ];
    const selectors: unknown[] = [];
    const ask = face.gateway.ask.bind(face.gateway);
    face.gateway.ask = async (account, command) => {
      if (command.type !== 'ListFailedRuns') return ask(account, command);
      selectors.push(command.selector);
      return pages[selectors.length - 1] as QueueReply;
    };
    const rest = { kind: 'filter', filter: {}, order: 'earliestFirst' };
    expect((await face.get(`${DLQ}?count=2`)).json).to.deep.include({ cursor: '6-2' });
    expect(selectors).to.deep.equal([
      { ...rest, count: 2, after: undefined },
      { ...rest, count: 1, after: '5-1' },
    ]);
    selectors.length = 0;
    pages[1] = page(failedRun({}, '6-2'));
    const named = (await face.get(`${DLQ}?dlqIds=5-1,6-2`)).json as { messages: unknown[] };
    expect(named.messages.length).to.equal(2);
    expect(named).not.to.have.property('cursor');
    expect(selectors.at(-1)).to.deep.equal({ kind: 'ids', dlqIds: ['6-2'] });
  });

  it('answer 404 for an unknown id', async () => {
    const reply: QueueReply = { type: 'Rejected', reason: 'NOT_FOUND', message: 'dlq message 5-1 not found' };
    face.gateway.answer('GetFailedRun', reply);
    face.gateway.answer('DeleteFailedRuns', NOT_FOUND);
    const answer = await face.get(`${DLQ}/5-1`);
    expect([answer.status, answer.json]).to.deep.equal([404, { error: 'dlq message 5-1 not found' }]);
    expect((await face.delete(`${DLQ}/5-1`)).status).to.equal(404);
    expect((await face.delete(`${DLQ}?dlqIds=5-1`)).status).to.equal(404);
  });

  it('are deleted one by one or by filter, without a cursor at the end', async () => {
    face.gateway.answer('DeleteFailedRuns', { type: 'DlqDeleted', count: 1, after: undefined });
    expect((await face.delete(`${DLQ}/5-1`)).status).to.equal(200);
    expect(face.gateway.last('DeleteFailedRuns').selector).to.deep.equal({ kind: 'ids', dlqIds: ['5-1'] });
    expect((await face.delete(`${DLQ}?label=a`)).json).to.deep.equal({ deleted: 1 });
    face.gateway.answer('DeleteFailedRuns', { type: 'DlqDeleted', count: 2, after: '6-2' as never });
    expect((await face.delete(DLQ)).json).to.deep.equal({ deleted: 2, cursor: '6-2' });
    expect(face.gateway.last('DeleteFailedRuns').selector).to.include({ kind: 'filter', count: 100 });
  });

  for (const how of ['resume', 'restart'] as const) {
    it(`POST /v2/workflows/dlq/${how} takes ids or a filter, and answers an empty cursor at the end`, async () => {
      face.gateway.answer('ResumeRuns', startedRuns());
      const answer = await face.post(`${DLQ}/${how}?dlqIds=5-1&dlqIds=6-2,5-1`);
      expect([answer.status, answer.json]).to.deep.equal([200, { workflowRuns: [STARTED], cursor: '' }]);
      const { selector, firstRunId, ...command } = face.gateway.last('ResumeRuns');
      expect(command).to.deep.include({ how, overrides: { headers: [], query: [] } });
      expect(selector).to.deep.equal({ kind: 'ids', dlqIds: ['5-1', '6-2'] });
      expect(firstRunId).to.match(/^wfr_[A-Za-z0-9_-]{21}$/);
      face.gateway.answer('ResumeRuns', startedRuns('6-2'));
      expect((await face.post(`${DLQ}/${how}?count=1&label=a`)).json).to.include({ cursor: '6-2' });
      expect(face.gateway.last('ResumeRuns').selector).to.include({ count: 1 });
      await face.post(`${DLQ}/${how}`);
      expect(face.gateway.last('ResumeRuns').selector).to.include({ count: 50, after: undefined });
    });

    it(`POST /v2/workflows/dlq/${how}/:id accepts a new run id`, async () => {
      face.gateway.answer('ResumeRuns', startedRuns());
      const answer = await face.post(`${DLQ}/${how}/5-1`, { headers: { 'Acme-Workflow-RunId': 'wfr_mine' } });
      expect([answer.status, answer.json]).to.deep.equal([200, STARTED]);
      expect(face.gateway.last('ResumeRuns')).to.deep.include({
        firstRunId: 'wfr_mine',
        selector: { kind: 'ids', dlqIds: ['5-1'] },
      });
    });

    it(`POST /v2/workflows/dlq/${how} answers 404 to an unknown id, and 400 to the id of a plain message or no id`, async () => {
      face.gateway.answer('ResumeRuns', NOT_FOUND);
      face.gateway.answer('GetDlq', { type: 'Rejected', reason: 'NOT_FOUND', message: 'dlq message 5-1 not found' });
      expect((await face.post(`${DLQ}/${how}?dlqIds=5-1`)).status).to.equal(404);
      expect((await face.post(`${DLQ}/${how}/5-1`)).status).to.equal(404);
      const { entry } = failedRun();
      face.gateway.answer('GetDlq', { type: 'Dlq', entry, content: undefined, response: undefined });
      const plain = await face.post(`${DLQ}/${how}/5-1`);
      expect([plain.status, plain.json]).to.deep.equal([400, { error: 'dlq message 5-1 is not of a workflow' }]);
      expect((await face.post(`${DLQ}/${how}/nonsense`)).status).to.equal(400);
    });
  }

  it('accept options of the call in either spelling, and refuse options without effect', async () => {
    face.gateway.answer('ResumeRuns', startedRuns());
    const headers = {
      'Acme-Retries': '2',
      'Svc-Retry-Delay': '1000',
      'Svc-Delay': '10s',
      'Acme-Flow-Control-Key': 'k',
      'Acme-Flow-Control-Value': 'parallelism=1',
      'Svc-Label': 'l',
      'Svc-Failure-Callback': 'https://app.example/failed',
      'Acme-Telemetry-Sdk': 'sdk',
      'Content-Type': 'text/plain',
    };
    expect((await face.post(`${DLQ}/resume?svc-label=other`, { headers })).status).to.equal(200);
    const { overrides } = face.gateway.last('ResumeRuns');
    expect(Object.fromEntries(overrides.headers)).to.deep.equal({
      'svc-retries': '2',
      'svc-retry-delay': '1000',
      'svc-delay': '10s',
      'svc-flow-control-key': 'k',
      'svc-flow-control-value': 'parallelism=1',
      'svc-label': 'l',
      'svc-failure-callback': 'https://app.example/failed',
    });
    expect(overrides.query).to.deep.equal([['svc-label', 'other']]);
    for (const other of ['Svc-Method', 'Svc-Callback', 'Svc-Forward-X-User', 'Acme-Method']) {
      const refused = await face.post(`${DLQ}/resume`, { headers: { [other]: 'PUT' } });
      expect(refused.status).to.equal(400);
      expect((refused.json as { error: string }).error).to.contain('is not an option of resume and restart');
    }
  });

  it('call a failure function again, and cancel the call', async () => {
    face.gateway.answer('RunFailureFunction', startedRuns());
    const again = await face.post(`${DLQ}/callback/5-1`);
    expect([again.status, again.json]).to.deep.equal([200, STARTED]);
    expect(face.gateway.last('RunFailureFunction')).to.include({ dlqId: '5-1' });
    face.gateway.answer('CancelFailureFunction', { type: 'Done' });
    expect((await face.delete(`${DLQ}/callback/5-1`)).status).to.equal(200);
    expect(face.gateway.last('CancelFailureFunction')).to.include({ dlqId: '5-1' });
    const refusal: QueueReply = { type: 'Rejected', reason: 'INVALID', message: 'none is in progress' };
    face.gateway.answer('CancelFailureFunction', refusal);
    expect((await face.delete(`${DLQ}/callback/5-1`)).json).to.deep.equal({ error: 'none is in progress' });
  });

  for (const [mistake, method, path, headers] of [
    ['an unknown filter', 'POST', `${DLQ}/resume?lable=x`, {}],
    ['a filter that failed runs do not have', 'GET', '/v2/dlq?source=workflow&host=a.example', {}],
    ['an empty filter', 'DELETE', `${DLQ}?dlqIds=`, {}],
    ['an invalid state', 'POST', `${DLQ}/restart?failureFunctionState=DONE`, {}],
    ['an invalid instant', 'GET', `${DLQ}?workflowCreatedAt=today`, {}],
    ['an invalid status', 'GET', `${DLQ}?responseStatus=x`, {}],
    ['a count above the maximum', 'POST', `${DLQ}/resume?count=101`, {}],
    ['an invalid cursor', 'POST', `${DLQ}/resume?cursor=abc`, {}],
    ['an id that was lost', 'POST', `${DLQ}/resume/`, {}],
    ['another one', 'DELETE', `${DLQ}/`, {}],
    ['too many retries', 'POST', `${DLQ}/resume`, { 'Svc-Retries': '21' }],
    ['half a flow control', 'POST', `${DLQ}/restart/5-1`, { 'Svc-Flow-Control-Key': 'k' }],
    [
      'a failure callback that may not be called',
      'POST',
      `${DLQ}/resume`,
      { 'Svc-Failure-Callback': 'https://forbidden.example/' },
    ],
    ['a run id that is too long', 'POST', `${DLQ}/resume/5-1`, { 'Svc-Workflow-RunId': 'x'.repeat(257) }],
  ] as const) {
    it(`answer 400 to ${mistake}, and change no run`, async () => {
      expect((await face.request(method, path, { headers })).status).to.equal(400);
      expect(face.gateway.asked).to.deep.equal([]);
    });
  }

  it('are not changed with a read-only token', async () => {
    const calls = [
      ['DELETE', DLQ],
      ['DELETE', `${DLQ}/5-1`],
      ['POST', `${DLQ}/resume`],
      ['POST', `${DLQ}/resume/5-1`],
      ['POST', `${DLQ}/restart`],
      ['POST', `${DLQ}/restart/5-1`],
      ['POST', `${DLQ}/callback/5-1`],
      ['DELETE', `${DLQ}/callback/5-1`],
    ] as const;
    for (const [method, path] of calls) {
      const { status } = await face.request(method, path, { token: QUEUE_READ_ONLY_TOKEN });
      expect(status, `${method} ${path}`).to.equal(403);
    }
    expect(face.gateway.asked).to.deep.equal([]);
  });
});
