/** Writing and removing by index: ARSET, ARMSET, ARDEL, ARDELRANGE. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import type { Unsigned64 } from '../../numbers.js';
import { ErrorReply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { hasRoom, plus } from '../../types/array-index.js';
import { ArrayValue } from '../../types/array-value.js';
import { recordExpiry } from '../expire-time.js';
import { indexAtWord, readIndexes, requireSize } from './array-access.js';

/** The documented REST API names the index, Redis the whole list of values. */
const tooManyValues = new ErrorReply('ERR array index overflow', 'ERR invalid array index');

/** ARSET key index value [value …] → how many slots were empty. WRONGTYPE. */
export const set: SlicedHandler = function* (context) {
  const { args } = context;
  const first = indexAtWord(args, 2);
  if (!hasRoom(first, args.length - 3)) throw tooManyValues;
  const { array, bytesBefore } = yield* arrayToFill(context, 3);
  let added = 0;
  const pace = new SlicePace();
  for (let at = 3; at < args.length; at += 1) {
    if (array.set(plus(first, at - 3), args.bytes(at))) added += 1;
    if (pace.isDue()) yield;
  }
  yield* recordFilled(context, array, bytesBefore);
  return added;
};

/** ARMSET key index value [index value …] → how many slots were empty. WRONGTYPE. */
export const setMany: SlicedHandler = function* (context) {
  const { args } = context;
  if (args.length % 2 !== 0) throw wrongArity('armset');
  const indexes = yield* readIndexes(args, 2, 2);
  const { array, bytesBefore } = yield* arrayToFill(context, 3);
  let added = 0;
  const pace = new SlicePace();
  for (const [at, index] of indexes.entries()) {
    if (array.set(index, args.bytes(3 + 2 * at))) added += 1;
    if (pace.isDue()) yield;
  }
  yield* recordFilled(context, array, bytesBefore);
  return added;
};

/** ARDEL key index [index …] → how many slots were occupied. WRONGTYPE. */
export const remove: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const indexes = yield* readIndexes(args, 2);
  const array = keyspace.fetchKind(key, ArrayValue);
  if (array === undefined) return 0;
  const before = array.bytes;
  const removed: ByteString[] = [key];
  const pace = new SlicePace();
  for (const index of indexes) {
    if (array.delete(index)) removed.push(String(index));
    if (pace.isDue()) yield;
  }
  if (removed.length === 1) return 0;
  const wasLast = keyspace.changed(key, array, before);
  yield* context.effects.pushLong('ARDEL', removed);
  announceRemoval(context, 'ardel', wasLast);
  return removed.length - 1;
};

/** ARDELRANGE key start end [start end …] → how many slots were occupied; each range in either order. WRONGTYPE. */
export const removeRanges: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  if (args.length % 2 !== 0) throw wrongArity('ardelrange');
  const ends = yield* readIndexes(args, 2);
  const array = keyspace.fetchKind(key, ArrayValue);
  if (array === undefined) return 0;
  const before = array.bytes;
  let removed = 0;
  for (let at = 0; at < ends.length; at += 2) {
    const [from, to] = [ends[at] as Unsigned64, ends[at + 1] as Unsigned64];
    removed += yield* from < to ? array.deleteRange(from, to) : array.deleteRange(to, from);
    if (at % ENDS_A_SLICE === ENDS_A_SLICE - 2) yield;
  }
  if (removed === 0) return 0;
  const wasLast = keyspace.changed(key, array, before);
  yield* context.effects.pushLong('ARDELRANGE', args.words, 1);
  announceRemoval(context, 'ardelrange', wasLast);
  return removed;
};

const ENDS_A_SLICE = 500;

/**
 * The array of the command's key, for values from word `from` on; a new one if the key is missing. @throws WRONGTYPE,
 * ErrorReply
 */
export function* arrayToFill(
  context: CommandContext,
  from: number,
): Generator<void, { readonly array: ArrayValue; readonly bytesBefore: number }> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const present = keyspace.fetchKind(key, ArrayValue);
  yield* requireSize(context, present, from);
  if (present !== undefined) return { array: present, bytesBefore: present.bytes };
  const array = new ArrayValue();
  keyspace.set(key, array);
  return { array, bytesBefore: array.bytes };
}

/** Records and announces a command that has filled slots; replayed, it fills the same ones. */
export function* recordFilled(context: CommandContext, array: ArrayValue, bytesBefore: number): Generator<void, void> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const name = args.option(0);
  keyspace.changed(key, array, bytesBefore);
  yield* effects.pushLong(name, args.words, 1);
  recordExpiry(context, key);
  context.notify('a', name.toLowerCase(), key);
}

function announceRemoval(context: CommandContext, event: string, wasLast: boolean): void {
  const key = context.args.bytes(1);
  context.notify('a', event, key);
  if (wasLast) context.notify('g', 'del', key);
  else recordExpiry(context, key);
}
