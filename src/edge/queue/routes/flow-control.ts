/** `/v2/flowControl` and `/v2/globalParallelism`. A key may contain any character, even slashes. */

import {
  MAX_FLOW_KEY_BYTES,
  MAX_FLOW_PERIOD_SECONDS,
  parseDurationSeconds,
  parseWholeNumber,
} from '../../../domain/queue/index.js';
import { type ApiParameter, FLAG, queryParameter, WHOLE } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import { flagOf, queryParameters, single } from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { decodedName } from '../destination.js';
import { only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { flowRecord } from '../records/resource-records.js';

const KEYS = '/v2/flowControl/';
const OF_LIST: ReadonlySet<string> = new Set(['search']);
const OF_PIN: ReadonlySet<string> = new Set(['parallelism', 'rate', 'period']);
const OF_UNPIN: ReadonlySet<string> = new Set(['parallelism', 'rate']);

const PIN = [
  queryParameter('parallelism', 'The highest number of parallel attempts.', { ...WHOLE, minimum: 1 }),
  queryParameter('rate', 'Attempts that begin within a period.', { ...WHOLE, minimum: 1 }),
  queryParameter('period', 'A duration.'),
];
const UNPIN = [
  queryParameter('parallelism', 'True: the value of each message applies again.', FLAG),
  queryParameter('rate', 'True: rate and period of each message apply again.', FLAG),
];

export const FLOW_CONTROL_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/globalParallelism', {
    summary: 'Shows how many attempts are under way.',
    permission: 'read',
    answer: shows('GlobalParallelism'),
    async handle(call) {
      const { max, active } = await call.ask({ type: 'GetGlobalParallelism' }, 'GlobalParallelism');
      call.value(200, { parallelismMax: max, parallelismCount: active });
    },
  }),

  queueRoute('GET /v2/flowControl', {
    summary: 'Lists flow control keys.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: lists('FlowControl'),
    async handle(call) {
      const search = single(queryParameters(call.words.rest, OF_LIST), 'search');
      const { flows } = await call.ask({ type: 'ListFlows', search }, 'Flows');
      await call.list(['[', ']'], flows, flowRecord);
    },
  }),

  action('pause', 'Pauses the messages of a flow control key.', (call) => pause(call, true)),
  action('resume', 'Resumes the messages of a flow control key.', (call) => pause(call, false)),
  action('pin', 'Sets the limits of a flow control key; messages cannot override them.', pin, PIN),
  action('unpin', 'Removes the set limits of a flow control key; those of its messages apply again.', unpin, UNPIN),
  action('resetRate', 'Restarts the period of a flow control key.', (call) => reset(call, false)),
  action('reset', 'Resets the used rate of a flow control key.', (call) => reset(call, true)),
  queueRoute('GET /v2/flowControl/*key', {
    summary: 'Shows a flow control key.',
    permission: 'read',
    answer: shows('FlowControl'),
    async handle(call) {
      const { flows } = await call.ask({ type: 'GetFlow', key: keyIn(call) }, 'Flows');
      call.value(200, flowRecord(only(flows)));
    },
  }),
];

function action(
  name: string,
  summary: string,
  run: QueueRoute['handle'],
  parameters: readonly ApiParameter[] = [],
): QueueRoute {
  return queueRoute(`POST /v2/flowControl/*key/${name}`, {
    summary,
    permission: 'change',
    parameters,
    answer: DONE_ANSWER,
    async handle(call, input) {
      await run(call, input);
      call.done();
    },
  });
}

async function pause(call: QueueCall, isPaused: boolean): Promise<void> {
  await call.ask({ type: 'PauseFlow', key: keyBeforeAction(call), isPaused }, 'Done');
}

async function reset(call: QueueCall, all: boolean): Promise<void> {
  await call.ask({ type: 'ResetFlow', key: keyBeforeAction(call), all }, 'Done');
}

async function pin(call: QueueCall): Promise<void> {
  const parameters = queryParameters(call.words.rest, OF_PIN);
  const parallelism = positive('parallelism', single(parameters, 'parallelism'));
  const rate = positive('rate', single(parameters, 'rate'));
  const period = single(parameters, 'period');
  const periodSeconds = period === undefined ? undefined : parseDurationSeconds(period);
  if (period !== undefined && (periodSeconds === undefined || periodSeconds < 1)) {
    throw invalid('period must be a whole number of seconds, at least 1');
  }
  if (periodSeconds !== undefined && periodSeconds > MAX_FLOW_PERIOD_SECONDS) {
    throw invalid(`period must be at most ${MAX_FLOW_PERIOD_SECONDS} seconds`);
  }
  if (parallelism === undefined && rate === undefined && periodSeconds === undefined) {
    throw invalid('at least one of parallelism, rate and period must be given');
  }
  await call.ask({ type: 'PinFlow', key: keyBeforeAction(call), parallelism, rate, periodSeconds }, 'Done');
}

async function unpin(call: QueueCall): Promise<void> {
  const parameters = queryParameters(call.words.rest, OF_UNPIN);
  const parallelism = flagOf(parameters, 'parallelism');
  const rate = flagOf(parameters, 'rate');
  await call.ask({ type: 'UnpinFlow', key: keyBeforeAction(call), parallelism, rate }, 'Done');
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = parseWholeNumber(text);
  if (number === undefined || number < 1) throw invalid(`${name} must be a whole number, at least 1`);
  return number;
}

function keyBeforeAction(call: QueueCall): string {
  return keyOf(call.path.slice(KEYS.length, call.path.lastIndexOf('/')));
}

function keyIn(call: QueueCall): string {
  return keyOf(call.path.slice(KEYS.length));
}

function keyOf(text: string): string {
  const key = decodedName(text);
  if (Buffer.byteLength(key) > MAX_FLOW_KEY_BYTES)
    throw invalid(`flow control key is longer than ${MAX_FLOW_KEY_BYTES} bytes`);
  return key;
}
