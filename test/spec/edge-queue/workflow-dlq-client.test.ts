import { Client } from '@upstash/workflow';
import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import {
  failedRun,
  failureFunction,
  PARTY,
  page,
  STARTED,
  startedRuns,
  WORKFLOW,
} from '../../support/failed-run-views.js';
import { QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';

describe('edge/queue: failed runs, with the npm client', () => {
  let face: QueueEndpointHarness;
  let client: Client;
  beforeEach(async () => {
    const aliases = [{ headerWord: 'Upstash', queueWord: 'qstash', kvWord: 'redis' }];
    face = await new QueueEndpointHarness({ aliases }).start();
    client = new Client({ baseUrl: face.url, token: QUEUE_TOKEN, retry: false, enableTelemetry: false });
  });
  afterEach(() => face.stop());

  it('are listed and deleted', async () => {
    face.gateway.answer('ListFailedRuns', { ...(page(failedRun({ failureFunction })) as object) } as QueueReply);
    const filter = { workflowUrl: [WORKFLOW, PARTY], fromDate: new Date(5), label: 'l' };
    const { messages, cursor } = await client.dlq.list({ count: 10, filter });
    expect(cursor).to.equal(undefined);
    expect(messages[0]).to.deep.include({ workflowRunId: 'wfr_1', body: 'payload', dlqId: '5-1' });
    expect(messages[0]?.failureCallbackInfo?.state).to.equal('CALLBACK_FAIL');
    expect(face.gateway.last('ListFailedRuns').selector).to.deep.include({
      count: 10,
      filter: { workflowUrl: [WORKFLOW, PARTY], fromMs: 5, label: ['l'] },
    });
    face.gateway.answer('DeleteFailedRuns', { type: 'DlqDeleted', count: 1, after: undefined });
    expect((await client.dlq.delete('5-1')).deleted).to.equal(1);
    expect((await client.dlq.delete({ all: true })).cursor).to.equal(undefined);
    expect((await client.dlq.delete({ filter: { failureFunctionState: 'CALLBACK_FAIL' } })).deleted).to.equal(1);
  });

  it('are resumed and restarted, one or several, with other settings', async () => {
    face.gateway.answer('ResumeRuns', startedRuns());
    const options = { retries: 1, flowControl: { key: 'k', parallelism: 2, rate: 3, period: '1m' } } as const;
    const resumed = await client.dlq.resume(['5-1', '6-2'], options);
    expect(resumed.workflowRuns).to.deep.equal([STARTED]);
    expect(resumed.cursor).to.equal(undefined);
    expect(Object.fromEntries(face.gateway.last('ResumeRuns').overrides.headers)).to.deep.equal({
      'svc-retries': '1',
      'svc-flow-control-key': 'k',
      'svc-flow-control-value': 'parallelism=2, rate=3, period=1m',
    });
    face.gateway.answer('ResumeRuns', startedRuns('6-2'));
    expect((await client.dlq.restart({ all: true })).cursor).to.equal('6-2');
    expect(face.gateway.last('ResumeRuns')).to.include({ how: 'restart' });
    expect(await client.dlq.resume({ dlqId: '5-1' })).to.deep.equal(STARTED);
  });

  it('have their failure functions called again', async () => {
    face.gateway.answer('RunFailureFunction', startedRuns());
    expect(await client.dlq.retryFailureFunction({ dlqId: '5-1' })).to.deep.equal(STARTED);
    const refusal: QueueReply = { type: 'Rejected', reason: 'INVALID', message: 'it has not failed' };
    face.gateway.answer('RunFailureFunction', refusal);
    const status = await client.dlq.retryFailureFunction({ dlqId: '5-1' }).catch((error) => error.status);
    expect(status).to.equal(400);
  });
});
