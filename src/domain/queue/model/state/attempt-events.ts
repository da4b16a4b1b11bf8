/**
 * Events of attempts: they change the message and its flow-control token, its place in a queue and its open attempt.
 */
import type { QueueEventOf } from '../events.js';
import { ACTIVE, type Message, WAITING } from '../messages/message.js';
import type { AccountParts } from './account-parts.js';
import { queueChanged } from './queue-events.js';

export function attemptStarted(event: QueueEventOf<'AttemptStarted'>, parts: AccountParts): void {
  const { id, atMs, retried, restarts } = event;
  const { messages, queues, dispatch } = parts;
  const message = messages.pending(id);
  const { envelope } = message.shared;
  dispatch?.leaves(message);
  const { flowControl } = envelope.settings;
  const flow = flowControl === undefined ? undefined : parts.flows.get(flowControl.key);
  if (message.status === WAITING) {
    message.status = ACTIVE;
    messages.active.add(message);
    if (flow !== undefined) {
      flow.active += 1;
      message.hasToken = true;
    }
    const queue = parts.queueOf(envelope);
    if (queue !== undefined) {
      queue.waiting -= 1;
      if (queues.placeOf(id) === undefined) queues.take(queue, id);
    }
    if (retried > 0) parts.usage.count(atMs);
  }
  message.retried = retried;
  message.restarts = restarts;
  message.sinceMs = atMs;
  flow?.countStart(atMs);
  dispatch?.attemptStarted(message);
}

/** Without a next attempt, the event that ends the message follows. */
export function attemptFailed(event: QueueEventOf<'AttemptFailed'>, parts: AccountParts): void {
  const { id, atMs, status, nextAtMs } = event;
  const message = parts.messages.pending(id);
  if (nextAtMs === undefined) return;
  closeAttempt(message, parts);
  message.status = WAITING;
  message.retried += 1;
  message.restarts = 0;
  message.sinceMs = atMs;
  message.dueAtMs = nextAtMs;
  const queue = parts.queueOf(message.shared.envelope);
  if (queue !== undefined) queue.waiting += 1;
  parts.dispatch?.attemptEnded(message, status > 0);
  parts.dispatch?.waits(message);
}

/** @param hasAnswered whether the destination answered; undefined: unknown */
export function endMessage(
  message: Message,
  atMs: number,
  outcome: 'SUCCESS' | 'FAIL',
  hasAnswered: boolean | undefined,
  parts: AccountParts,
): void {
  const { envelope } = message.shared;
  const { queues, dispatch } = parts;
  const queue = parts.queueOf(envelope);
  if (queue !== undefined && !message.isCancelRequested) queue.lag -= 1;
  if (message.status === ACTIVE) {
    closeAttempt(message, parts);
    dispatch?.attemptEnded(message, hasAnswered);
  } else {
    dispatch?.leaves(message);
    if (queue !== undefined) queue.waiting -= 1;
  }
  const { flowControl } = envelope.settings;
  if (flowControl !== undefined) parts.flows.leave(flowControl.key, atMs);
  if (envelope.workflow !== undefined) parts.runs.messageLeft(message);
  if (envelope.scheduleId !== undefined) parts.schedules.noteOutcome(envelope.scheduleId, message.id, outcome);
  queueChanged(queues.endHolder(message.id), parts);
  if (message.holdsPlaceOf !== undefined) queueChanged(queues.endCallback(message.holdsPlaceOf), parts);
}

function closeAttempt(message: Message, { messages, flows }: AccountParts): void {
  messages.active.delete(message);
  const { flowControl } = message.shared.envelope.settings;
  if (!message.hasToken || flowControl === undefined) return;
  message.hasToken = false;
  const flow = flows.get(flowControl.key);
  if (flow !== undefined) flow.active -= 1;
}
