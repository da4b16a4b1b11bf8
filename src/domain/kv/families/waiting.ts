/** Shared parts of the blocking pops (BLPOP, BZPOPMIN …), which wait for elements only on a connection. */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandContext } from '../command-spec.js';
import { Blocked, ErrorReply, NIL_ARRAY, type NilArray } from '../reply.js';

export const badTimeout = new ErrorReply('ERR timeout is not a float or out of range');
export const longTimeout = new ErrorReply('ERR timeout is out of range');

/** Where the command may not wait, it answers immediately as on timeout. */
export function waitOrNil(
  { mayBlock }: CommandContext,
  keys: readonly ByteString[],
  timeoutMs: number,
): Blocked | NilArray {
  return mayBlock ? new Blocked(keys, timeoutMs, NIL_ARRAY) : NIL_ARRAY;
}
