/** Selects failed runs for a list or bulk call, and reads the settings that a resume or restart overrides. */
import { headerValue, MAX_DLQ_COUNT, type RawSettings } from '../../../domain/queue/index.js';
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
import { isSetting } from '../call-words.js';
import type { QueueCall } from '../queue-call.js';
import { newRunId, RUN_ID } from '../run-names.js';
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

/** Settings of the new run that a call may override; the others are the failed run's. A delay applies once. */
const OVERRIDES: ReadonlySet<string> = new Set([
  'svc-retries',
  'svc-retry-delay',
  'svc-delay',
  'svc-flow-control-key',
  'svc-flow-control-value',
  'svc-label',
  'svc-failure-callback',
]);

/** @returns the selection, and the bytes of each body to show; undefined: all. @throws Refused 400 */
export function listedRuns(call: QueueCall): {
  readonly selector: FailedRunSelector;
  readonly trimBytes: number | undefined;
} {
  const parameters = queryParameters(call.words.rest, OF_LIST);
  // Each run has one entry, so grouping changes nothing here.
  isGrouped(parameters, 'workflowRunId');
  return { selector: dlqPage(parameters, MAX_DLQ_COUNT, filterOf), trimBytes: trimOf(parameters) };
}

/** @throws Refused 400 */
export function countedRuns(call: QueueCall): FailedRunFilter {
  return filterOf(queryParameters(call.words.rest, OF_COUNTS));
}

/** @param usual default number of runs. @throws Refused 400 */
export function bulkRuns(call: QueueCall, usual: number): FailedRunSelector {
  return dlqPage(bulkParameters(call, OF_BULK, 'dlq'), usual, filterOf);
}

/** @throws Refused 400 for an invalid id */
export function oneRun(id: string): FailedRunSelector {
  if (!CURSOR.test(id)) throw invalid('the dlq id is invalid');
  return { kind: 'ids', dlqIds: [id as DlqId] };
}

/** @throws Refused 400 for an option without effect */
export function overridesOf({ words }: QueueCall): RawSettings {
  for (const [name] of [...words.configuration, ...words.query]) {
    if (isSetting(name) && !OVERRIDES.has(name)) throw invalid(`${name} is not an option of resume and restart`);
  }
  const named = ([name]: readonly [string, string]) => OVERRIDES.has(name);
  return { headers: words.configuration.filter(named), query: words.query.filter(named) };
}

/** The id of the new run, if the call chooses it. @throws Refused 400 */
export function chosenRunId({ words }: QueueCall): RunId | undefined {
  const text = headerValue(words.configuration, RUN_ID);
  return text === undefined || text === '' ? undefined : newRunId(text);
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
