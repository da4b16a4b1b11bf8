/** `/v2/workflows/runs`: the entries of a run, for its endpoint; and cancelling one or many runs. */

import {
  DEFAULT_CANCEL_COUNT,
  type EntryView,
  MAX_CANCEL_RUNS,
  type RunFilter,
  type RunSelector,
} from '../../../domain/queue/runs/index.js';
import { assert, type RunId } from '../../../kernel/index.js';
import { notFound } from '../../error-map.js';
import { anyBody } from '../../http/body-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { base64 } from '../../records/record-parts.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import {
  bulkParameters,
  countOf,
  flagOf,
  given,
  type Parameters,
  periodOf,
  queryParameters,
  single,
  textsOf,
  unlessNone,
  urlsWanted,
  valuesOf,
} from '../call-filters.js';
import { filterBody, filterParameters } from '../call-parameters.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { BASE64_SLICE_BYTES, MAX_CALL_IDS, RUN_PAGE_BYTES } from '../queue-limits.js';
import { runIdInPath } from '../run-names.js';
import { takeForTrial } from '../trial-requests.js';

const RUNS = '/v2/workflows/runs';

const OF_END: ReadonlySet<string> = new Set(['cancel']);
const OF_BULK: ReadonlySet<string> = new Set([
  'workflowRunIds',
  'workflowUrl',
  'workflowUrlExactMatch',
  'fromDate',
  'toDate',
  'label',
  'flowControlKey',
  'callerIp',
  'callerIP',
  'host',
  'path',
  'count',
  // Clients send it; each call checks all runs from the start.
  'cursor',
]);

export const WORKFLOW_RUN_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/workflows/runs/*id', {
    summary: 'Shows the steps of a run.',
    permission: 'read',
    boundBy: 'run',
    answer: lists('RunEntry'),
    handle: (call) => call.pieces(entriesOf(call, runIdIn(call))),
  }),

  queueRoute('DELETE /v2/workflows/runs/*id', {
    summary: 'Cancels a run.',
    permission: 'change',
    bodyBound: 'message',
    boundBy: 'run',
    parameters: filterParameters(OF_END),
    bodyShape: anyBody('The result of the run, with cancel=false.'),
    example: { total: 42 },
    answer: DONE_ANSWER,
    async handle(call) {
      const runId = runIdIn(call);
      const cancel = single(queryParameters(call.words.rest, OF_END), 'cancel') ?? 'true';
      if (cancel !== 'true' && cancel !== 'false') throw invalid('cancel must be true or false');
      const isFinished = cancel === 'false';
      const response = isFinished && call.body.length > 0 ? call.body : undefined;
      const kind = isFinished ? 'end' : 'cancel';
      const taken = await takeForTrial(call, runId, { kind, steps: [], url: undefined });
      if (!taken) await call.ask({ type: 'EndRun', runId, how: isFinished ? 'finish' : 'cancel', response }, 'Done');
      call.done();
    },
  }),

  queueRoute('DELETE /v2/workflows/runs', {
    summary: 'Cancels runs.',
    permission: 'change',
    parameters: filterParameters(OF_BULK),
    bodyShape: filterBody(OF_BULK),
    example: { workflowUrl: 'https://example.com/api/orders' },
    answer: shows('Cancelled'),
    async handle(call) {
      const selector = selectorOf(bulkParameters(call, OF_BULK, 'workflow run'));
      const { count } = await call.ask({ type: 'CancelRuns', selector }, 'Cancelled');
      call.value(200, { cancelled: count });
    },
  }),
];

/** Read page by page: entries are only appended, so pages of different times form one list. */
async function* entriesOf(call: QueueCall, runId: RunId): AsyncGenerator<string> {
  let from: number | undefined = 0;
  let createdAtMs: number | undefined;
  yield '[';
  while (from !== undefined) {
    const page: Awaited<ReturnType<typeof pageOf>> = await pageOf(call, runId, from);
    // The run has ended, and another one has its id.
    if (createdAtMs !== undefined && page.run.createdAtMs !== createdAtMs) {
      throw new RefusedRequest(notFound(`workflowRun ${runId}`));
    }
    createdAtMs = page.run.createdAtMs;
    for (const entry of page.entries) {
      if (from > 0) yield ',';
      yield* entryJson(entry);
      from += 1;
    }
    from = page.nextFrom;
  }
  yield ']';
}

function pageOf(call: QueueCall, runId: RunId, from: number) {
  return call.ask({ type: 'GetRun', runId, from, maxBytes: RUN_PAGE_BYTES }, 'Run');
}

/** In pieces, because entries may have megabytes. */
function* entryJson({ messageId, body, content }: EntryView): Generator<string> {
  assert(content !== undefined || body.bytes === 0, 'an entry of a run without its body', { messageId });
  const before = `{"messageId":"${messageId}","body":"`;
  const after = '","callType":"step"}';
  if (content === undefined || content.byteLength <= BASE64_SLICE_BYTES) {
    yield `${before}${content === undefined ? '' : base64(content)}${after}`;
    return;
  }
  yield before;
  for (let from = 0; from < content.byteLength; from += BASE64_SLICE_BYTES) {
    yield base64(content.subarray(from, from + BASE64_SLICE_BYTES));
  }
  yield after;
}

function runIdIn({ path }: QueueCall): RunId {
  return runIdInPath(path.slice(RUNS.length + 1));
}

function selectorOf(parameters: Parameters): RunSelector {
  const runIds = valuesOf(parameters, 'workflowRunIds', MAX_CALL_IDS) as RunId[];
  if (runIds.length > 0) return { kind: 'ids', runIds: [...new Set(runIds)] };
  const count = countOf(parameters, MAX_CANCEL_RUNS) ?? DEFAULT_CANCEL_COUNT;
  return { kind: 'filter', filter: filterOf(parameters), count };
}

function filterOf(parameters: Parameters): RunFilter {
  const url = textsOf(parameters, 'workflowUrl');
  return given<RunFilter>({
    url: url && urlsWanted(url),
    isUrlExact: url && flagOf(parameters, 'workflowUrlExactMatch'),
    label: textsOf(parameters, 'label'),
    flowControlKey: textsOf(parameters, 'flowControlKey'),
    callerIp: unlessNone(['callerIp', 'callerIP'].flatMap((name) => textsOf(parameters, name) ?? [])),
    host: textsOf(parameters, 'host'),
    path: textsOf(parameters, 'path'),
    ...periodOf(parameters),
  });
}
