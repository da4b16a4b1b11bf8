/** Which failed runs a list or a bulk call means, and what a call that takes them up again puts over their settings. */
import { MAX_DLQ_COUNT, type RawSettings } from '../../../domain/queue/index.js';
import {
  FAILURE_FUNCTION_STATES,
  type FailedRunFilter,
  type FailedRunSelector,
  type FailureFunctionState,
} from '../../../domain/queue/runs/index.js';
import type { DlqId, RunId } from '../../../kernel/index.js';
import { invalid } from '../../http/refused.js';
import {
  bulkParameters,
  CURSOR,
  given,
  isGrouped,
  numbersOf,
  type Parameters,
  periodOf,
  queryParameters,
  textsOf,
  trimOf,
  unlessNone,
  urlsWanted,
} from '../call-filters.js';
import type { QueueCall } from '../queue-call.js';
import { checkedRunId, RUN_ID } from '../run-names.js';
import { dlqPage } from './dlq-page.js';

export const OF_COUNTS: ReadonlySet<string> = new Set([
  'fromDate',
  'toDate',
  'workflowUrl',
  'workflowRunId',
  'workflowCreatedAt',
  'label',
  'callerIp',
  'callerIP',
  'flowControlKey',
  'failureFunctionState',
  'url',
  'responseStatus',
]);
export const OF_BULK: ReadonlySet<string> = new Set([...OF_COUNTS, 'dlqIds', 'cursor', 'count', 'order']);
export const OF_LIST: ReadonlySet<string> = new Set([
  ...OF_BULK,
  'source',
  'failureCallbackState',
  'groupBy',
  'trimBody',
]);

/** What a call may say of the new run. Everything else is as the failed run had it; a delay is waited for once. */
const OVERRIDES: ReadonlySet<string> = new Set([
  'svc-retries',
  'svc-retry-delay',
  'svc-delay',
  'svc-flow-control-key',
  'svc-flow-control-value',
  'svc-label',
  'svc-failure-callback',
]);

/** @returns which runs, and how many bytes of each body are wanted; undefined: all. @throws Refused 400 */
export function listedRuns(call: QueueCall): {
  readonly selector: FailedRunSelector;
  readonly trimBytes: number | undefined;
} {
  const parameters = queryParameters(call.words.rest, OF_LIST);
  // An entry is all that there is of its run: it is grouped so or so.
  isGrouped(parameters, 'workflowRunId');
  return { selector: dlqPage(parameters, MAX_DLQ_COUNT, filterOf), trimBytes: trimOf(parameters) };
}

/** @throws Refused 400 */
export function countedRuns(call: QueueCall): FailedRunFilter {
  return filterOf(queryParameters(call.words.rest, OF_COUNTS));
}

/** @param usual runs of a page, where the call does not say. @throws Refused 400 */
export function bulkRuns(call: QueueCall, usual: number): FailedRunSelector {
  return dlqPage(bulkParameters(call, OF_BULK, 'dlq'), usual, filterOf);
}

/** @throws Refused 400 for what is no id */
export function oneRun(id: string): FailedRunSelector {
  if (!CURSOR.test(id)) throw invalid('the dlq id is not one of ours');
  return { kind: 'ids', dlqIds: [id as DlqId] };
}

export function overridesOf({ words }: QueueCall): RawSettings {
  const named = ([name]: readonly [string, string]) => OVERRIDES.has(name);
  return { headers: words.configuration.filter(named), query: words.query.filter(named) };
}

/** The new run's, where the call chooses it. @throws Refused 400 */
export function chosenRunId({ words }: QueueCall): RunId | undefined {
  const text = words.configuration.find(([name]) => name === RUN_ID)?.[1].trim();
  return text === undefined || text === '' ? undefined : checkedRunId(text);
}

function filterOf(parameters: Parameters): FailedRunFilter {
  const texts = (...names: readonly string[]) => unlessNone(names.flatMap((name) => textsOf(parameters, name) ?? []));
  const urls = (name: string) => unlessNone(urlsWanted(texts(name) ?? []));
  return given<FailedRunFilter>({
    workflowUrl: urls('workflowUrl'),
    runId: texts('workflowRunId'),
    createdAtMs: numbersOf(parameters, 'workflowCreatedAt'),
    label: texts('label'),
    flowControlKey: texts('flowControlKey'),
    callerIp: texts('callerIp', 'callerIP'),
    failureFunctionState: texts('failureFunctionState', 'failureCallbackState')?.map(functionState),
    url: urls('url'),
    responseStatus: numbersOf(parameters, 'responseStatus'),
    ...periodOf(parameters),
  });
}

function functionState(text: string): FailureFunctionState {
  const state = FAILURE_FUNCTION_STATES.find((each) => each === text);
  if (state === undefined) throw invalid(`failureFunctionState must be one of ${FAILURE_FUNCTION_STATES.join(', ')}`);
  return state;
}
