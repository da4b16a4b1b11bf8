/**
 * `/v2/workflows/logs` and `/v2/workflows/events`: runs with their steps (also in the second, if grouped by run), or
 * single events of runs.
 */

import { RUN_STATES, type RunState } from '../../../domain/queue/runs/index.js';
import type { RunId } from '../../../kernel/index.js';
import { MESSAGE_STATES, type RunLogFilter, STEP_STATES, type StepState } from '../../../ports/index.js';
import { invalid } from '../../http/refused.js';
import { shows } from '../answer-schemas.js';
import {
  countOf,
  cursorOf,
  filterOf,
  given,
  isGrouped,
  orderOf,
  type Parameters,
  queryParameters,
  single,
  statesIn,
  trimOf,
  URL_SEPARATOR,
  unlessNone,
  urlsWanted,
  valuesOf,
  wholeNumber,
  wordsForStates,
} from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { answerCounts } from '../counts-answer.js';
import { endOfPage, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { MAX_CALL_FILTER_VALUES, MAX_CALL_IDS, MAX_EVENT_COUNT } from '../queue-limits.js';
import { runEventRecord, runRecord } from '../records/workflow-run-record.js';

const PARAMETERS: ReadonlySet<string> = new Set([
  'groupBy',
  'cursor',
  'count',
  'workflowRunId',
  'workflowCreatedAt',
  'workflowRuns',
  'workflowUrl',
  'host',
  'path',
  'state',
  'label',
  'flowControlKey',
  'callerIp',
  'messageId',
  'fromDate',
  'toDate',
  'trimBody',
  'order',
]);
const NOT_RUN_FILTERS = ['groupBy', 'cursor', 'count', 'state', 'trimBody', 'order'];
export const RUN_FILTERS: ReadonlySet<string> = new Set(
  [...PARAMETERS].filter((name) => !NOT_RUN_FILTERS.includes(name)),
);
const BY_RUN = 'workflowRunId';
/** Runs of one page, unless it ends earlier by the size of its runs. */
const DEFAULT_RUN_COUNT = 10;
const MAX_RUN_COUNT = 50;

const EVENT_STATES = wordsForStates([...RUN_STATES, ...MESSAGE_STATES, 'WAITER_ADDED', 'INVOKED']);

export const WORKFLOW_LOG_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/workflows/logs', {
    summary: 'Lists workflow runs, newest first.',
    permission: 'read',
    parameters: filterParameters(PARAMETERS),
    answer: shows('RunPage'),
    handle: (call) => listRuns(call, parametersOf(call)),
  }),
  queueRoute('GET /v2/workflows/counts', {
    summary: 'Counts the workflow runs that a filter meets, by their state.',
    permission: 'read',
    parameters: filterParameters(RUN_FILTERS),
    answer: shows('Counts'),
    async handle(call) {
      const { filter } = runFilterOf(queryParameters(call.words.rest, RUN_FILTERS));
      const { runLog } = call.endpoint.parts;
      await answerCounts(call, await runLog.runCounts(call.grant.account, filter, await call.position()));
    },
  }),
  queueRoute('GET /v2/workflows/events', {
    summary: 'Lists the events of workflow runs.',
    permission: 'read',
    parameters: filterParameters(PARAMETERS),
    answer: shows('RunEventPage', 'RunPage'),
    handle: (call) => {
      const parameters = parametersOf(call);
      return isGrouped(parameters, BY_RUN) ? listRuns(call, parameters) : listEvents(call, parameters);
    },
  }),
];

async function listRuns(call: QueueCall, parameters: Parameters): Promise<void> {
  if (orderOf(parameters, 'latestFirst') !== 'latestFirst') throw invalid('runs are listed latestFirst');
  const { filter, others } = runFilterOf(parameters);
  const query = {
    filter,
    ...runStatesOf(others),
    count: countWithin(parameters, MAX_RUN_COUNT, DEFAULT_RUN_COUNT),
    cursor: cursorOf(parameters),
    trimBytes: trimOf(parameters),
  };
  const page = await call.endpoint.parts.runLog.runs(call.grant.account, query, await call.position());
  const { runs, cursor } = page;
  await call.list(['{"runs":[', endOfPage(cursor)], runs, (run) => runRecord(run, call.spellingFor(run.isAlias)), page);
}

