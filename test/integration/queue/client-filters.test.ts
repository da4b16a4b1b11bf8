/**
 * Every filter that the published clients declare, sent by them to a real process: each is accepted and applied. A
 * filter that does not match finds no message, and all matching filters together find the message.
 */
import { Client as WorkflowClient } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { QUEUE_TOKEN, QueueProcess } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

type Filter = Record<string, unknown>;

const FAR_FUTURE = new Date(Date.now() + 1e9);
const OTHER_URL = 'https://other.example/other';
const UNIVERSAL: Filter = {
  fromDate: FAR_FUTURE,
  toDate: 1,
  callerIp: ['203.0.113.9', '203.0.113.10'],
  label: ['other', 'another'],
  flowControlKey: ['other', 'another'],
};
const IDENTITY: Filter = {
  url: [OTHER_URL, `${OTHER_URL}/2`],
  urlGroup: ['other', 'another'],
  scheduleId: ['other', 'another'],
  queueName: ['other', 'another'],
};
const HOST_AND_PATH: Filter = { host: ['other.example', 'another.example'], path: ['/other', '/another'] };
const ALL = 'every filter that matches';

describe('published clients on a real process: filters', function () {
  this.timeout(120_000);
  const queue = standOfAllTests(() => QueueProcess.start());
  let workflow: WorkflowClient;
  let matching: Filter;
  let ofRun: Filter;
  let ofFailedRun: Filter;

  before(async () => {
    const { client, sink } = queue;
    workflow = new WorkflowClient({ baseUrl: queue.url, token: QUEUE_TOKEN });
    const failing = '/failing';
    sink.answer(failing, { status: 503, body: 'no' });
    const settings = { retries: 0, label: 'ours', flowControl: { key: 'ours', parallelism: 5 } } as const;
    await client.publish({ ...settings, url: sink.url('/later'), delay: '1h', body: 'later' });
    await client.publish({ ...settings, url: sink.url(failing), body: 'now' });
    await workflow.trigger({ ...settings, url: sink.url('/waiting-run'), workflowRunId: 'waiting', delay: '1h' });
    await workflow.trigger({ ...settings, url: sink.url(failing), workflowRunId: 'failed' });
    const [entry, failedRun] = await eventually(async () => {
      const { messages } = await client.dlq.listMessages();
      const { messages: runs } = await workflow.dlq.list();
      expect([messages.length, runs.length]).to.deep.equal([1, 1]);
      return [messages[0], runs[0]];
    });
    const universal = {
      fromDate: new Date(1),
      toDate: FAR_FUTURE,
      callerIp: '127.0.0.1',
      label: 'ours',
      flowControlKey: 'ours',
    };
    matching = { ...universal, url: sink.url('/later'), host: new URL(sink.url('/')).host, path: '/later' };
    ofRun = { ...universal, workflowUrl: sink.url('/waiting-run'), host: matching.host, path: '/waiting-run' };
    ofFailedRun = {
      ...universal,
      workflowUrl: sink.url(failing),
      workflowRunId: 'wfr_failed',
      workflowCreatedAt: failedRun?.workflowCreatedAt,
      responseStatus: 503,
    };
    expect(entry).to.include({ responseStatus: 503, callerIP: '127.0.0.1' });
  });

  /** The number that a call with one filter found. */
  async function ignored(filters: Filter, found: (filter: Filter) => Promise<number>): Promise<string[]> {
    const names: string[] = [];
    for (const [name, value] of Object.entries(filters)) {
      if ((await found({ [name]: value })) !== 0) names.push(name);
    }
    return names;
  }

  it('DELETE /v2/messages of the queue client applies each filter', async () => {
    const cancelled = async (filter: Filter) =>
      (await queue.client.messages.cancel({ filter } as never)) as unknown as { cancelled: number };
    const none = { ...UNIVERSAL, ...IDENTITY, ...HOST_AND_PATH };
    expect(await ignored(none, async (filter) => (await cancelled(filter)).cancelled)).to.deep.equal([]);
    expect(await cancelled(matching), ALL).to.deep.equal({ cancelled: 1 });
  });

  it('DELETE /v2/messages with count=100 cancels all 250 messages of a filter, and of all', async () => {
    const { client, sink } = queue;
    for (const label of ['many', 'rest']) {
      const message = { url: sink.url('/later'), delay: '1h', label, body: 'x' } as const;
      await client.batch(Array.from({ length: 250 }, () => message));
    }
    expect(await client.messages.cancel({ filter: { label: 'many' } })).to.deep.equal({ cancelled: 250 });
    expect(await client.messages.cancel({ all: true, count: 7 })).to.deep.equal({ cancelled: 250 });
  });

  it('GET /v2/events and GET, DELETE and retry of /v2/dlq of the queue client apply each filter', async () => {
    const { client } = queue;
    const universal = { ...UNIVERSAL, ...IDENTITY };
    const logged = async (filter: Filter) => (await client.logs({ filter } as never)).logs.length;
    const ofLogs = { ...universal, ...HOST_AND_PATH, messageId: 'msg_other', state: 'CANCEL_REQUESTED' };
    const { state, ...others } = ofLogs;
    expect(await ignored(others, logged)).to.deep.equal([]);
    expect(await logged({ ...matching, state })).to.equal(1);
    const ofDlq = { ...universal, responseStatus: [299, 298] };
    const failed = { ...matching, url: queue.sink.url('/failing'), responseStatus: [503, 299] };
    const { host: _, path: __, ...inDlq } = failed as Filter;
    const listed = async (filter: Filter) => (await client.dlq.listMessages({ filter } as never)).messages.length;
    expect(await ignored({ ...ofDlq, messageId: 'msg_other' }, listed)).to.deep.equal([]);
    expect(await listed(inDlq), ALL).to.equal(1);
    const retried = async (filter: Filter) => (await client.dlq.retry({ filter } as never)).responses.length;
    expect(await ignored(ofDlq, retried)).to.deep.equal([]);
    const deleted = async (filter: Filter) => (await client.dlq.delete({ filter } as never)).deleted;
    expect(await ignored(ofDlq, deleted)).to.deep.equal([]);
    expect(await deleted(inDlq), ALL).to.equal(1);
  });

  it('DELETE /v2/workflows/runs of the workflow client applies each filter', async () => {
    const cancelled = async (filter: Filter) => (await workflow.cancel({ filter } as never)).cancelled;
    const none = { ...UNIVERSAL, ...HOST_AND_PATH, workflowUrl: [OTHER_URL], workflowUrlStartingWith: [OTHER_URL] };
    expect(await ignored(none, cancelled)).to.deep.equal([]);
    const { workflowUrl, ...others } = ofRun;
    expect(await cancelled({ ...others, workflowUrlStartingWith: `${workflowUrl}-not-this` })).to.equal(0);
    expect(await cancelled(ofRun), ALL).to.equal(1);
  });

  it('GET /v2/workflows/events and the DLQ of the workflow client apply each filter', async () => {
    const logged = async (filter: Filter) => (await workflow.logs({ filter } as never)).runs.length;
    const run = { workflowUrl: [OTHER_URL], workflowRunId: 'wfr_other', workflowCreatedAt: 1 };
    const none = { ...UNIVERSAL, ...HOST_AND_PATH, ...run, state: 'RUN_SUCCESS', messageId: 'msg_other' };
    expect(await ignored(none, logged)).to.deep.equal([]);
    expect(await logged({ ...ofRun, state: 'RUN_CANCELED' }), ALL).to.equal(1);
    const ofDlq = { ...UNIVERSAL, ...run, failureFunctionState: 'CALLBACK_CANCELED' };
    const listed = async (filter: Filter) => (await workflow.dlq.list({ filter } as never)).messages.length;
    const listedOnly = { url: OTHER_URL, responseStatus: 299 };
    expect(await ignored({ ...ofDlq, ...listedOnly }, listed)).to.deep.equal([]);
    expect(await listed(ofFailedRun), ALL).to.equal(1);
    for (const verb of ['resume', 'restart'] as const) {
      const started = async (filter: Filter) => (await workflow.dlq[verb]({ filter } as never)).workflowRuns.length;
      expect(await ignored(ofDlq, started), verb).to.deep.equal([]);
    }
    const deleted = async (filter: Filter) => (await workflow.dlq.delete({ filter } as never)).deleted;
    expect(await ignored(ofDlq, deleted)).to.deep.equal([]);
    const { responseStatus: _, ...ofAction } = ofFailedRun;
    expect(await deleted(ofAction), ALL).to.equal(1);
  });
});
