/** The published workflow client, unmodified: its requests for logs. */
import { Client } from '@upstash/workflow';
import { expect } from 'chai';
import type { RunId } from '../../../src/kernel/index.js';
import type { LoggedRun } from '../../../src/ports/index.js';
import { QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://app.example/flow';

const run: LoggedRun = {
  runId: 'wfr_1' as RunId,
  url: URL,
  createdAtMs: 5,
  labels: [],
  callerIp: '',
  isAlias: true,
  state: 'RUN_STARTED',
  endedAtMs: undefined,
  response: undefined,
  flowControlKey: undefined,
  dlqId: undefined,
  invoker: undefined,
  failureFunction: undefined,
  groups: [],
};

describe('edge/queue: logs of runs, with the npm workflow client', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  it('sends its filters, and ends with the last page', async () => {
    face.runLog.page = { runs: [run], cursor: '5-6' };
    const client = new Client({ baseUrl: face.url, token: QUEUE_TOKEN });
    const { runs, cursor } = await client.logs({
      cursor: '9-9',
      count: 2,
      filter: {
        workflowRunId: 'wfr_1',
        workflowCreatedAt: 5,
        workflowUrl: [URL, 'https://b.example/'],
        label: ['one', 'two'],
        fromDate: new Date(7),
        state: 'RUN_STARTED',
      },
    });
    expect([runs[0]?.workflowRunId, cursor]).to.deep.equal(['wfr_1', '5-6']);
    expect(face.runLog.queries.at(-1)).to.deep.equal({
      filter: {
        runs: [{ runId: 'wfr_1', createdAtMs: 5 }],
        createdAtMs: 5,
        url: [URL, 'https://b.example/'],
        label: ['one', 'two'],
        fromMs: 7,
      },
      states: ['RUN_STARTED'],
      stepStates: [],
      count: 2,
      cursor: '9-9',
      trimBytes: undefined,
    });
    face.runLog.page = { runs: [], cursor: undefined };
    expect(await client.logs()).to.deep.equal({ runs: [] });
  });
});
