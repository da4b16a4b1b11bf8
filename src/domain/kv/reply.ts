/**
 * What a command answers, before it has a form on the wire. Strings are byte strings (kernel/bytes.ts).
 * The view is RESP2's: maps are flat arrays, doubles are strings, booleans are integers.
 */
import type { ByteString } from '../../kernel/index.js';

/** A status such as `OK`; told apart from a bulk string that happens to hold the same bytes. */
export class SimpleString {
  constructor(readonly text: ByteString) {}
}

/** An error a client sees. `text` begins with its class: `ERR …`, `WRONGTYPE …`. Thrown or returned by handlers. */
export class ErrorReply {
  constructor(readonly text: ByteString) {}
}

/** RESP2's null array (`*-1`), where Redis answers that instead of a null bulk string. */
export class NilArray {
  private constructor() {}
  static readonly VALUE = new NilArray();
}

export type Reply = ByteString | number | bigint | null | SimpleString | ErrorReply | NilArray | readonly Reply[];

export const OK = new SimpleString('OK');
export const NIL_ARRAY = NilArray.VALUE;

export const ERRORS = {
  wrongType: new ErrorReply('WRONGTYPE Operation against a key holding the wrong kind of value'),
  syntax: new ErrorReply('ERR syntax error'),
  notAnInteger: new ErrorReply('ERR value is not an int or out of range'),
  notAFloat: new ErrorReply('ERR value is not a valid float'),
  noSuchKey: new ErrorReply('ERR no such key'),
  indexOutOfRange: new ErrorReply('ERR index out of range'),
  overflow: new ErrorReply('ERR increment or decrement would overflow'),
  crossSlot: new ErrorReply("CROSSSLOT Keys in request don't hash to the same slot"),
  emptyCommand: new ErrorReply('ERR empty command'),
  recordTooLarge: new ErrorReply('ERR max single record size exceeded'),
} as const;

export function wrongArity(commandName: string): ErrorReply {
  return new ErrorReply(`ERR wrong number of arguments for '${commandName.toLowerCase()}' command`);
}

/** Connection, transaction and subscription commands sent as plain ones over REST. */
export function notOverRest(commandName: string): ErrorReply {
  return new ErrorReply(
    `ERR Command "${commandName.toUpperCase()}" is not allowed in REST or it has a special context path`,
  );
}

export function invalidExpireTime(commandName: string): ErrorReply {
  return new ErrorReply(`ERR invalid expire time in '${commandName.toLowerCase()}' command`);
}

export function notAvailable(commandName: string): ErrorReply {
  return new ErrorReply(`ERR Command is not available: '${commandName.toUpperCase()}'`);
}
