/** List commands by position and by element: LRANGE, LINDEX, LPOS, LINSERT, LSET, LREM, LTRIM. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, ErrorReply, OK, type Reply } from '../../reply.js';
import { List, type ListEnd } from '../../types/list.js';
import { hasShrunk, LONG_LIST, requireToFit, SLICE_ELEMENTS, symmetricAt, willGrow } from './list-access.js';

const zeroRank = new ErrorReply(
  "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
    'or use negative to start from the end of the list',
);
const negativeCount = new ErrorReply("ERR COUNT can't be negative");
const negativeLength = new ErrorReply("ERR MAXLEN can't be negative");

/** Whether the list at the first key is long. */
export function isLong({ args, keyspace }: CommandContext): boolean {
  const list = keyspace.peek(args.bytes(1));
  return list instanceof List && list.size > LONG_LIST;
}

/** LLEN key → the length; 0 if missing. WRONGTYPE. */
export const length: Handler = ({ args, keyspace }) => keyspace.peekKind(args.bytes(1), List)?.size ?? 0;

/** LINDEX key index → the element, negative from the end; null if out of range. WRONGTYPE. */
export const element: Handler = ({ args, keyspace }) => {
  const list = keyspace.peekKind(args.bytes(1), List);
  if (list === undefined) return null;
  const given = args.offset(2);
  const index = given < 0 ? list.size + given : given;
  return index >= 0 && index < list.size ? list.at(index) : null;
};

/** Converts Redis's start and stop to [first index, index after the last]. */
function rangeOf(list: List, start: number, end: number): [number, number] {
  const first = Math.max(0, start < 0 ? list.size + start : start);
  const last = Math.min(list.size - 1, end < 0 ? list.size + end : end);
  return first > last ? [0, 0] : [first, last + 1];
}

/** LRANGE key start stop → the elements, both ends included, negative from the end. WRONGTYPE. */
export const range: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const size = new AnswerSize(context);
  const start = args.offset(2);
  const stop = args.offset(3);
  const list = keyspace.peekKind(args.bytes(1), List);
  const found: ByteString[] = [];
  if (list === undefined) return found;
  const [first, end] = rangeOf(list, start, stop);
  if (first === end) return found;
  let untilSlice = SLICE_ELEMENTS;
  for (const [{ items }, at] of list.blocks('head', first)) {
    if (at >= end) break;
    const from = Math.max(0, first - at);
    const to = Math.min(items.length, end - at);
    let bytes = 0;
    for (let i = from; i < to; i += 1) {
      const item = items[i] as ByteString;
      bytes += item.length;
      found.push(item);
    }
    size.addItems(to - from, bytes);
    untilSlice -= items.length;
    if (untilSlice > 0) continue;
    untilSlice = SLICE_ELEMENTS;
    yield;
  }
  return found;
};

/** LTRIM key start stop → OK; keeps only that range. WRONGTYPE. */
export const trim: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const start = args.offset(2);
  const stop = args.offset(3);
  const list = keyspace.fetchKind(key, List);
  if (list === undefined) return OK;
  const [first, end] = rangeOf(list, start, stop);
  const { size, bytes } = list;
  const kept = end - first;
  list.drop('tail', kept === 0 ? size : size - end);
  list.drop('head', kept === 0 ? 0 : first);
  if (kept === size) {
    // As in Redis, the event is published even without a change.
    context.notify('l', 'ltrim', key);
    return OK;
  }
  if (kept === 0) effects.push('DEL', key);
  else effects.push('LTRIM', key, String(first), String(end - 1));
  hasShrunk(context, key, list, bytes, 'ltrim');
  return OK;
};

/** LSET key index element → OK. No such key, WRONGTYPE, index out of range. */
export const replace: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const list = keyspace.fetchKind(key, List);
  if (list === undefined) throw ERRORS.noSuchKey;
  const given = args.offset(2);
  const item = args.bytes(3);
  willGrow(context, list, item.length, 1);
  const index = given < 0 ? list.size + given : given;
  if (index < 0 || index >= list.size) throw ERRORS.indexOutOfRange;
  requireToFit(context, list, item.length - list.at(index).length);
  const { bytes } = list;
  list.replace(index, item);
  list.hasShrunk(context.settings.number('list-max-listpack-size'));
  keyspace.changed(key, list, bytes);
  effects.push('LSET', key, String(index), item);
  context.notify('l', 'lset', key);
  return OK;
};

