/** Removing members from an end: ZPOPMIN, ZPOPMAX, ZMPOP, and their blocking variants. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { requireAwaitable } from '../../limits.js';
import { INT64_MAX } from '../../numbers.js';
import { DoubleReply, ERRORS, NIL_ARRAY, PairsReply, pairsOf, type Reply } from '../../reply.js';
import { MANY_WORDS, SlicePace } from '../../slices.js';
import { inOneStep } from '../../steps.js';
import { parseScore } from '../../types/score-text.js';
import { SortedSet } from '../../types/sorted-set.js';
import { badTimeout, longTimeout, waitOrNil } from '../waiting.js';
import { removeMembers } from './effects.js';
import { LONG_SORTED_SET_ENTRIES, SLICE_ENTRIES } from './limits.js';

export type End = 'min' | 'max';

/** Removes up to `count` members from an end of an existing set. @returns member, score, member, score … */
function* take(
  context: CommandContext,
  key: ByteString,
  set: SortedSet,
  end: End,
  count: number,
): Generator<void, Reply[]> {
  const members: ByteString[] = [];
  const items: Reply[] = [];
  const visit = (member: ByteString, score: number): void => {
    members.push(member);
    items.push(member, new DoubleReply(score));
  };
  const total = Math.min(count, set.size);
  for (let done = 0; done < total; done += SLICE_ENTRIES) {
    const next = Math.min(total, done + SLICE_ENTRIES);
    if (end === 'min') set.walk(done, next, visit);
    else set.walkBack(set.size - next, set.size - done, visit);
    if (next < total) yield;
  }
  yield* removeMembers(context, key, set, members, end === 'min' ? 'zpopmin' : 'zpopmax');
  return items;
}

/** ZPOPMIN | ZPOPMAX key [count] → members with scores; without a count one member, as a flat list in RESP3 too. */
export function pop(end: End): SlicedHandler {
  return function* (context) {
    const { args, keyspace } = context;
    if (args.length > 3) throw ERRORS.syntax;
    const hasCount = args.length === 3;
    const count = hasCount ? args.count(2, 0, ERRORS.notPositive) : 1;
    const set = keyspace.fetchKind(args.bytes(1), SortedSet);
    if (set === undefined || count === 0) return [];
    const items = yield* take(context, args.bytes(1), set, end, count);
    return hasCount ? new PairsReply(items) : items;
  };
}

export function isLongPop({ args, keyspace }: CommandContext): boolean {
  const set = args.length === 3 ? keyspace.peek(args.bytes(1)) : undefined;
  return (
    set instanceof SortedSet && set.size > LONG_SORTED_SET_ENTRIES && Number(args.bytes(2)) > LONG_SORTED_SET_ENTRIES
  );
}

interface ManyRequest {
  readonly keys: readonly ByteString[];
  readonly end: End;
  readonly count: number;
}

/** `numkeys key … MIN | MAX [COUNT n]`, from index `countAt` on. @throws ErrorReply */
function readMany({ args }: CommandContext, countAt: number): ManyRequest {
  const keyCount = args.count(countAt, 1, ERRORS.noKeysCounted);
  const endAt = countAt + keyCount + 1;
  const word = args.option(endAt);
  if (word !== 'MIN' && word !== 'MAX') throw ERRORS.syntax;
  let count: number | undefined;
  for (let i = endAt + 1; i < args.length; i += 2) {
    if (args.option(i) !== 'COUNT' || count !== undefined || i + 1 === args.length) throw ERRORS.syntax;
    count = args.count(i + 1, 1, ERRORS.noCount);
  }
  return { keys: args.words.slice(countAt + 1, endAt), end: word === 'MIN' ? 'min' : 'max', count: count ?? 1 };
}

/** The first key with a set, and the set. @throws WRONGTYPE if an earlier key holds another type */
function* firstSet(
  { keyspace }: CommandContext,
  keys: readonly ByteString[],
): Generator<void, [ByteString, SortedSet] | undefined> {
  const pace = new SlicePace();
  for (const key of keys) {
    if (pace.isDue()) yield;
    const set = keyspace.fetchKind(key, SortedSet);
    if (set !== undefined) return [key, set];
  }
  return undefined;
}

function* popFirst(context: CommandContext, { keys, end, count }: ManyRequest): Generator<void, Reply | undefined> {
  const found = yield* firstSet(context, keys);
  if (found === undefined) return undefined;
  const [key, set] = found;
  return [key, pairsOf(yield* take(context, key, set, end, count))];
}

/** ZMPOP numkeys key … MIN | MAX [COUNT n] → [key, pairs] of the first set that is not empty, or null. */
export const popMany: SlicedHandler = function* (context) {
  return (yield* popFirst(context, readMany(context, 1))) ?? NIL_ARRAY;
};

export function isLongManyPop({ args }: CommandContext): boolean {
  return args.length > MANY_WORDS || Number(args.words[args.length - 1]) > LONG_SORTED_SET_ENTRIES;
}

/** BZMPOP timeout numkeys key … MIN | MAX [COUNT n] → as ZMPOP; waits for members. */
export const awaitMany: Handler = (context) => {
  const request = readMany(context, 2);
  const timeoutMs = readTimeoutMs(context, 1);
  requireAwaitable(request.keys.length);
  return inOneStep(popFirst(context, request)) ?? waitOrNil(context, request.keys, timeoutMs);
};

/** BZPOPMIN | BZPOPMAX key … timeout → [key, member, score]; waits for a member. */
export function awaitOne(end: End): Handler {
  return (context) => {
    const { args } = context;
    const timeoutMs = readTimeoutMs(context, args.length - 1);
    const keys = args.words.slice(1, -1);
    requireAwaitable(keys.length);
    const found = inOneStep(firstSet(context, keys));
    if (found === undefined) return waitOrNil(context, keys, timeoutMs);
    const [key, set] = found;
    return [key, ...inOneStep(take(context, key, set, end, 1))];
  };
}

/** Seconds, with a fraction; 0 means no timeout. @throws ErrorReply */
function readTimeoutMs({ args, nowMs }: CommandContext, index: number): number {
  const seconds = parseScore(args.bytes(index));
  if (seconds === undefined) throw badTimeout;
  const timeoutMs = Math.ceil(seconds * 1000);
  if (timeoutMs >= Number(INT64_MAX) - nowMs) throw longTimeout;
  if (timeoutMs < 0) throw ERRORS.negativeTimeout;
  return timeoutMs;
}
