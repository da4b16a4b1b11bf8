/** The form in which a message is shown to clients. */
import type { MessageView, QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { DELIVERED_GRACE_MS } from '../model/limits.js';
import { DELIVERED, type Message, statusWord } from '../model/messages/message.js';
import type { HiddenParts } from '../model/records.js';
import type { QueueTurn } from './turn.js';

const NOTHING = new Uint8Array(0);

/** Whether clients see the message: not after it was cancelled, or delivered a while ago. */
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

/** Whether no body is shown, so that none has to be read. */
export function isBodyless(trimBytes: number | undefined): boolean {
  return trimBytes !== undefined && trimBytes <= 0;
}

/**
 * A redacted body stays whole, because it is shown as a hash of all bytes.
 * @param trimBytes the limit in bytes, rounded down to whole characters; 0 or less: empty; undefined: no limit
 */
export function trimmedBody(
  body: Uint8Array,
  redaction: HiddenParts | undefined,
  trimBytes: number | undefined,
): Uint8Array {
  if (isBodyless(trimBytes)) return NOTHING;
  if (trimBytes === undefined || body.byteLength <= trimBytes || redaction?.body === true) return body;
  let end = trimBytes;
  // Avoids cutting inside a UTF-8 character; other data loses at most three bytes.
  for (let back = 0; back < 3 && ((body[end] as number) & 0xc0) === 0x80; back += 1) end -= 1;
  return body.subarray(0, Math.max(0, end));
}
