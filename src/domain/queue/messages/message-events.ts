/** What events do to a message that comes, and to one that leaves. Its attempts are in attempt-events.ts. */
import type { MessageId } from '../../../kernel/index.js';
import type { AccountParts } from '../accounts/account-parts.js';
import { endMessage } from '../delivery/attempt-events.js';
import type { QueueEventOf } from '../events.js';
import { BODY_RESTS_FOR_MS } from '../limits.js';
import { ACTIVE, DELIVERED, Message, WAITING } from './message.js';

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

/** From now on it is nobody's message any more; only an open attempt has to come to its end. */
export function cancelRequested({ id }: { readonly id: MessageId }, parts: AccountParts): void {
  const message = parts.messages.pending(id);
  if (message.isCancelRequested) return;
  message.isCancelRequested = true;
  // One that rested until now stands nowhere yet.
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

/** Nothing refers to it any more. */
export function letGo(message: Message, parts: AccountParts): void {
  if (message.status !== DELIVERED) countNoMore(message, parts);
  parts.envelopes.drop(message.shared);
  parts.bodies.letGo(message.bodyNumber);
}

/** HE1: from its delivery on. */
function countNoMore({ shared, bodyNumber, bodyBytes }: Message, { envelopes, bodies }: AccountParts): void {
  envelopes.uncount(shared);
  bodies.countNoMore({ number: bodyNumber, bytes: bodyBytes });
}

/** Out of a snapshot. */
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
    // Those without a token stand before their key in a snapshot (see `rebuildingEvents`).
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
