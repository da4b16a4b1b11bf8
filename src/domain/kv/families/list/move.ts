/** Moving an element between lists: LMOVE, RPOPLPUSH. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { List, type ListEnd } from '../../types/list.js';
import { recordExpiry } from '../expire-time.js';
import { endAt, hasGrown, hasShrunk, popName, pushName, requireToFit, willGrow, wordOf } from './list-access.js';

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

/** LMOVE source destination LEFT | RIGHT LEFT | RIGHT → the element or null. WRONGTYPE of either. */
export const move: Handler = (context) => moveOne(context, readMove(context)) ?? null;

/** RPOPLPUSH source destination → the element or null. WRONGTYPE of either. */
export const moveTailToHead: Handler = (context) => moveOne(context, tailToHead(context)) ?? null;

export function tailToHead({ args }: CommandContext): Move {
  return { source: args.bytes(1), target: args.bytes(2), from: 'tail', to: 'head' };
}
