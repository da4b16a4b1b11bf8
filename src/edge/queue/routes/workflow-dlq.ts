/**
 * `/v2/workflows/dlq`: lists, deletes, resumes and restarts failed runs; and repeats or cancels their failure
 * functions.
 */

import {
  type HiddenParts,
  MAX_DLQ_COUNT,
  type QueueCommand,
  type QueueReplyOf,
  trimmedBody,
} from '../../../domain/queue/index.js';
import { type FailedRunSelector, type FailedRunView, newRunId } from '../../../domain/queue/runs/index.js';
import type { DlqId } from '../../../kernel/index.js';
import { notFound } from '../../error-map.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { DONE_ANSWER, shows } from '../answer-schemas.js';
import { filterBody, filterParameters } from '../call-parameters.js';
import { answerCounts } from '../counts-answer.js';
import { settingsOf } from '../publish-items.js';
import { endOfPage, only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { RUN_PAGE_BYTES } from '../queue-limits.js';
import { workflowDlqRecord } from '../records/workflow-dlq-record.js';
import { nameRecord } from '../records/workflow-run-record.js';
import {
  bulkRuns,
  chosenRunId,
  countedRuns,
  listedRuns,
  OF_BULK,
  OF_COUNTS,
  OF_LIST,
  oneRun,
  overridesOf,
} from '../requests/workflow-dlq-request.js';

/** Default number of runs that one call resumes or restarts. */
const TAKEN_UP_AT_ONCE = 50;

export const WORKFLOW_DLQ_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/workflows/dlq', {
    summary: 'Lists failed runs.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: shows('FailedRunPage'),
    handle: listFailedRuns,
  }),

  queueRoute('GET /v2/workflows/dlq/counts', {
    summary: 'Counts the failed runs that a filter meets, by the status of their last answer.',
    permission: 'read',
    parameters: filterParameters(OF_COUNTS),
    answer: shows('Counts'),
    async handle(call) {
      const { counts } = await call.ask({ type: 'CountFailedRuns', filter: countedRuns(call) }, 'FailedRunCounts');
      await answerCounts(call, { counts: Object.fromEntries(counts), isWhole: true });
    },
  }),

  queueRoute('GET /v2/workflows/dlq/:id', {
    summary: 'Shows a failed run.',
    permission: 'read',
    answer: shows('FailedRun'),
    async handle(call, { path: { id } }) {
      const { runs } = await call.ask({ type: 'GetFailedRun', dlqId: id as DlqId }, 'FailedRuns');
      call.value(200, recordOf(call, only(runs)));
    },
  }),

  queueRoute('DELETE /v2/workflows/dlq', {
    summary: 'Deletes failed runs.',
    permission: 'change',
    parameters: filterParameters(OF_BULK),
    bodyShape: filterBody(OF_BULK),
    example: { workflowUrl: 'https://example.com/api/orders' },
    answer: shows('DlqDeleted'),
    async handle(call) {
      const selector = bulkRuns(call, MAX_DLQ_COUNT);
      const { count, after } = await call.ask({ type: 'DeleteFailedRuns', selector }, 'DlqDeleted');
      call.value(200, { deleted: count, cursor: after });
    },
  }),

  queueRoute('DELETE /v2/workflows/dlq/:id', {
    // A published client uses this path.
    alsoPaths: ['/v2/workflows/dlq/delete/:id'],
    summary: 'Deletes a failed run.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path: { id } }) {
      const selector = { kind: 'ids', dlqIds: [id as DlqId] } as const;
      const { count } = await call.ask({ type: 'DeleteFailedRuns', selector }, 'DlqDeleted');
      if (count === 0) throw new RefusedRequest(notFound(`dlq message ${id}`));
      call.done();
    },
  }),

  ...takingUp('resume', 'Resumes failed runs where they stopped.', 'Resumes a failed run where it stopped.'),
  ...takingUp('restart', 'Starts failed runs from the beginning.', 'Starts a failed run from the beginning.'),

  queueRoute('POST /v2/workflows/dlq/callback/:id', {
    summary: 'Calls the failure function of a failed run again.',
    permission: 'change',
    answer: shows('RunName'),
    async handle(call, { path: { id } }) {
      const messageId = call.newMessageId();
      const command = { type: 'RunFailureFunction', dlqId: id as DlqId, messageId } as const;
      const { runs } = await call.ask(command, 'RunsStarted');
      call.value(200, nameRecord(only(runs)));
    },
  }),

  // Answers 200 instead of a redirect: the redirect has no target, and clients that check only the status would take
  // it as a failure.
  queueRoute('DELETE /v2/workflows/dlq/callback/:id', {
    summary: 'Stops the failure function of a failed run.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path: { id } }) {
      await call.ask({ type: 'CancelFailureFunction', dlqId: id as DlqId }, 'Done');
      call.done();
    },
  }),
];

