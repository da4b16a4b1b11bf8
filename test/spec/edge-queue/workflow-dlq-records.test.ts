import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { FailedRunView } from '../../../src/domain/queue/runs/index.js';
import { DLQ, envelope, failedRun, failureFunction, PARTY, page, WORKFLOW } from '../../support/failed-run-views.js';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('edge/queue: records of failed runs', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const record = async (view: FailedRunView) => {
    face.gateway.answer('GetFailedRun', page(view));
    return (await face.get(`${DLQ}/5-1`)).json as Record<string, unknown>;
  };

  it('show the fields that are always there, and no unset one', async () => {
    expect(await record(failedRun())).to.deep.equal({
      dlqId: '5-1',
      messageId: 'msg_1',
      url: WORKFLOW,
      method: 'POST',
      header: {
        'Svc-Workflow-Runid': ['wfr_1'],
        'Svc-Workflow-Url': [WORKFLOW],
        'Svc-Workflow-Init': ['true'],
        'Svc-Retries': ['3'],
      },
      body: 'payload',
      maxRetries: 2,
      notBefore: 210,
      createdAt: 200,
      callerIP: '192.0.2.1',
      callerIp: '192.0.2.1',
      responseStatus: 500,
      responseHeader: { 'X-A': ['1'] },
      responseBody: 'no',
      error: 'HTTP status 500',
      workflowRunId: 'wfr_1',
      workflowCreatedAt: 100,
      workflowUrl: WORKFLOW,
    });
    expect(face.gateway.last('GetFailedRun').dlqId).to.equal('5-1');
  });

  it('show every option of the run', async () => {
    const of = envelope({
      'content-type': 'text/plain',
      'svc-forward-x-user': 'u',
      'svc-label': 'first,second',
      'svc-retry-delay': '1000',
      'svc-flow-control-key': 'k',
      'svc-flow-control-value': 'parallelism=2, rate=5, period=1m',
      'svc-failure-callback': 'https://app.example/failed',
      'svc-failure-callback-forward-x-of': 'failure',
    });
    const shown = await record(
      failedRun({ envelope: of, failureFunction, failureFunctionContent: Buffer.from('busy') }),
    );
    expect(shown).to.deep.include({
      label: 'first',
      labels: ['first', 'second'],
      flowControlKey: 'k',
      rate: 5,
      parallelism: 2,
      period: 60,
      failureCallback: 'https://app.example/failed',
      failureCallbackHeader: { 'Content-Type': ['application/json'], 'X-Of': ['failure'] },
      failureFunctionState: 'CALLBACK_FAIL',
      failureCallbackInfo: {
        state: 'CALLBACK_FAIL',
        responseStatus: 503,
        responseHeaders: { 'X-B': ['2'] },
        responseBody: 'busy',
      },
    });
    expect(shown.header).to.deep.equal({
      'Content-Type': ['text/plain'],
      'X-User': ['u'],
      'Svc-Workflow-Runid': ['wfr_1'],
      'Svc-Workflow-Url': [WORKFLOW],
      'Svc-Workflow-Init': ['true'],
      'Svc-Retries': ['3'],
      'Svc-Retry-Delay': ['1000'],
      'Svc-Flow-Control-Key': ['k'],
      'Svc-Flow-Control-Value': ['parallelism=2, rate=5, period=60'],
      'Svc-Label': ['first,second'],
      'Svc-Failure-Callback': ['https://app.example/failed'],
    });
  });

  it('show only the state of a failure function that has not answered', async () => {
    const called = { ...failureFunction, state: 'CALLBACK_INPROGRESS', status: 0, header: [] } as const;
    const shown = await record(failedRun({ failureFunction: called, failureFunctionContent: new Uint8Array(0) }));
    expect(shown).to.deep.include({
      failureFunctionState: 'CALLBACK_INPROGRESS',
      failureCallbackInfo: { state: 'CALLBACK_INPROGRESS' },
    });
  });

  it('show bodies that are not UTF-8 as base64', async () => {
    const bytes = Buffer.from([0xff, 0xfe]);
    const contents = { payloadContent: bytes, responseContent: bytes, failureFunctionContent: bytes };
    const shown = await record(failedRun({ ...contents, failureFunction }));
    expect(shown).to.include({ bodyBase64: '//4=', responseBodyBase64: '//4=' });
    expect(shown).not.to.have.any.keys('body', 'responseBody');
    expect(shown.failureCallbackInfo).to.include({ responseBodyBase64: '//4=' });
  });

  it('show the destination of the failed delivery, and hashes of redacted fields', async () => {
    const of = envelope({ 'svc-redact-fields': 'body,header[X-Key]', 'svc-forward-x-key': 'k' });
    const { entry } = failedRun();
    const shown = await record(failedRun({ envelope: of, entry: { ...entry, envelope: envelope({}, PARTY) } }));
    expect(shown).to.include({ url: PARTY, workflowUrl: WORKFLOW, body: `REDACTED:${sha256('payload')}` });
    expect((shown.header as Record<string, unknown>)['X-Key']).to.deep.equal([`REDACTED:${sha256('k')}`]);
  });

  it('have the spelling in which the run was triggered', async () => {
    const shown = await record(failedRun({ envelope: envelope({}, WORKFLOW, true) }));
    expect(shown.header).to.include.keys('Acme-Workflow-Runid', 'Acme-Retries');
  });
});
