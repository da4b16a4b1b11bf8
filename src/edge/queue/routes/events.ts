/** `/v2/events` and `/v2/logs`: what happened to messages. The list has both names, since clients look for either. */
import type { MessageFilter } from '../../../domain/queue/index.js';
import { type LogEvent, type LogQuery, MESSAGE_STATES, type MessageState } from '../../../ports/index.js';
import { countOf, filterOf, orderOf, type Parameters, queryParameters, single, valuesOf } from '../call-filters.js';
import type { QueueCall } from '../queue-call.js';
import { DEFAULT_EVENT_COUNT, MAX_EVENT_COUNT, MAX_FILTER_VALUES, MAX_IDS } from '../queue-limits.js';
import { eventRecord } from '../records/event-record.js';
import { invalid } from '../refused.js';
import type { Routes } from './routes.js';

const PARAMETERS: ReadonlySet<string> = new Set([
  'cursor',
  'count',
  'messageId',
  'messageIds',
  'state',
  'url',
  'host',
  'path',
  'topicName',
  'scheduleId',
  'queueName',
  'fromDate',
  'toDate',
  'label',
  'flowControlKey',
  'callerIp',
  'order',
]);

/** As pages end with; and the time alone with which published programs begin, in milliseconds. */
const CURSOR = /^\d{1,16}-\d{1,16}$/;
const INSTANT = /^\d{1,16}$/;

/** Words that stand for states, beside the states themselves. */
const STATES_BY_WORD: ReadonlyMap<string, readonly MessageState[]> = new Map([
  ...MESSAGE_STATES.map((state): [string, MessageState[]] => [state, [state]]),
  ['CANCELLED', ['CANCELED']],
  ['IN_PROGRESS', ['ACTIVE', 'RETRY', 'ERROR']],
]);

export const eventRoutes: Routes = (add) => {
  add('get', '/v2/events', listEvents);
  add('get', '/v2/logs', listEvents);
};

async function listEvents(call: QueueCall): Promise<void> {
  const query = queryOf(queryParameters(call.words.rest, PARAMETERS));
  const { position } = await call.ask({ type: 'GetPosition' }, 'Position');
  const { events, cursor } = await call.face.parts.messageLog.events(call.grant.account, query, position);
  const record = (event: LogEvent) => eventRecord(event, call.spellingFor(event.envelope.isAlias));
  const end = cursor === undefined || cursor === '' ? ']}' : `],"cursor":${JSON.stringify(cursor)}}`;
  await call.list(['{"events":[', '],"logs":[', end], events, record);
}

function queryOf(parameters: Parameters): LogQuery {
  const messageId = valuesOf(parameters, 'messageIds', MAX_IDS);
  const isByIds = messageId.length > 0;
  const filter: MessageFilter = isByIds ? { messageId } : filterOf(parameters);
  return {
    filter,
    states: isByIds ? [] : statesOf(parameters),
    order: orderOf(parameters, 'latestFirst'),
    count: countOf(parameters, MAX_EVENT_COUNT) ?? DEFAULT_EVENT_COUNT,
    cursor: cursorIn(parameters),
  };
}

function cursorIn(parameters: Parameters): string | undefined {
  const cursor = single(parameters, 'cursor');
  if (cursor === undefined || CURSOR.test(cursor)) return cursor;
  if (!INSTANT.test(cursor)) throw invalid('cursor is not one of ours');
  return `${cursor}-0`;
}

function statesOf(parameters: Parameters): MessageState[] {
  const states = valuesOf(parameters, 'state', MAX_FILTER_VALUES).flatMap((word) => {
    const named = STATES_BY_WORD.get(word.toUpperCase());
    if (named === undefined) throw invalid(`unknown state ${word}`);
    return named;
  });
  return [...new Set(states)];
}
