/**
 * The messages that are neither delivered nor failed, a page at a time, with how many there are in each state. All are
 * looked at for each page, in steps; those of runs are shown with their run, and not here.
 *
 *  LST1 a message that stays, in a state that is wanted, is on exactly one of the pages that follow each other; what
 *       left while a page was made is not on it, and what came after it was begun may be missing
 */
import { FirstOf } from '../collections/first-of.js';
import { PENDING_STATES, type PendingState, type QueueCommandOf, type QueueReply } from '../commands.js';
import type { QueueTurn } from '../turn.js';
import { ACTIVE, DELIVERED, type Message } from './message.js';
import { messageMatcher } from './message-filter.js';
import { viewOf } from './message-view.js';

/** One step looks at so many: about a millisecond. */
const LOOKED_AT_ONCE = 2000;

export function* listMessages(
  { filter, states, order, count, after }: QueueCommandOf<'ListMessages'>,
  { state, context }: QueueTurn,
): Generator<void, QueueReply> {
  const matches = messageMatcher(filter);
  const wanted = new Set<PendingState>(states.length === 0 ? PENDING_STATES : states);
  const counts: Record<PendingState, number> = { SCHEDULED: 0, WAITING: 0, DELIVERING: 0, RETRYING: 0 };
  const direction = order === 'earliestFirst' ? 1 : -1;
  const page = new FirstOf<Message>(count, (a, b) => (a.order - b.order) * direction);
  let looked = 0;
  for (const message of state.messages.all()) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    const { envelope } = message.shared;
    const is = stateOf(message, context.nowMs);
    if (is === undefined || envelope.workflow !== undefined) continue;
    if (!matches({ id: message.id, envelope, atMs: message.createdAtMs, responseStatus: undefined })) continue;
    counts[is] += 1;
    // One that has been woken meanwhile comes a second time.
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

/** @returns undefined: it is none that is pending */
function stateOf(message: Message, nowMs: number): PendingState | undefined {
  if (message.status === DELIVERED) return undefined;
  if (message.status === ACTIVE) return 'DELIVERING';
  if (message.retried > 0) return 'RETRYING';
  return message.dueAtMs > nowMs ? 'SCHEDULED' : 'WAITING';
}
