/** Failed runs in an owner's lists, and the owner's answers to commands about them. */
import type { Envelope, QueueReply } from '../../src/domain/queue/index.js';
import type { FailedRunView } from '../../src/domain/queue/runs/index.js';
import type { MessageId, RunId } from '../../src/kernel/index.js';
import { PLAIN_ENVELOPE } from './plain-delivery.js';
import { parse } from './queue-settings.js';

export const DLQ = '/v2/workflows/dlq';
export const WORKFLOW = 'https://app.example/flow';
export const PARTY = 'https://party.example/';
const MARK = { detectsTrigger: true, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: true };
export const NOT_FOUND: QueueReply = { type: 'Rejected', reason: 'NOT_FOUND', message: 'some messages were not found' };

export function envelope(headers: Record<string, string> = {}, url = WORKFLOW, isAlias = false): Envelope {
  return { ...PLAIN_ENVELOPE, url, isAlias, settings: parse(headers).settings, workflow: MARK };
}

export function failedRun(changes: Partial<FailedRunView> = {}, dlqId = '5-1'): FailedRunView {
  return {
    entry: {
      dlqId: dlqId as never,
      messageId: 'msg_1' as never,
      envelope: { ...envelope(), settings: parse({ 'svc-retries': '2' }).settings },
      body: { number: 2, bytes: 3 },
      createdAtMs: 200,
      notBeforeMs: 210,
      failedAtMs: 300,
      retried: 2,
      response: { status: 500, header: [['X-A', '1']], body: { number: 3, bytes: 2 }, error: 'HTTP status 500' },
    },
    runId: 'wfr_1' as RunId,
    runCreatedAtMs: 100,
    envelope: envelope(),
    payload: { number: 1, bytes: 7 },
    payloadContent: Buffer.from('payload'),
    responseContent: Buffer.from('no'),
    failureFunction: undefined,
    failureFunctionContent: undefined,
    ...changes,
  };
}

export const failureFunction = {
  state: 'CALLBACK_FAIL',
  messageId: 'msg_2' as MessageId,
  url: WORKFLOW,
  status: 503,
  header: [['X-B', '2']],
  body: { number: 4, bytes: 4 },
  request: { number: 5, bytes: 5 },
} as const;

export const page = (...runs: FailedRunView[]): QueueReply => ({ type: 'FailedRuns', runs, after: undefined });
export const startedRuns = (after?: string): QueueReply => ({
  type: 'RunsStarted',
  runs: [{ runId: 'wfr_2' as RunId, createdAtMs: 400 }],
  after: after as never,
});
export const STARTED = { workflowRunId: 'wfr_2', workflowCreatedAt: 400 };
