/**
 * Cancellation. A waiting message leaves immediately; a message with an open attempt is marked and leaves with the
 * attempt's outcome, unless that is a delivery. Cancelling many runs in steps, with other commands between.
 */
import type { MessageId } from '../../../kernel/index.js';
import type { MessageFilter, QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { ACTIVE, DELIVERED, type Message } from '../model/messages/message.js';
import { messageMatcher } from './message-filter.js';
import { isShown } from './message-view.js';
import type { QueueSteps, QueueTurn } from './turn.js';

/** Messages that one step looks at: about 1 ms. */
const LOOKED_AT_ONCE = 2000;
const CANCELLED_AT_ONCE = 200;

/** A message that was delivered a moment ago is answered as cancelled, because its publisher cannot know. */
export function cancelMessage({ id }: QueueCommandOf<'CancelMessage'>, turn: QueueTurn): QueueReply {
  const message = turn.state.messages.get(id);
  if (!isShown(message, turn.context.nowMs) || isOfRun(message))
    return rejection('NOT_FOUND', `message ${id} not found`);
  cancel(message, turn);
  return { type: 'Cancelled', count: 1 };
}

export function cancelMessages(
  { selector }: QueueCommandOf<'CancelMessages'>,
  turn: QueueTurn,
): QueueReply | QueueSteps {
  if (selector.kind === 'ids') return cancelIds(selector.messageIds, turn);
  return cancelFiltered(selector.filter, selector.count ?? Number.POSITIVE_INFINITY, turn);
}

/** Messages of a run are cancelled only with the whole run: a run without one of its messages would never end. */
function isOfRun(message: Message): boolean {
  return message.shared.envelope.workflow !== undefined;
}

/** @returns whether this call cancelled the message */
export function cancel(message: Message, { context, evolve }: QueueTurn): boolean {
  if (message.status === DELIVERED || message.isCancelRequested || isOfRun(message)) return false;
  const { id } = message;
  const atMs = context.nowMs;
  const isActive = message.status === ACTIVE;
  evolve({ type: 'CancelRequested', id, atMs });
  if (!isActive) evolve({ type: 'MessageCancelled', id, atMs });
  return true;
}

function* cancelIds(ids: readonly MessageId[], turn: QueueTurn): QueueSteps & Generator<void, QueueReply> {
  let count = 0;
  for (const [index, id] of ids.entries()) {
    const message = turn.state.messages.get(id);
    if (message !== undefined && cancel(message, turn)) count += 1;
    if (index % CANCELLED_AT_ONCE === CANCELLED_AT_ONCE - 1) yield;
  }
  return { type: 'Cancelled', count };
}

function* cancelFiltered(filter: MessageFilter, most: number, turn: QueueTurn): Generator<void, QueueReply> {
  const matches = messageMatcher(filter);
  const count = yield* cancelWhere(
    (message) =>
      matches({
        id: message.id,
        envelope: message.shared.envelope,
        atMs: message.createdAtMs,
        responseStatus: undefined,
      }),
    most,
    turn,
  );
  return { type: 'Cancelled', count };
}

/**
 * Cancels matching messages that existed when it began.
 * @returns the number cancelled
 */
export function* cancelWhere(
  is: (message: Message) => boolean,
  most: number,
  turn: QueueTurn,
): Generator<void, number> {
  let count = 0;
  let looked = 0;
  let cancelled = 0;
  // Messages accepted after this point are left alone.
  const { nextOrder } = turn.state;
  for (const message of turn.state.messages.all()) {
    if (count >= most) break;
    looked += 1;
    if (message.order < nextOrder && is(message) && cancel(message, turn)) {
      count += 1;
      cancelled += 1;
    }
    if (looked < LOOKED_AT_ONCE && cancelled < CANCELLED_AT_ONCE) continue;
    looked = 0;
    cancelled = 0;
    yield;
  }
  return count;
}
