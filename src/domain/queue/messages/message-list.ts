/**
 * Lists messages that have not ended, by page, with the count of each state. Every page scans all messages in steps.
 * Messages of runs are listed with their run instead.
 *
 *  LST1 a message that stays in a wanted state is on exactly one of the successive pages; a message that left while a
 *       page was made is not on it, and one that came after its start may be missing
 */
import { TopN } from '../collections/top-n.js';
import { PENDING_STATES, type PendingState, type QueueCommandOf, type QueueReply } from '../model/commands.js';
import { ACTIVE, DELIVERED, type Message } from '../model/messages/message.js';
import { messageMatcher } from './message-filter.js';
import { viewOf } from './message-view.js';
import type { QueueTurn } from './turn.js';

/** Messages that one step looks at: about 1 ms. */
const LOOKED_AT_ONCE = 2000;

export function* listMessages(
  { filter, states, order, count, after }: QueueCommandOf<'ListMessages'>,
  { state, context }: QueueTurn,
): Generator<void, QueueReply> {
  const matches = messageMatcher(filter);
  const wanted = new Set<PendingState>(states.length === 0 ? PENDING_STATES : states);
  const counts: Record<PendingState, number> = { SCHEDULED: 0, WAITING: 0, DELIVERING: 0, RETRYING: 0 };
  const direction = order === 'earliestFirst' ? 1 : -1;
  const page = new TopN<Message>(count, (a, b) => (a.order - b.order) * direction);
  let looked = 0;
  for (const message of state.messages.all()) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    const { envelope } = message.shared;
    const is = stateOf(message, context.nowMs);
    if (is === undefined || envelope.workflow !== undefined) continue;
    if (!matches({ id: message.id, envelope, atMs: message.createdAtMs, responseStatus: undefined })) continue;
    counts[is] += 1;
    // A message that woke during the scan may be met twice.
    if (wanted.has(is) && (after === undefined || (message.order - after) * direction > 0)) page.offer(message);
  }
  const messages = page.items.flatMap(({ id }) => {
    const message = state.messages.get(id);
    const is = message && stateOf(message, context.nowMs);
    return message && is ? [{ ...viewOf(message), state: is, dueAtMs: message.dueAtMs }] : [];
  });
  return {
    type: 'Messages',
    messages,
    counts: PENDING_STATES.map((each) => counts[each]),
    after: page.hasMore ? page.items.at(-1)?.order : undefined,
  };
}

/** @returns undefined: the message is not pending */
function stateOf(message: Message, nowMs: number): PendingState | undefined {
  if (message.status === DELIVERED) return undefined;
  if (message.status === ACTIVE) return 'DELIVERING';
  if (message.retried > 0) return 'RETRYING';
  return message.dueAtMs > nowMs ? 'SCHEDULED' : 'WAITING';
}
