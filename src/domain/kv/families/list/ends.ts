/** Push and pop at the ends of lists. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, NIL_ARRAY, type Reply, wrongArity } from '../../reply.js';
import { MANY_WORDS, SlicePace } from '../../slices.js';
import { textBytes } from '../../steps.js';
import { List, type ListEnd } from '../../types/list.js';
import { recordExpiry } from '../expire-time.js';
import {
  endAt,
  hasGrown,
  hasShrunk,
  LONG_LIST,
  lengthOf,
  listOrNew,
  popName,
  pushName,
  requireToFit,
  SLICE_ELEMENTS,
  willGrow,
} from './list-access.js';

/** LPUSH key element …, RPUSH → the length afterwards. WRONGTYPE if not a list. */
export function push(end: ListEnd): Handler {
  return (context) => {
    const { args, effects } = context;
    const key = args.bytes(1);
    const length = pushAll(context, end, key, listOrNew(context, key), args.from(2));
    effects.pushList(pushName(end), args.from(1));
    recordExpiry(context, key);
    return length;
  };
}

/** LPUSH and RPUSH of many elements. */
export function pushInSlices(end: ListEnd): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const { args, effects } = context;
    const key = args.bytes(1);
    const { words } = args;
    const list = listOrNew(context, key);
    const bytesOfItems = yield* textBytes(words, 2);
    requireToFit(context, list, bytesOfItems);
    const { size, bytes } = list;
    willGrow(context, list, bytesOfItems, words.length - 2);
    const pace = new SlicePace();
    for (let i = 2; i < words.length; i += 1) {
      list.push(end, words[i] as ByteString);
      if (pace.isDue()) yield;
    }
    hasGrown(context, key, list, size, bytes);
    yield* effects.pushLong(pushName(end), words, 1);
    recordExpiry(context, key);
    context.notify('l', pushName(end).toLowerCase(), key);
    return list.size;
  };
}

/** LPUSHX key element …, RPUSHX → the length afterwards, 0 if the list is missing. WRONGTYPE. */
export function pushIfPresent(end: ListEnd): Handler {
  return (context) => {
    const { args, keyspace, effects } = context;
    const key = args.bytes(1);
    const list = keyspace.fetchKind(key, List);
    if (list === undefined) return 0;
    const length = pushAll(context, end, key, list, args.from(2));
    effects.pushList(`${pushName(end)}X`, args.from(1));
    return length;
  };
}

function pushAll(
  context: CommandContext,
  end: ListEnd,
  key: ByteString,
  list: List,
  items: readonly ByteString[],
): number {
  const bytesOfItems = lengthOf(items);
  requireToFit(context, list, bytesOfItems);
  const { size, bytes } = list;
  willGrow(context, list, bytesOfItems, items.length);
  for (const item of items) list.push(end, item);
  hasGrown(context, key, list, size, bytes);
  context.notify('l', pushName(end).toLowerCase(), key);
  return list.size;
}

/** LPOP key [count], RPOP → the element, or up to `count` elements; null if missing. WRONGTYPE, negative count. */
export function pop(end: ListEnd): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const { args, keyspace } = context;
    const key = args.bytes(1);
    if (args.length > 3) throw wrongArity(popName(end));
    const count = args.length === 3 ? args.count(2, 0, ERRORS.notPositive) : undefined;
    const list = keyspace.fetchKind(key, List);
    if (list === undefined) return count === undefined ? null : NIL_ARRAY;
    if (count === 0) return [];
    const popped = yield* popSome(context, end, key, list, count ?? 1);
    return count === undefined ? (popped[0] as ByteString) : popped;
  };
}

/** Whether a command may pop so many elements that it needs slices. The count is its last word. */
export function isLongPop({ args }: CommandContext): boolean {
  if (args.length > MANY_WORDS) return true;
  return args.length > 2 && Number(args.words.at(-1)) > LONG_LIST;
}

/** Pops up to `count` elements, at least one, and records it. */
export function* popSome(
  context: CommandContext,
  end: ListEnd,
  key: ByteString,
  list: List,
  count: number,
): Generator<void, ByteString[]> {
  const { size, bytes } = list;
  const popped: ByteString[] = [];
  for (let left = Math.min(count, size); left > 0; left -= 1) {
    popped.push(list.pop(end) as ByteString);
    if (popped.length % SLICE_ELEMENTS === 0) yield;
  }
  recordPop(context, end, key, popped.length);
  hasShrunk(context, key, list, bytes, popName(end).toLowerCase());
  return popped;
}

function recordPop({ effects }: CommandContext, end: ListEnd, key: ByteString, count: number): void {
  if (count === 1) effects.push(popName(end), key);
  else effects.push(popName(end), key, String(count));
}

export interface PopMany {
  readonly keys: readonly ByteString[];
  readonly end: ListEnd;
  readonly count: number;
}

/** Parses the words of LMPOP from the number of keys on. */
export function readPopMany({ args }: CommandContext, countIndex: number): PopMany {
  const keyCount = args.count(countIndex, 1, ERRORS.noKeysCounted);
  const endIndex = countIndex + keyCount + 1;
  if (endIndex >= args.length) throw ERRORS.syntax;
  const end = endAt(args, endIndex);
  let count: number | undefined;
  for (let i = endIndex + 1; i < args.length; i += 2) {
    if (count !== undefined || args.option(i) !== 'COUNT' || i + 1 >= args.length) throw ERRORS.syntax;
    count = args.count(i + 1, 1, ERRORS.noCount);
  }
  return { keys: args.words.slice(countIndex + 1, endIndex), end, count: count ?? 1 };
}

/**
 * Pops from the first list that is not empty. @returns its key and the elements; undefined when all lists are missing
 * @throws WRONGTYPE
 */
export function* popFirstOf(
  context: CommandContext,
  { keys, end, count }: PopMany,
): Generator<void, Reply | undefined> {
  const pace = new SlicePace();
  for (const key of keys) {
    if (pace.isDue()) yield;
    const list = context.keyspace.fetchKind(key, List);
    if (list !== undefined) return [key, yield* popSome(context, end, key, list, count)];
  }
  return undefined;
}

/**
 * LMPOP numkeys key … LEFT | RIGHT [COUNT n] → [key, elements] of the first list that is not empty, or a null array.
 */
export const popMany: SlicedHandler = function* (context): Generator<void, Reply> {
  return (yield* popFirstOf(context, readPopMany(context, 1))) ?? NIL_ARRAY;
};
