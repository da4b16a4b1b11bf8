/** `/v2/messages`: one message to be looked at or cancelled, or many to be cancelled. */
import { MAX_CANCEL_COUNT, type MessageSelector } from '../../../domain/queue/index.js';
import type { MessageId } from '../../../kernel/index.js';
import { notFound } from '../../error-map.js';
import { parseJson } from '../../http/json-items.js';
import { invalid, Refused } from '../../http/refused.js';
import { messageRecord } from '../../records/message-record.js';
import { allParameters, countOf, filterOf, type Parameters, valuesOf } from '../call-filters.js';
import type { QueueCall } from '../queue-call.js';
import { MAX_IDS } from '../queue-limits.js';
import type { Routes } from './routes.js';

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

export const messageRoutes: Routes = (add) => {
  add('get', '/v2/messages/:id', async (call, { id }) => {
    const { message, content } = await call.ask({ type: 'GetMessage', id: id as MessageId }, 'Message');
    call.value(200, messageRecord({ ...message, content }, call.spellingFor(message.envelope.isAlias)));
  });

  add('delete', '/v2/messages/:id', async (call, { id }) => {
    call.mustBeAllowedToChange();
    const { count } = await call.ask({ type: 'CancelMessage', id: id as MessageId }, 'Cancelled');
    if (count === 0) throw new Refused(notFound(`message ${id}`));
    call.value(200, { cancelled: count });
  });

  add('delete', '/v2/messages', async (call) => {
    call.mustBeAllowedToChange();
    // An id that a client has lost would make it all of them.
    if (call.path.endsWith('/')) throw invalid('the message id is missing');
    const selector = selectorOf(allParameters(call.words.rest, jsonOf(call), PARAMETERS));
    const { count } = await call.ask({ type: 'CancelMessages', selector }, 'Cancelled');
    call.value(200, { cancelled: count });
  });
};

function selectorOf(parameters: Parameters): MessageSelector {
  const messageIds = valuesOf(parameters, 'messageIds', MAX_IDS) as MessageId[];
  if (messageIds.length > 0) return { kind: 'ids', messageIds: [...new Set(messageIds)] };
  return { kind: 'filter', filter: filterOf(parameters), count: countOf(parameters, MAX_CANCEL_COUNT) };
}

/** The body of a bulk call; undefined when there is none. @throws Refused 400 */
export function jsonOf({ body }: QueueCall): unknown {
  return body.length === 0 ? undefined : parseJson(body);
}
