/**
 * `/v2/events` and `/v2/logs`: events of messages, in one list or grouped by message. Two members have the list of
 * events, because clients read either.
 */

import { type LogEvent, type LogQuery, MESSAGE_STATES } from '../../../ports/index.js';
import { invalid } from '../../http/refused.js';
import { eventRecord, groupRecord } from '../../records/event-record.js';
import { shows } from '../answer-schemas.js';
import {
  CURSOR,
  countOf,
  filterOf,
  isGrouped,
  orderOf,
  type Parameters,
  queryParameters,
  single,
  statesIn,
  trimOf,
  valuesOf,
  wordsForStates,
} from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { answerCounts } from '../counts-answer.js';
import { endOfPage, type QueueCall, type QueueRoute, queueRoute, texts } from '../queue-call.js';
import { DEFAULT_EVENT_COUNT, DEFAULT_GROUP_COUNT, MAX_CALL_IDS, MAX_EVENT_COUNT } from '../queue-limits.js';

const FILTERS = [
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
  'priority',
  'callerIp',
];
const PARAMETERS: ReadonlySet<string> = new Set([...FILTERS, 'cursor', 'count', 'order', 'groupBy', 'trimBody']);
const OF_COUNTS: ReadonlySet<string> = new Set(FILTERS);

/** With the latest first, the cursor of a grouped page also has the list's start. */
const GROUP_CURSOR = /^\d{1,16}-\d{1,16}(?:-\d{1,16}-\d{1,16})?$/;
/** Published clients send a start time in milliseconds as the first cursor. */
const INSTANT = /^\d{1,16}$/;

const STATES_BY_WORD = wordsForStates(MESSAGE_STATES);

export const EVENT_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/events', {
    summary: 'As /v2/logs, by its older name.',
    permission: 'read',
    parameters: filterParameters(PARAMETERS),
    answer: shows('EventPage', 'LoggedMessagePage'),
    handle: listEvents,
  }),
  queueRoute('GET /v2/logs', {
    summary: 'Lists the events of messages, newest first.',
    permission: 'read',
    parameters: filterParameters(PARAMETERS),
    answer: shows('EventPage', 'LoggedMessagePage'),
    handle: listEvents,
  }),
  queueRoute('GET /v2/logs/counts', {
    summary: 'Counts the events of messages, by state.',
    permission: 'read',
    parameters: filterParameters(OF_COUNTS),
    answer: shows('Counts'),
    async handle(call) {
      const { filter, states } = eventsIn(queryParameters(call.words.rest, OF_COUNTS));
      const { messageLog } = call.endpoint.parts;
      const { account } = call.grant;
      await answerCounts(call, await messageLog.eventCounts(account, filter, states, await call.position()));
    },
  }),
];

async function listEvents(call: QueueCall): Promise<void> {
  const query = queryOf(queryParameters(call.words.rest, PARAMETERS));
  const page = await call.endpoint.parts.messageLog.events(call.grant.account, query, await call.position());
  const { events, cursor } = page;
  const spellingOf = ({ envelope }: LogEvent) => call.spellingFor(envelope.isAlias);
  const record = (event: LogEvent) => eventRecord(event, spellingOf(event));
  const messageRecord = (group: readonly LogEvent[]) => groupRecord(group, spellingOf(group[0] as LogEvent));
  const end = endOfPage(cursor);
  if (query.groupBy === 'message') {
    await call.list(['{"messages":[', end], messagesOf(events), messageRecord, page);
  } else if (query.filter.messageId === undefined) {
    await call.list(['{"events":[', '],"logs":[', end], events, record, page);
  } else {
    await call.pieces(listsOfNamed(events, record, messageRecord, end), page);
  }
}

/** A list for named messages shows both the messages and their events, because clients read either. */
function* listsOfNamed(
  events: readonly LogEvent[],
  record: (event: LogEvent) => unknown,
  messageRecord: (group: readonly LogEvent[]) => unknown,
  end: string,
): Iterable<string> {
  for (const opening of ['{"events":[', '],"logs":[']) {
    yield opening;
    yield* texts(events, record);
  }
  yield '],"messages":[';
  yield* texts(messagesOf(events), messageRecord);
  yield end;
}

/** The events of each message, in the order of their first events. */
export function messagesOf(events: readonly LogEvent[]): (readonly LogEvent[])[] {
  const groups = new Map<string, LogEvent[]>();
  for (const event of events) {
    const group = groups.get(event.messageId);
    if (group === undefined) groups.set(event.messageId, [event]);
    else group.push(event);
  }
  return [...groups.values()];
}

/** The selected events; with a list of ids, all events of these messages. */
function eventsIn(parameters: Parameters): Pick<LogQuery, 'filter' | 'states'> {
  const messageId = valuesOf(parameters, 'messageIds', MAX_CALL_IDS);
  if (messageId.length > 0) return { filter: { messageId }, states: [] };
  return { filter: filterOf(parameters), states: statesIn(parameters, STATES_BY_WORD) };
}

function queryOf(parameters: Parameters): LogQuery {
  const isByMessage = isGrouped(parameters, 'messageId');
  const trimBytes = trimOf(parameters);
  return {
    ...eventsIn(parameters),
    order: orderOf(parameters, 'latestFirst'),
    count: countOf(parameters, MAX_EVENT_COUNT) ?? (isByMessage ? DEFAULT_GROUP_COUNT : DEFAULT_EVENT_COUNT),
    cursor: cursorIn(parameters, isByMessage),
    ...(isByMessage && { groupBy: 'message' }),
    ...(trimBytes !== undefined && { trimBytes }),
  };
}

function cursorIn(parameters: Parameters, isByMessage: boolean): string | undefined {
  const cursor = single(parameters, 'cursor');
  if (cursor === undefined || (isByMessage ? GROUP_CURSOR : CURSOR).test(cursor)) return cursor;
  if (!INSTANT.test(cursor)) throw invalid('cursor is invalid: give the cursor of an earlier response');
  return `${cursor}-0`;
}