/**
 * LINSERT key BEFORE | AFTER pivot element → the length, −1 if the pivot is missing, 0 if the list is missing.
 * WRONGTYPE.
 */
export const insert: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  const side = args.option(2);
  if (side !== 'BEFORE' && side !== 'AFTER') throw ERRORS.syntax;
  const key = args.bytes(1);
  const pivot = args.bytes(3);
  const item = args.bytes(4);
  const list = keyspace.fetchKind(key, List);
  if (list === undefined) return 0;
  requireToFit(context, list, item.length);
  willGrow(context, list, item.length, 1);
  const [index] = yield* positions(list, { item: pivot, from: 'head', skip: 0, limit: 1, within: list.size });
  if (index === undefined) return -1;
  const { bytes } = list;
  list.insert(side === 'BEFORE' ? index : index + 1, item);
  keyspace.changed(key, list, bytes);
  effects.push('LINSERT', key, side, pivot, item);
  context.notify('l', 'linsert', key);
  return list.size;
};

/** LREM key count element → how many were removed: from the head, from the tail if negative, all if 0. WRONGTYPE. */
export const remove: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const count = symmetricAt(args, 2);
  const item = args.bytes(3);
  const list = keyspace.fetchKind(key, List);
  if (list === undefined) return 0;
  const { bytes } = list;
  const limit = count === 0 ? list.size : Math.abs(count);
  const removed = yield* list.remove(item, limit, count < 0 ? 'tail' : 'head');
  if (removed === 0) return 0;
  effects.push('LREM', key, String(count), item);
  hasShrunk(context, key, list, bytes, 'lrem');
  return removed;
};

interface Search {
  readonly item: ByteString;
  readonly from: ListEnd;
  /** Matches to skip. */
  readonly skip: number;
  /** The most matches to return. */
  readonly limit: number;
  /** The most elements to compare. */
  readonly within: number;
}

/** Indexes of the elements equal to `item`, in search order. */
function* positions(list: List, { item, from, skip, limit, within }: Search): Generator<void, number[]> {
  const found: number[] = [];
  const step = from === 'head' ? 1 : -1;
  let toSkip = skip;
  let left = within;
  let untilSlice = SLICE_ELEMENTS;
  for (const [{ items }, at] of list.blocks(from)) {
    for (let i = step > 0 ? 0 : items.length - 1; i >= 0 && i < items.length && left > 0; i += step) {
      left -= 1;
      if (items[i] !== item) continue;
      if (toSkip > 0) {
        toSkip -= 1;
        continue;
      }
      found.push(at + i);
      if (found.length >= limit) return found;
    }
    if (left === 0) break;
    untilSlice -= items.length;
    if (untilSlice > 0) continue;
    untilSlice = SLICE_ELEMENTS;
    yield;
  }
  return found;
}

/**
 * LPOS key element [RANK n] [COUNT n] [MAXLEN n] → the index or null; with COUNT a list of indexes, 0 meaning all.
 * WRONGTYPE; a rank of zero, a negative count or length.
 */
export const position: SlicedHandler = function* ({ args, keyspace }): Generator<void, Reply> {
  let rank = 1;
  let count: number | undefined;
  let within = 0;
  for (let i = 3; i < args.length; i += 2) {
    const option = args.option(i);
    if (i + 1 >= args.length) throw ERRORS.syntax;
    if (option === 'RANK') {
      rank = symmetricAt(args, i + 1);
      if (rank === 0) throw zeroRank;
    } else if (option === 'COUNT') count = args.count(i + 1, 0, negativeCount);
    else if (option === 'MAXLEN') within = args.count(i + 1, 0, negativeLength);
    else throw ERRORS.syntax;
  }
  const list = keyspace.peekKind(args.bytes(1), List);
  if (list === undefined) return count === undefined ? null : [];
  const found = yield* positions(list, {
    item: args.bytes(2),
    from: rank > 0 ? 'head' : 'tail',
    skip: Math.abs(rank) - 1,
    limit: count === undefined ? 1 : count === 0 ? list.size : count,
    within: within === 0 ? list.size : within,
  });
  return count === undefined ? (found[0] ?? null) : found;
};
