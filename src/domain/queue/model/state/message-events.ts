/** Events by which a message is accepted or leaves. Events of its attempts are in attempt-events.ts. */
import type { MessageId } from '../../../../kernel/index.js';
import type { QueueEventOf } from '../events.js';
import { BODY_RESTS_FOR_MS } from '../limits.js';
import { ACTIVE, DELIVERED, Message, WAITING } from '../messages/message.js';
import type { AccountParts } from './account-parts.js';
import { endMessage } from './attempt-events.js';

export function messageAccepted(event: QueueEventOf<'MessageAccepted'>, parts: AccountParts): void {
  const { id, atMs, body, notBeforeMs, holdsPlaceOf } = event;
  const { messages, runs, queues, flows, dispatch } = parts;
  const shared = parts.envelopes.hold(event.envelope);
  const { flowControl } = shared.envelope.settings;
  const instants = { createdAtMs: atMs, notBeforeMs, dueAtMs: notBeforeMs, order: parts.nextOrder, holdsPlaceOf };
  const message = new Message(id, shared, body, instants);
  parts.nextOrder += 1;
  const isAwake = messages.add(message);
  parts.bodies.take(body);
  if (event.workflow !== undefined) runs.messageAccepted(message, event.workflow, atMs);
  parts.acceptedIds.add(id, atMs);
  parts.usage.count(atMs);
  if (event.deduplication !== undefined) parts.deduplication.reserve(event.deduplication, id, atMs);
  if (holdsPlaceOf !== undefined) queues.addCallback(holdsPlaceOf);
  const queue = parts.queueOf(shared.envelope);
  if (queue !== undefined) {
    queue.lag += 1;
    queue.waiting += 1;
  }
  if (flowControl !== undefined) {
    flows.join(flowControl, atMs);
    dispatch?.flowChanged(flowControl.key);
  }
  if (isAwake) dispatch?.waits(message);
  else if (notBeforeMs - atMs >= BODY_RESTS_FOR_MS) parts.bodies.rest(body.number);
}

/** The message is no longer shown; only an open attempt still has to end. */
export function cancelRequested({ id }: { readonly id: MessageId }, parts: AccountParts): void {
  const message = parts.messages.pending(id);
  if (message.isCancelRequested) return;
  message.isCancelRequested = true;
  // A delayed message is not in any list of the dispatcher yet.
  if (message.status === WAITING && message.waitsIn === undefined) parts.dispatch?.waits(message);
  const queue = parts.queueOf(message.shared.envelope);
  if (queue !== undefined) queue.lag -= 1;
}

export function messageCancelled(
  { id, atMs }: QueueEventOf<'MessageCancelled' | 'MessageFailed'>,
  parts: AccountParts,
): void {
  const message = parts.messages.pending(id);
  endMessage(message, atMs, 'FAIL', undefined, parts);
  parts.messages.delete(message);
  letGo(message, parts);
}

export function messageDelivered({ id, atMs }: QueueEventOf<'MessageDelivered'>, parts: AccountParts): void {
  const message = parts.messages.pending(id);
  endMessage(message, atMs, 'SUCCESS', true, parts);
  countNoMore(message, parts);
  parts.bodies.unload(message.bodyNumber);
  parts.messages.setDelivered(message, atMs);
}

/** Releases the envelope and body of a message that has left. */
export function letGo(message: Message, parts: AccountParts): void {
  if (message.status !== DELIVERED) countNoMore(message, parts);
  parts.envelopes.drop(message.shared);
  parts.bodies.letGo(message.bodyNumber);
}

/** HE1 (messages count until they end). */
function countNoMore({ shared, bodyNumber, bodyBytes }: Message, { envelopes, bodies }: AccountParts): void {
  envelopes.uncount(shared);
  bodies.countNoMore({ number: bodyNumber, bytes: bodyBytes });
}

/** From a snapshot. */
export function messageRestored(event: QueueEventOf<'MessageRestored'>, parts: AccountParts): void {
  const { id, body } = event;
  const { messages, flows } = parts;
  const shared = parts.envelopes.hold(event.envelope);
  const message = new Message(id, shared, body, event);
  message.retried = event.retried;
  message.restarts = event.restarts;
  message.sinceMs = event.sinceMs;
  message.isCancelRequested = event.isCancelRequested;
  if (event.status === 'active') message.status = ACTIVE;
  else if (event.status === 'delivered') message.status = DELIVERED;
  messages.add(message);
  parts.bodies.hold(body);
  if (event.workflow !== undefined) parts.runs.messageRestored(message, event.workflow, event.status === 'waiting');
  if (event.status === 'delivered') {
    countNoMore(message, parts);
    messages.setDelivered(message, event.sinceMs);
    return;
  }
  const { flowControl } = shared.envelope.settings;
  if (flowControl !== undefined) {
    // In a snapshot, active messages without a token come before their key (see `rebuildingEvents`).
    message.hasToken = event.status === 'active' && flows.get(flowControl.key)?.isKnown === true;
    flows.joinAsItIs(flowControl.key);
  }
  const queue = parts.queueOf(shared.envelope);
  if (queue !== undefined && !message.isCancelRequested) queue.lag += 1;
  if (event.status === 'active') {
    messages.active.add(message);
  } else if (queue !== undefined) queue.waiting += 1;
  const place = parts.queues.placeOf(id);
  if (place !== undefined) place.hasEnded = false;
}
