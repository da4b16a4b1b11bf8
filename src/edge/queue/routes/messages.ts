/** `/v2/messages`: shows or cancels one message, or cancels many. */

import {
  MAX_MESSAGE_COUNT,
  type MessageSelector,
  PENDING_STATES,
  type QueueCommandOf,
} from '../../../domain/queue/index.js';
import type { MessageId } from '../../../kernel/index.js';
import { notFound } from '../../error-map.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { messageRecord, pendingRecord } from '../../records/message-record.js';
import { shows } from '../answer-schemas.js';
import {
  bulkParameters,
  countOf,
  filterOf,
  orderOf,
  type Parameters,
  queryParameters,
  single,
  statesIn,
  valuesOf,
} from '../call-filters.js';
import { filterBody, filterParameters } from '../call-parameters.js';
import { type QueueRoute, queueRoute } from '../queue-call.js';
import { MAX_CALL_IDS } from '../queue-limits.js';

const FILTERS = [
  'messageIds',
  'topicName',
  'queueName',
  'url',
  'host',
  'path',
  'label',
  'flowControlKey',
  'priority',
  'fromDate',
  'toDate',
  'scheduleId',
  'callerIp',
  'callerIP',
];
/** Clients send `count` and `cursor`, but one call cancels all matching messages. */
const OF_BULK: ReadonlySet<string> = new Set([...FILTERS, 'count', 'cursor']);
const OF_LIST: ReadonlySet<string> = new Set([...FILTERS, 'state', 'order', 'count', 'cursor']);
const STATES = new Map(PENDING_STATES.map((state) => [state as string, [state]]));
const CURSOR = /^\d{1,16}$/;

export const MESSAGE_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/messages', {
    summary: 'Lists messages that are under way, with how many there are in each state.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: shows('MessagePage'),
    async handle(call) {
      const { messages, counts, after } = await call.ask(listOf(queryParameters(call.words.rest, OF_LIST)), 'Messages');
      call.value(200, {
        messages: messages.map((message) => pendingRecord(message, call.spellingFor(message.envelope.isAlias))),
        counts: Object.fromEntries(PENDING_STATES.map((state, at) => [state, counts[at]])),
        cursor: after === undefined ? undefined : String(after),
      });
    },
  }),

  queueRoute('GET /v2/messages/:id', {
    summary: 'Shows a message that is under way.',
    permission: 'read',
    answer: shows('Message'),
    async handle(call, { path: { id } }) {
      const { message, content } = await call.ask({ type: 'GetMessage', id: id as MessageId }, 'Message');
      call.value(200, messageRecord({ ...message, content }, call.spellingFor(message.envelope.isAlias)));
    },
  }),

  queueRoute('DELETE /v2/messages/:id', {
    summary: 'Cancels a message.',
    permission: 'change',
    answer: shows('Cancelled'),
    async handle(call, { path: { id } }) {
      const { count } = await call.ask({ type: 'CancelMessage', id: id as MessageId }, 'Cancelled');
      if (count === 0) throw new RefusedRequest(notFound(`message ${id}`));
      call.value(200, { cancelled: count });
    },
  }),

  queueRoute('DELETE /v2/messages', {
    summary: 'Cancels messages.',
    description: 'All that match, in one call: `count` and `cursor` are taken, and bound nothing.',
    permission: 'change',
    parameters: filterParameters(OF_BULK),
    bodyShape: filterBody(OF_BULK),
    example: { label: 'welcome' },
    answer: shows('Cancelled'),
    async handle(call) {
      const selector = selectorOf(bulkParameters(call, OF_BULK, 'message'));
      const { count } = await call.ask({ type: 'CancelMessages', selector }, 'Cancelled');
      call.value(200, { cancelled: count });
    },
  }),
];

function selectorOf(parameters: Parameters): MessageSelector {
  const messageIds = valuesOf(parameters, 'messageIds', MAX_CALL_IDS) as MessageId[];
  if (messageIds.length > 0) return { kind: 'ids', messageIds: [...new Set(messageIds)] };
  countOf(parameters, Number.MAX_SAFE_INTEGER);
  return { kind: 'filter', filter: filterOf(parameters), count: undefined };
}

function listOf(parameters: Parameters): QueueCommandOf<'ListMessages'> {
  const cursor = single(parameters, 'cursor');
  if (cursor !== undefined && !CURSOR.test(cursor))
    throw invalid('cursor is invalid: give the cursor of an earlier response');
  return {
    type: 'ListMessages',
    filter: filterOf(parameters),
    states: statesIn(parameters, STATES),
    order: orderOf(parameters, 'latestFirst'),
    count: countOf(parameters, MAX_MESSAGE_COUNT) ?? MAX_MESSAGE_COUNT,
    after: cursor === undefined ? undefined : Number(cursor),
  };
}
