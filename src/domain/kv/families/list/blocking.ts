/** List pops and moves that wait on a connection for an element: BLPOP, BRPOP, BLMPOP, BLMOVE, BLMOVEM, BRPOPLPUSH. */
import type { CommandContext, Handler } from '../../command-spec.js';
import { requireAwaitable } from '../../limits.js';
import { parseFloatStrict } from '../../numbers.js';
import { Blocked, ERRORS, NIL_ARRAY } from '../../reply.js';
import { inOneStep } from '../../steps.js';
import { List, type ListEnd } from '../../types/list.js';
import { badTimeout, longTimeout, waitOrNil } from '../waiting.js';
import { popFirstOf, popSome, readPopMany } from './ends.js';
import { type Move, moveOne, moveSome, readMove, readMoveCount, tailToHead } from './move.js';

/** Longer timeouts are refused, because a number does not hold them exactly. */
const MAX_TIMEOUT_MS = Number.MAX_SAFE_INTEGER;

const HEXADECIMAL = /^0x[0-9a-f]{1,16}$/i;

/** Seconds, as a decimal number or a hexadecimal integer, rounded up to milliseconds; 0 means no timeout. */
function timeoutAt({ args }: CommandContext, index: number): number {
  const word = args.bytes(index);
  const seconds = HEXADECIMAL.test(word) ? Number(word) : parseFloatStrict(word);
  if (seconds === undefined) throw badTimeout;
  const timeoutMs = Math.ceil(seconds * 1000);
  if (timeoutMs > MAX_TIMEOUT_MS) throw longTimeout;
  if (timeoutMs < 0) throw ERRORS.negativeTimeout;
  return timeoutMs;
}

/** BLPOP key … timeout, BRPOP → [key, element] of the first list that is not empty; a null array on timeout. */
export function popWaiting(end: ListEnd): Handler {
  return (context) => {
    const { args, keyspace } = context;
    const timeoutMs = timeoutAt(context, args.length - 1);
    const keys = args.words.slice(1, -1);
    requireAwaitable(keys.length);
    for (const key of keys) {
      const list = keyspace.fetchKind(key, List);
      if (list === undefined) continue;
      const taken = inOneStep(popSome(context, end, key, list, 1));
      return [key, ...taken];
    }
    return waitOrNil(context, keys, timeoutMs);
  };
}

/** BLMPOP timeout numkeys key … LEFT | RIGHT [COUNT n] → as LMPOP; a null array on timeout. */
export const popManyWaiting: Handler = (context) => {
  const wanted = readPopMany(context, 2);
  const timeoutMs = timeoutAt(context, 1);
  requireAwaitable(wanted.keys.length);
  const popped = inOneStep(popFirstOf(context, wanted));
  if (popped !== undefined) return popped;
  return waitOrNil(context, wanted.keys, timeoutMs);
};

/** BLMOVE source destination LEFT | RIGHT LEFT | RIGHT timeout → as LMOVE; a null array on timeout. */
export const moveWaiting: Handler = (context) => moveOrWait(context, readMove(context), 5);

/** BLMOVEM source destination LEFT | RIGHT LEFT | RIGHT timeout [COUNT n | EXACTLY n OBO | BULK] → as LMOVEM. */
export const moveManyWaiting: Handler = (context) => {
  const move = readMove(context);
  const timeoutMs = timeoutAt(context, 5);
  const moved = inOneStep(moveSome(context, move, readMoveCount(context, 6)));
  return moved ?? waitOrNil(context, [move.source], timeoutMs);
};

/** BRPOPLPUSH source destination timeout → as RPOPLPUSH; a null array on timeout. */
export const moveTailToHeadWaiting: Handler = (context) => moveOrWait(context, tailToHead(context), 3);

function moveOrWait(context: CommandContext, move: Move, timeoutIndex: number): ReturnType<Handler> {
  const timeoutMs = timeoutAt(context, timeoutIndex);
  const moved = moveOne(context, move);
  if (moved !== undefined) return moved;
  // As Redis: a null string where the command may not wait, a null array on timeout.
  return context.mayBlock ? new Blocked([move.source], timeoutMs, NIL_ARRAY) : null;
}
