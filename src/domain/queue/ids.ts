/** Ids of messages, and those that follow from a cause: the same cause gives the same id, however often it is asked. */
import { createHash } from 'node:crypto';
import type { DlqId, MessageId, Random, ScheduleId } from '../../kernel/index.js';

/** Letters and digits that are not mistaken for each other. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** 164 bits, or 117 behind a time. */
const ID_CHARACTERS = 28;
const PREFIX_CHARACTERS = 4;
/** Milliseconds since the epoch for some thousands of years. */
const TIME_CHARACTERS = 8;

/** It begins with its time, so that trees of ids grow at one end (docs/adr/0076-ids-of-messages-begin-with-their-time.md). */
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

/** It names those that come of one call for a group: the first is `first` itself. */
export function messageIdAt(first: MessageId, index: number): MessageId {
  return index === 0 ? first : derivedMessageId(`${first} ${index}`);
}

/** It names what follows from a cause with a name of its own: a tick, a callback. */
export function derivedMessageId(cause: string): MessageId {
  return idOf('msg_', createHash('sha256').update(cause, 'utf8').digest()) as MessageId;
}

/** @param number within the account, growing */
export function dlqIdOf(atMs: number, number: number): DlqId {
  return `${atMs}-${number}` as DlqId;
}

const CODES = Buffer.from(BASE58, 'latin1');
const text = Buffer.alloc(PREFIX_CHARACTERS + ID_CHARACTERS);

/**
 * A character a byte; a little uneven, which no use of it minds. Made in one piece, prefix and all: a text that was
 * put together is two objects, also when it has been read, and a million ids are kept.
 * @param from what of the id stands there already
 */
function idOf(prefix: 'msg_' | 'scd_', bytes: Uint8Array, from = 0): string {
  text.write(prefix, 0, 'latin1');
  for (let at = from; at < ID_CHARACTERS; at += 1) {
    text[PREFIX_CHARACTERS + at] = CODES[(bytes[at - from] as number) % BASE58.length] as number;
  }
  return text.toString('latin1');
}
