/** `/v2/wait`, `/v2/notify`, `/v2/waiters`: steps that wait for events, and notifications. */

import { type HeaderList, headerValue, type QueueCommandOf } from '../../../domain/queue/index.js';
import type { RunId } from '../../../kernel/index.js';
import { anyBody } from '../../http/body-shape.js';
import { parseJson } from '../../http/json-items.js';
import { headerParameter } from '../../http/openapi/parts.js';
import { invalid, inWordsOf } from '../../http/refused.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import { WAIT as WAIT_BODY } from '../body-shapes.js';
import { countOf, queryParameters, refuseLostId, single } from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { DEFAULT_EVENT_COUNT, MAX_EVENT_COUNT } from '../queue-limits.js';
import { listedWaiterRecord, notifyRecord, waiterRecord } from '../records/waiter-record.js';
import { headersOf } from '../requests/header-members.js';
import { WaitRequest } from '../requests/wait.js';
import { checkedRunId, eventIdInPath, possibleRunId, RUN_ID } from '../run-names.js';
import { stepOfObject } from '../step-marks.js';
import { takeForTrial } from '../trial-requests.js';
import { askedDelivery, stepTextOf } from '../workflow-items.js';

const WAIT = '/v2/wait/';
const NOTIFY = '/v2/notify/';
const WAITERS = '/v2/waiters/';
const OF_LIST: ReadonlySet<string> = new Set(['count', 'cursor']);
const CURSOR = /^(\d{1,16})-(\d{1,10})-(.{1,1024})$/;
const CONFIGURATION = 'svc-';
const FORWARDED = 'svc-forward-';

export const WORKFLOW_EVENT_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/wait/*event', {
    summary: 'Lets a run wait for an event.',
    permission: 'publish',
    boundBy: 'run',
    parameters: [headerParameter('Svc-Workflow-RunId', 'The run that waits.')],
    bodyShape: WAIT_BODY,
    example: {
      url: 'https://example.com/api/orders',
      timeout: '1h',
      step: { stepId: 2, stepName: 'paid', stepType: 'Wait' },
    },
    answer: DONE_ANSWER,
    handle: wait,
  }),
  queueRoute('POST /v2/notify/*event', {
    summary: 'Wakes the runs that wait for an event.',
    permission: 'publish',
    bodyBound: 'message',
    boundBy: 'run',
    bodyShape: anyBody('The event, as the steps that wait for it are given it.'),
    example: { paid: true },
    answer: lists('Notified'),
    handle: notify,
  }),

  queueRoute('GET /v2/waiters', {
    summary: 'Lists the steps of all runs that wait for events, the earliest deadline first.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: shows('WaitingSteps'),
    async handle(call) {
      refuseLostId(call.path, 'event');
      const { waiters, total, after } = await call.ask(listOf(call.words.rest), 'AllWaiters');
      call.value(200, {
        waiters: waiters.map(listedWaiterRecord),
        total,
        cursor: after && [after.deadlineMs, after.stepId, after.runId].join('-'),
      });
    },
  }),

  queueRoute('GET /v2/waiters/*event', {
    summary: 'Lists the runs that wait for an event.',
    permission: 'read',
    answer: lists('Waiter'),
    async handle(call) {
      const eventId = eventIdInPath(call.path.slice(WAITERS.length), call.words.rest);
      const { waiters } = await call.ask({ type: 'ListWaiters', eventId }, 'Waiters');
      await call.list(['[', ']'], waiters, (waiter) => waiterRecord(waiter, call.spellingFor(waiter.isAlias)));
    },
  }),
];

function listOf(query: string): QueueCommandOf<'ListAllWaiters'> {
  const parameters = queryParameters(query, OF_LIST);
  const cursor = single(parameters, 'cursor');
  const [, deadline, step, runId] = cursor === undefined ? [] : (CURSOR.exec(cursor) ?? []);
  if (cursor !== undefined && runId === undefined)
    throw invalid('cursor is invalid: give the cursor of an earlier response');
  return {
    type: 'ListAllWaiters',
    count: countOf(parameters, MAX_EVENT_COUNT) ?? DEFAULT_EVENT_COUNT,
    after:
      runId === undefined ? undefined : { deadlineMs: Number(deadline), stepId: Number(step), runId: runId as RunId },
  };
}

async function wait(call: QueueCall): Promise<void> {
  const configuration = call.words.configuration.filter(([name]) => name !== 'content-encoding');
  const runId = checkedRunId(headerValue(configuration, RUN_ID) ?? '');
  const request = WaitRequest.from(parseJson(call.body));
  const { url, timeoutUrl = url, timeoutHeaders, step } = request;
  const ofTimeout = timeoutHeaders && headersOf(call.endpoint.spellings, timeoutHeaders, 'timeoutHeaders', true);
  const command = {
    type: 'Wait',
    runId,
    eventId: eventIdInPath(call.path.slice(WAIT.length), call.words.rest),
    resultId: call.newMessageId(),
    step: stepOfObject(step),
    stepText: stepTextOf(step),
    timeoutText: request.timeout,
    timeoutSeconds: request.timeoutSeconds,
    timeoutBody: request.timeoutBody,
    onNotify: askedDelivery(call, url, configuration),
    onTimeout:
      ofTimeout === undefined
        ? askedDelivery(call, timeoutUrl, configuration)
        : inWordsOf(ofTimeout, () => askedDelivery(call, timeoutUrl, ofTimeout.headers.map(sent))),
  } as const;
  const taken = await takeForTrial(call, runId, { kind: 'wait', steps: [command.step], url: undefined });
  if (!taken) await call.ask(command, 'Done');
  call.done();
}

/** A header that is no configuration is forwarded with the delivery. */
function sent([name, value]: HeaderList[number]): HeaderList[number] {
  return name.startsWith(CONFIGURATION) || name === 'content-type' ? [name, value] : [`${FORWARDED}${name}`, value];
}

/**
 * If the first of several segments is the id of a run, the rest is the event id; otherwise all segments are the event
 * id.
 */
async function notify(call: QueueCall): Promise<void> {
  const target = call.path.slice(NOTIFY.length);
  const slash = target.indexOf('/');
  // A generated run id without an event id: the client has lost the event id.
  const isEventAlone = slash < 0 || (slash === target.length - 1 && !target.startsWith('wfr_'));
  const runId = isEventAlone ? undefined : possibleRunId(target.slice(0, slash));
  const eventId = eventIdInPath(runId === undefined ? target : target.slice(slash + 1), call.words.rest);
  const firstId = call.newMessageId();
  const { notified } = await call.ask(
    { type: 'Notify', eventId, runId, firstId, content: call.body, isHook: false },
    'Notified',
  );
  await call.list(['[', ']'], notified, (one) => notifyRecord(one, call.spellingFor(one.waiter.isAlias)));
}
