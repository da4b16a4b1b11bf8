/**
 * Ids of messages, schedules and DLQ entries. Derived ids are a function of their cause: the same cause always gives
 * the same id.
 */
import { createHash } from 'node:crypto';
import type { DlqId, MessageId, Random, ScheduleId } from '../../../kernel/index.js';

/** Letters and digits that are hard to mistake for each other. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** 164 random bits, or 117 after a time. */
const ID_CHARACTERS = 28;
const PREFIX_CHARACTERS = 4;
/** Milliseconds since the epoch, enough for some thousands of years. */
const TIME_CHARACTERS = 8;

/**
 * The id begins with its time, so that ordered indexes grow at one end
 * (docs/decisions/queue.md).
 */
export function newMessageId(random: Random, nowMs: number): MessageId {
  let left = Math.max(0, Math.floor(nowMs));
  for (let at = PREFIX_CHARACTERS + TIME_CHARACTERS - 1; at >= PREFIX_CHARACTERS; at -= 1) {
    text[at] = CODES[left % BASE58.length] as number;
    left = Math.floor(left / BASE58.length);
  }
  return idOf('msg_', random.bytes(ID_CHARACTERS - TIME_CHARACTERS), TIME_CHARACTERS) as MessageId;
}

export function newScheduleId(random: Random): ScheduleId {
  return idOf('scd_', random.bytes(ID_CHARACTERS)) as ScheduleId;
}

/** Ids of the messages of one call to a group; index 0 is `first` itself. */
export function messageIdAt(first: MessageId, index: number): MessageId {
  return index === 0 ? first : derivedMessageId(`${first} ${index}`);
}

/** The id of a message that a named cause makes: a tick, a callback. */
export function derivedMessageId(cause: string): MessageId {
  return idOf('msg_', createHash('sha256').update(cause, 'utf8').digest()) as MessageId;
}

/** @param number counts entries within the account */
export function dlqIdOf(atMs: number, number: number): DlqId {
  return `${atMs}-${number}` as DlqId;
}

const CODES = Buffer.from(BASE58, 'latin1');
const text = Buffer.alloc(PREFIX_CHARACTERS + ID_CHARACTERS);

/**
 * One character per byte; the slight bias does no harm here. The text is made in one piece because V8 keeps a
 * concatenated string as two objects, and millions of ids are kept.
 * @param from the characters that are already written
 */
function idOf(prefix: 'msg_' | 'scd_', bytes: Uint8Array, from = 0): string {
  text.write(prefix, 0, 'latin1');
  for (let at = from; at < ID_CHARACTERS; at += 1) {
    text[PREFIX_CHARACTERS + at] = CODES[(bytes[at - from] as number) % BASE58.length] as number;
  }
  return text.toString('latin1');
}
