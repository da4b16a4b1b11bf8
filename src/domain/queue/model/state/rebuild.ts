/**
 * The content of a snapshot: events that rebuild the state. A restored state gives them again in the same order.
 * Active messages without a token (their flow-control key was reset) come before their key, all others after it.
 */
import type { QueueEvent, QueueEventOf } from '../events.js';
import { ACTIVE, DELIVERED, type Message, statusWord } from '../messages/message.js';
import type { QueueState } from './queue-state.js';

export function* rebuildingEvents(state: QueueState): Iterable<QueueEvent> {
  yield accountRestored(state);
  yield* state.outboxes.rebuildingEvents(state.nowMs);
  yield* state.breakers.rebuildingEvents(state.nowMs);
  yield* state.runs.rebuildingEvents();
  yield* state.queues.rebuildingEvents();
  for (const message of state.messages.active) if (isUncounted(message)) yield messageRestored(message, state);
  yield* state.flows.rebuildingEvents();
  yield* state.groups.rebuildingEvents();
  yield* state.applications.rebuildingEvents(state.nowMs);
  yield* state.schedules.rebuildingEvents();
  for (const message of state.messages.all()) {
    if (message.status !== DELIVERED && !isUncounted(message)) yield messageRestored(message, state);
  }
  for (const message of state.messages.delivered()) yield messageRestored(message, state);
  for (const entry of state.dlq.ascending()) yield { type: 'DlqRestored', entry };
  for (const entries of state.deduplication.entries()) yield { type: 'DeduplicationRestored', entries };
  for (const packed of state.acceptedIds.packed()) yield { type: 'AcceptedIdsRestored', ...packed };
}

function isUncounted(message: Message): boolean {
  return message.status === ACTIVE && !message.hasToken && message.shared.envelope.settings.flowControl !== undefined;
}

function accountRestored(state: QueueState): QueueEventOf<'AccountRestored'> {
  const { bodies, deadLetters, nextOrder, intakePosition, nowMs, usage } = state;
  const { day, messagesToday, month, messagesThisMonth, isDailyLimitReached } = usage;
  return {
    type: 'AccountRestored',
    nextBody: bodies.next,
    nextOrder,
    nextDlq: deadLetters.next,
    intakePosition,
    nowMs,
    day,
    messagesToday,
    month,
    messagesThisMonth,
    isDailyLimitReached,
  };
}

function messageRestored(message: Message, { runs }: QueueState): QueueEventOf<'MessageRestored'> {
  const { id, shared, createdAtMs, notBeforeMs, dueAtMs, retried, restarts, sinceMs, order, holdsPlaceOf } = message;
  const part = shared.envelope.workflow === undefined ? undefined : runs.partOf(id);
  return {
    type: 'MessageRestored',
    id,
    envelope: shared.envelope,
    body: { number: message.bodyNumber, bytes: message.bodyBytes },
    createdAtMs,
    notBeforeMs,
    dueAtMs,
    status: statusWord(message),
    retried,
    restarts,
    sinceMs,
    isCancelRequested: message.isCancelRequested,
    order,
    holdsPlaceOf,
    ...(part && { workflow: part }),
  };
}