async function listEvents(call: QueueCall, parameters: Parameters): Promise<void> {
  const { filter, others } = runFilterOf(parameters);
  const query = {
    filter,
    states: statesIn(others, EVENT_STATES),
    order: orderOf(parameters, 'latestFirst'),
    count: countWithin(parameters, MAX_EVENT_COUNT),
    cursor: cursorOf(parameters),
    trimBytes: trimOf(parameters),
  };
  const page = await call.endpoint.parts.runLog.runEvents(call.grant.account, query, await call.position());
  const { events, cursor } = page;
  const record = (event: (typeof events)[number]) => runEventRecord(event, call.spellingFor(event.isAlias));
  await call.list(['{"events":[', endOfPage(cursor)], events, record, page);
}

function parametersOf(call: QueueCall): Parameters {
  const parameters = queryParameters(call.words.rest, PARAMETERS);
  isGrouped(parameters, BY_RUN);
  return parameters;
}

/** @returns `others`: the other parameters; empty if complete run names are given */
export function runFilterOf(parameters: Parameters): { readonly filter: RunLogFilter; readonly others: Parameters } {
  const named = valuesOf(parameters, 'workflowRuns', MAX_CALL_IDS);
  if (named.length > 0) return { filter: { runs: named.map(runNamed) }, others: new Map() };
  const { host, path, label, flowControlKey, callerIp, messageId, fromMs, toMs } = filterOf(parameters);
  const url = (parameters.get('workflowUrl') ?? []).flatMap((text) => text.split(URL_SEPARATOR));
  if (url.length > MAX_CALL_FILTER_VALUES) throw invalid(`workflowUrl has more than ${MAX_CALL_FILTER_VALUES} values`);
  // Not split at commas: clients choose the ids, and may use commas.
  const runIds = (parameters.get('workflowRunId') ?? []) as readonly RunId[];
  if (runIds.length > MAX_CALL_FILTER_VALUES)
    throw invalid(`workflowRunId has more than ${MAX_CALL_FILTER_VALUES} values`);
  const created = single(parameters, 'workflowCreatedAt');
  const createdAtMs = created === undefined ? undefined : wholeNumber('workflowCreatedAt', created);
  const filter = given<RunLogFilter>({
    runs: unlessNone(runIds.map((runId) => ({ runId, createdAtMs }))),
    createdAtMs,
    url: unlessNone(urlsWanted(url)),
    ...{ host, path, label, flowControlKey, callerIp, messageId, fromMs, toMs },
  });
  return { filter, others: parameters };
}

/** `id@createdAt`: the id itself may contain an at sign. */
function runNamed(text: string) {
  const at = text.lastIndexOf('@');
  if (at <= 0) throw invalid('workflowRuns must be a list of id@createdAt');
  return { runId: text.slice(0, at) as RunId, createdAtMs: wholeNumber('workflowRuns', text.slice(at + 1)) };
}

export function runStatesOf(parameters: Parameters): { states: RunState[]; stepStates: StepState[] } {
  const words = new Set(valuesOf(parameters, 'state', MAX_CALL_FILTER_VALUES).map((word) => word.toUpperCase()));
  const states = RUN_STATES.filter((state) => words.delete(state));
  const stepStates = STEP_STATES.filter((state) => words.delete(state));
  for (const word of words) throw invalid(`unknown state ${word}`);
  return { states, stepStates };
}

/** Reduces a larger count to one page, with a cursor. */
function countWithin(parameters: Parameters, most: number, usual = most): number {
  return Math.min(countOf(parameters, Number.MAX_SAFE_INTEGER) ?? usual, most);
}
