/** `/v2/messages`: one message to be looked at or cancelled, or many to be cancelled. */

import { MAX_CANCEL_COUNT, type MessageSelector } from '../../../domain/queue/index.js';
import type { MessageId } from '../../../kernel/index.js';
import { notFound } from '../../error-map.js';
import { json } from '../../http/answer-shape.js';
import { ANYTHING, OBJECT, schemaNamed, textParameters } from '../../http/openapi/parts.js';
import { RefusedRequest } from '../../http/refused.js';
import { messageRecord } from '../../records/message-record.js';
import { bulkParameters, countOf, filterOf, type Parameters, valuesOf } from '../call-filters.js';
import { type QueueRoute, queueRoute } from '../queue-call.js';
import { MAX_CALL_IDS } from '../queue-limits.js';

const PARAMETERS: ReadonlySet<string> = new Set([
  'messageIds',
  'topicName',
  'queueName',
  'url',
  'host',
  'path',
  'label',
  'flowControlKey',
  'fromDate',
  'toDate',
  'scheduleId',
  'callerIp',
  'callerIP',
  'count',
  // Sent along by clients; all that matches is cancelled at once.
  'cursor',
]);

export const MESSAGE_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/messages/:id', {
    summary: 'Shows a message that is under way.',
    permission: 'read',
    answer: json(OBJECT),
    async handle(call, { path: { id } }) {
      const { message, content } = await call.ask({ type: 'GetMessage', id: id as MessageId }, 'Message');
      call.value(200, messageRecord({ ...message, content }, call.spellingFor(message.envelope.isAlias)));
    },
  }),

  queueRoute('DELETE /v2/messages/:id', {
    summary: 'Cancels a message.',
    permission: 'change',
    answer: json(ANYTHING),
    async handle(call, { path: { id } }) {
      const { count } = await call.ask({ type: 'CancelMessage', id: id as MessageId }, 'Cancelled');
      if (count === 0) throw new RefusedRequest(notFound(`message ${id}`));
      call.value(200, { cancelled: count });
    },
  }),

  queueRoute('DELETE /v2/messages', {
    summary: 'Cancels messages.',
    permission: 'change',
    parameters: textParameters(PARAMETERS),
    answer: json(schemaNamed('Cancelled')),
    async handle(call) {
      const selector = selectorOf(bulkParameters(call, PARAMETERS, 'message'));
      const { count } = await call.ask({ type: 'CancelMessages', selector }, 'Cancelled');
      call.value(200, { cancelled: count });
    },
  }),
];

function selectorOf(parameters: Parameters): MessageSelector {
  const messageIds = valuesOf(parameters, 'messageIds', MAX_CALL_IDS) as MessageId[];
  if (messageIds.length > 0) return { kind: 'ids', messageIds: [...new Set(messageIds)] };
  return { kind: 'filter', filter: filterOf(parameters), count: countOf(parameters, MAX_CANCEL_COUNT) };
}
