/** Moving elements between lists: LMOVE, RPOPLPUSH, LMOVEM. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, NIL_ARRAY, type Reply } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { List, type ListEnd } from '../../types/list.js';
import { recordExpiry } from '../expire-time.js';
import { popSome } from './ends.js';
import {
  endAt,
  hasGrown,
  hasShrunk,
  LONG_LIST,
  lengthOf,
  popName,
  pushName,
  requireToFit,
  willGrow,
  wordOf,
} from './list-access.js';

export interface Move {
  readonly source: ByteString;
  readonly target: ByteString;
  readonly from: ListEnd;
  readonly to: ListEnd;
}

export function readMove({ args }: CommandContext): Move {
  const from = endAt(args, 3);
  return { source: args.bytes(1), target: args.bytes(2), from, to: endAt(args, 4) };
}

/** @returns the moved element; undefined when the source is missing @throws WRONGTYPE for either key */
export function moveOne(context: CommandContext, move: Move): ByteString | undefined {
  const { keyspace } = context;
  const { source, target, from, to } = move;
  const giving = keyspace.fetchKind(source, List);
  if (giving === undefined) return undefined;
  const taking = source === target ? giving : (keyspace.fetchKind(target, List) ?? new List());
  const item = giving.at(from === 'head' ? 0 : giving.size - 1);
  if (taking !== giving) requireToFit(context, taking, item.length);
  const { size, bytes } = taking;
  const givingBytes = giving.bytes;
  giving.pop(from);
  willGrow(context, taking, item.length, 1);
  taking.push(to, item);
  // If source and target are the same list, its bytes must be counted only once.
  if (taking !== giving) hasGrown(context, target, taking, size, bytes);
  context.notify('l', pushName(to).toLowerCase(), target);
  recordMove(context, move, item);
  hasShrunk(context, source, giving, givingBytes, popName(from).toLowerCase());
  if (taking !== giving) recordExpiry(context, target);
  return item;
}

/**
 * If the source expires, records a pop and a push instead of LMOVE: if the journal is imported after the source has
 * expired, the target must still get the element.
 */
function recordMove({ keyspace, effects }: CommandContext, move: Move, item: ByteString): void {
  const { source, target, from, to } = move;
  if (source !== target && keyspace.expiryOf(source) !== undefined) {
    effects.push(popName(from), source);
    effects.push(pushName(to), target, item);
  } else {
    effects.push('LMOVE', source, target, wordOf(from), wordOf(to));
  }
}

/** How many elements a command moves. */
export interface MoveCount {
  readonly count: number;
  /** Moves none if there are fewer. */
  readonly isExact: boolean;
  /** The elements keep the order of the source at either end; otherwise they are moved one by one. */
  readonly isBulk: boolean;
}

/** [COUNT n | EXACTLY n OBO | BULK] from word `at` on; without them one element. @throws ErrorReply */
export function readMoveCount({ args }: CommandContext, at: number): MoveCount {
  if (args.length === at) return { count: 1, isExact: false, isBulk: false };
  const selector = args.option(at);
  const order = args.option(at + 2);
  if (args.length !== at + 3 || !['COUNT', 'EXACTLY'].includes(selector) || !['OBO', 'BULK'].includes(order))
    throw ERRORS.syntax;
  const count = args.count(at + 1, 1, ERRORS.noCount);
  return { count, isExact: selector === 'EXACTLY', isBulk: order === 'BULK' };
}

export function isLongMove({ args }: CommandContext): boolean {
  return args.length > 5 && Number(args.words.at(-2)) > LONG_LIST;
}

/**
 * Moves elements. @returns them in the order of the target; undefined when there are none, or too few @throws WRONGTYPE
 * for either key
 */
export function* moveSome(
  context: CommandContext,
  move: Move,
  { count, isExact, isBulk }: MoveCount,
): Generator<void, ByteString[] | undefined> {
  const { keyspace } = context;
  const { source, target, from, to } = move;
  const giving = keyspace.fetchKind(source, List);
  if (giving === undefined || (isExact && giving.size < count)) return undefined;
  const taking = source === target ? giving : (keyspace.fetchKind(target, List) ?? new List());
  const moved: ByteString[] = [];
  const pace = new SlicePace();
  for (let step = 0; step < count && step < giving.size; step += 1) {
    moved.push(giving.at(from === 'head' ? step : giving.size - 1 - step) as ByteString);
    if (pace.isDue()) yield;
  }
  const isReversed = isBulk ? from === 'tail' : to === 'head';
  const ordered = isReversed ? [...moved].reverse() : moved;
  if (source === target) {
    // In bulk, elements that return to their end keep their places.
    if (!isBulk || from !== to) yield* rotate(context, move, moved.length);
    return ordered;
  }
  const bytesOfItems = lengthOf(moved);
  requireToFit(context, taking, bytesOfItems);
  yield* popSome(context, from, source, giving, moved.length);
  const pushed = to === 'head' ? [...ordered].reverse() : ordered;
  const { size, bytes } = taking;
  willGrow(context, taking, bytesOfItems, pushed.length);
  for (const item of pushed) {
    taking.push(to, item);
    if (pace.isDue()) yield;
  }
  hasGrown(context, target, taking, size, bytes);
  yield* context.effects.pushLong(pushName(to), [target, ...pushed]);
  recordExpiry(context, target);
  context.notify('l', pushName(to).toLowerCase(), target);
  return ordered;
}

/** Within one list, elements are moved one by one: the list may have no others, and must not end in between. */
function* rotate(context: CommandContext, move: Move, count: number): Generator<void, void> {
  const pace = new SlicePace();
  for (let step = 0; step < count; step += 1) {
    moveOne(context, move);
    if (pace.isDue()) yield;
  }
}

/**
 * LMOVEM source destination LEFT | RIGHT LEFT | RIGHT [COUNT n | EXACTLY n OBO | BULK] → the moved elements in the order
 * of the destination, or a null array. WRONGTYPE of either.
 */
export const moveMany: SlicedHandler = function* (context): Generator<void, Reply> {
  const move = readMove(context);
  return (yield* moveSome(context, move, readMoveCount(context, 5))) ?? NIL_ARRAY;
};

/** LMOVE source destination LEFT | RIGHT LEFT | RIGHT → the element or null. WRONGTYPE of either. */
export const move: Handler = (context) => moveOne(context, readMove(context)) ?? null;

/** RPOPLPUSH source destination → the element or null. WRONGTYPE of either. */
export const moveTailToHead: Handler = (context) => moveOne(context, tailToHead(context)) ?? null;

export function tailToHead({ args }: CommandContext): Move {
  return { source: args.bytes(1), target: args.bytes(2), from: 'tail', to: 'head' };
}
