/** A message as it is shown to those who ask for it. */
import type { MessageView, QueueCommandOf, QueueReply } from '../commands.js';
import { rejection } from '../decision.js';
import { DELIVERED_GRACE_MS } from '../limits.js';
import type { QueueTurn } from '../turn.js';
import { DELIVERED, type Message, statusWord } from './message.js';

/** Is it there for those who ask? Not any more when it was cancelled, or delivered a while ago. */
export function isShown(message: Message | undefined, nowMs: number): message is Message {
  if (message === undefined || message.isCancelRequested) return false;
  return message.status !== DELIVERED || message.sinceMs + DELIVERED_GRACE_MS > nowMs;
}

export function getMessage({ id }: QueueCommandOf<'GetMessage'>, { state, context }: QueueTurn): QueueReply {
  const message = state.messages.get(id);
  if (!isShown(message, context.nowMs)) return rejection('NOT_FOUND', `message ${id} not found`);
  return { type: 'Message', message: viewOf(message), content: undefined };
}

export function viewOf(message: Message): MessageView {
  const { id, shared, bodyNumber, bodyBytes, createdAtMs, notBeforeMs, retried } = message;
  return {
    id,
    envelope: shared.envelope,
    body: { number: bodyNumber, bytes: bodyBytes },
    createdAtMs,
    notBeforeMs,
    status: statusWord(message),
    retried,
  };
}