function takingUp(how: 'resume' | 'restart', summary: string, summaryOfOne: string): QueueRoute[] {
  return [
    queueRoute(`POST /v2/workflows/dlq/${how}`, {
      summary,
      permission: 'change',
      parameters: filterParameters(OF_BULK),
      bodyShape: filterBody(OF_BULK),
      example: { workflowUrl: 'https://example.com/api/orders', count: 10 },
      answer: shows('ResumedRuns'),
      async handle(call) {
        const { runs, after } = await continueRuns(call, how, bulkRuns(call, TAKEN_UP_AT_ONCE));
        // Clients stop paging at an empty cursor.
        call.value(200, { workflowRuns: runs.map(nameRecord), cursor: after ?? '' });
      },
    }),
    queueRoute(`POST /v2/workflows/dlq/${how}/:id`, {
      summary: summaryOfOne,
      permission: 'change',
      answer: shows('RunName'),
      async handle(call, { path: { id = '' } }) {
        const { runs } = await continueRuns(call, how, oneRun(id)).catch((failure) => refusePlain(call, id, failure));
        const [run] = runs;
        if (run === undefined) throw new RefusedRequest(notFound(`dlq message ${id}`));
        call.value(200, nameRecord(run));
      },
    }),
  ];
}

/** Asks the owner, which has all members, in as many requests as its answers need. */
export async function listFailedRuns(call: QueueCall): Promise<void> {
  const { selector, trimBytes } = listedRuns(call);
  await call.pieces(listed(call, selector, trimBytes));
}

async function* listed(
  call: QueueCall,
  asked: FailedRunSelector,
  trimBytes: number | undefined,
): AsyncIterable<string> {
  let left: FailedRunSelector | undefined = asked;
  let after: DlqId | undefined;
  let separator = '';
  yield '{"messages":[';
  while (left !== undefined) {
    const command: QueueCommand = { type: 'ListFailedRuns', selector: left, maxBytes: RUN_PAGE_BYTES };
    const page: QueueReplyOf<'FailedRuns'> = await call.ask(command, 'FailedRuns');
    for (const view of page.runs) {
      yield `${separator}${JSON.stringify(recordOf(call, trimmed(view, trimBytes)))}`;
      separator = ',';
    }
    after = page.after;
    left = after === undefined ? undefined : behind(left, after, page.runs.length);
  }
  yield endOfPage(after);
}

/** The selection after `after`; undefined: the page is complete. */
function behind(selector: FailedRunSelector, after: DlqId, shown: number): FailedRunSelector | undefined {
  if (selector.kind === 'ids') {
    return { kind: 'ids', dlqIds: selector.dlqIds.slice(selector.dlqIds.indexOf(after) + 1) };
  }
  return shown < selector.count ? { ...selector, after, count: selector.count - shown } : undefined;
}

/** The call's configuration overrides that of the runs. */
async function continueRuns(call: QueueCall, how: 'resume' | 'restart', selector: FailedRunSelector) {
  const overrides = overridesOf(call);
  settingsOf(call, overrides, 'retry', {});
  const isOne = selector.kind === 'ids' && selector.dlqIds.length === 1;
  const firstRunId = (isOne ? chosenRunId(call) : undefined) ?? newRunId(call.endpoint.parts.random);
  const firstId = call.newMessageId();
  return await call.ask({ type: 'ResumeRuns', how, selector, firstRunId, firstId, overrides }, 'RunsStarted');
}

/** Distinguishes a plain message's DLQ entry from an unknown id. */
async function refusePlain(call: QueueCall, id: string, failure: unknown): Promise<never> {
  if (!(failure instanceof RefusedRequest) || failure.refusal.status !== 404) throw failure;
  await call.ask({ type: 'GetDlq', dlqId: id as DlqId }, 'Dlq');
  throw invalid(`dlq message ${id} is not of a workflow`);
}

function recordOf(call: QueueCall, view: FailedRunView) {
  return workflowDlqRecord(view, call.spellingFor(view.envelope.isAlias));
}

function trimmed(view: FailedRunView, trimBytes: number | undefined): FailedRunView {
  const { payloadContent, responseContent, failureFunctionContent, envelope } = view;
  const cut = (content: Uint8Array | undefined, redaction?: HiddenParts) =>
    content && trimmedBody(content, redaction, trimBytes);
  return {
    ...view,
    payloadContent: cut(payloadContent, envelope.settings.redact),
    responseContent: cut(responseContent, envelope.settings.redact?.response),
    failureFunctionContent: cut(failureFunctionContent),
  };
}
