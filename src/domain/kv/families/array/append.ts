/** Appending at the cursor: ARINSERT, ARRING, ARNEXT, ARSEEK, ARLASTITEMS. */
import { AnswerSize } from '../../answer-size.js';
import type { Handler, SlicedHandler } from '../../command-spec.js';
import { MAX_UNSIGNED_64, parseInt64, parseUnsigned64, type Unsigned64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { hasRoom, modulo, plus } from '../../types/array-index.js';
import { ArrayValue } from '../../types/array-value.js';
import { recordExpiry } from '../expire-time.js';
import { badIndex, readArray, shownIndex } from './array-access.js';
import { MAX_RANGE_ITEMS } from './read.js';
import { arrayToFill, recordFilled } from './write.js';

const noRoom = new ErrorReply('ERR insert index overflow');
const badSize = new ErrorReply('ERR invalid size');
const sizeNotPositive = new ErrorReply('ERR size must be positive');
const badCount = new ErrorReply('ERR invalid COUNT');
const tooManyItems = new ErrorReply(`ERR count exceeds maximum of ${MAX_RANGE_ITEMS} items`);

/** ARINSERT key value [value …] → the index of the last value. WRONGTYPE. */
export const insert: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const present = context.keyspace.fetchKind(args.bytes(1), ArrayValue);
  const first = present?.next ?? 0;
  if (!hasRoom(first, args.length - 2)) throw noRoom;
  const { array, bytesBefore } = yield* arrayToFill(context, 2);
  const pace = new SlicePace();
  let index = first;
  for (let at = 2; at < args.length; at += 1) {
    index = plus(first, at - 2);
    array.set(index, args.bytes(at));
    if (pace.isDue()) yield;
  }
  array.lastInserted = index;
  yield* recordFilled(context, array, bytesBefore);
  return shownIndex(index);
};

/**
 * ARRING key size value [value …] → the index of the last value. The values go to the indexes after the cursor, which
 * begin again at `size`. If the size differs from the one before, the latest values move to index 0 and up first.
 * WRONGTYPE.
 */
export const insertIntoRing: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const size = parseInt64(args.bytes(2));
  if (size === undefined) throw badSize;
  if (size <= 0) throw sizeNotPositive;
  let { array, bytesBefore } = yield* arrayToFill(context, 3);
  const kept = keptOnResize(array, size);
  if (kept !== undefined) {
    array = yield* latestOf(array, kept);
    keyspace.replace(key, array);
    bytesBefore = array.bytes;
  }
  let index = array.next;
  const pace = new SlicePace();
  for (let at = 3; at < args.length; at += 1) {
    index = modulo(array.next, size);
    array.set(index, args.bytes(at));
    array.lastInserted = index;
    if (pace.isDue()) yield;
  }
  yield* recordFilled(context, array, bytesBefore);
  return shownIndex(index);
};

/**
 * How many of the latest values a ring of that size keeps, if they must move: it has become smaller, or larger after
 * it had begun again at index 0. After ARSEEK 0 a larger ring is not moved. Undefined: they stay.
 */
function keptOnResize(array: ArrayValue, size: Unsigned64): Unsigned64 | undefined {
  const { length } = array;
  if (size < length) return size;
  const hasBegunAgain = size > length && array.lastInserted !== undefined && array.next < length;
  return hasBegunAgain ? length : undefined;
}

/** A new array of the latest values, oldest first: backward from the cursor, at most `most`, up to an empty slot. */
function* latestOf(array: ArrayValue, most: Unsigned64): Generator<void, ArrayValue> {
  const { length } = array;
  const pace = new SlicePace();
  let at = array.lastInserted === undefined ? plus(length, -1) : modulo(array.lastInserted, length);
  let count = 0;
  let oldest = at;
  while (count < most && array.get(at) !== undefined) {
    oldest = at;
    count += 1;
    at = at === 0 ? plus(length, -1) : plus(at, -1);
    if (pace.isDue()) yield;
  }
  const latest = new ArrayValue();
  at = oldest;
  for (let index = 0; index < count; index += 1) {
    latest.set(index, array.get(at) as string);
    at = modulo(plus(at, 1), length);
    if (pace.isDue()) yield;
  }
  if (count > 0) latest.lastInserted = count - 1;
  return latest;
}

/** ARNEXT key → the index of the next append; 0 for a missing key; null if no index is left. WRONGTYPE. */
export const next: Handler = (context) => {
  const index = readArray(context)?.next ?? 0;
  return index === MAX_UNSIGNED_64 ? null : shownIndex(index);
};

/** ARSEEK key index → 1, or 0 for a missing key. The highest 64-bit number ends appending. WRONGTYPE. */
export const seek: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const index = parseUnsigned64(args.bytes(2));
  if (index === undefined) throw badIndex;
  const array = keyspace.fetchKind(key, ArrayValue);
  if (array === undefined) return 0;
  const lastInserted = index === 0 ? undefined : plus(index, -1);
  if (lastInserted !== array.lastInserted) {
    array.lastInserted = lastInserted;
    keyspace.changed(key, array, array.bytes);
    effects.push('ARSEEK', key, String(index));
    recordExpiry(context, key);
  }
  context.notify('a', 'arseek', key);
  return 1;
};

/**
 * ARLASTITEMS key count [REV] → the values at the last positions before the cursor, oldest first, with null for an
 * empty slot. WRONGTYPE.
 */
export const lastItems: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const count = parseInt64(args.bytes(2));
  if (count === undefined) throw badCount;
  if (count <= 0) return [];
  if (args.length > 4) throw wrongArity('arlastitems');
  if (args.length === 4 && args.option(3) !== 'REV') throw ERRORS.syntax;
  const array = readArray(context);
  if (array === undefined) return [];
  const { length } = array;
  const wanted = Math.min(Number(count), Number(length));
  if (wanted > array.size && wanted > MAX_RANGE_ITEMS) throw tooManyItems;
  const size = new AnswerSize(context);
  size.requireItems(wanted);
  const { lastInserted } = array;
  let at = lastInserted === undefined || lastInserted >= length ? plus(length, -1) : lastInserted;
  const items: Reply[] = [];
  const pace = new SlicePace();
  while (items.length < wanted) {
    const value = array.get(at) ?? null;
    size.add(value?.length);
    items.push(value);
    at = at === 0 ? plus(length, -1) : plus(at, -1);
    if (pace.isDue()) yield;
  }
  if (args.length < 4) items.reverse();
  return items;
};
