/** Shared parts of list commands: their words, and the bookkeeping after a change. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { List, type ListEnd } from '../../types/list.js';

/** Elements visited in one slice: well under a millisecond. */
export const SLICE_ELEMENTS = 8192;
/** Longer lists are processed in slices. */
export const LONG_LIST = 5000;

const beyondSymmetric = new ErrorReply(
  'ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807',
);

/** LEFT or RIGHT. */
export function endAt(args: Args, index: number): ListEnd {
  const word = args.option(index);
  if (word === 'LEFT') return 'head';
  if (word === 'RIGHT') return 'tail';
  throw ERRORS.syntax;
}

export function wordOf(end: ListEnd): 'LEFT' | 'RIGHT' {
  return end === 'head' ? 'LEFT' : 'RIGHT';
}

export function popName(end: ListEnd): 'LPOP' | 'RPOP' {
  return end === 'head' ? 'LPOP' : 'RPOP';
}

export function pushName(end: ListEnd): 'LPUSH' | 'RPUSH' {
  return end === 'head' ? 'LPUSH' : 'RPUSH';
}

/** An integer that can be negated within 64 bits. */
export function symmetricAt(args: Args, index: number): number {
  if (args.int64(index) === -(2n ** 63n)) throw beyondSymmetric;
  return args.offset(index);
}

/** The list, or a new one if missing, which `hasGrown` stores. */
export function listOrNew({ keyspace }: CommandContext, key: ByteString): List {
  return keyspace.fetchKind(key, List) ?? new List();
}

function packLimit({ settings }: CommandContext): number {
  return settings.number('list-max-listpack-size');
}

/** @throws ErrorReply when the list would become too large */
export function requireToFit(context: CommandContext, list: List | undefined, textBytes: number): void {
  requireRecordSize(context, (list?.bytes ?? 0) + textBytes);
}

export function willGrow(context: CommandContext, list: List, textBytes: number, count: number): void {
  list.willGrow(packLimit(context), textBytes, count);
}

/** To be called after elements were added, with the previous size and bytes. */
export function hasGrown(
  { keyspace }: CommandContext,
  key: ByteString,
  list: List,
  wasSize: number,
  wasBytes: number,
): void {
  if (wasSize === 0) keyspace.set(key, list);
  else keyspace.changed(key, list, wasBytes);
}

/** To be called after elements were removed: publishes the event, and `del` when the list is empty. */
export function hasShrunk(context: CommandContext, key: ByteString, list: List, wasBytes: number, event: string): void {
  context.notify('l', event, key);
  list.hasShrunk(packLimit(context));
  if (context.keyspace.changed(key, list, wasBytes)) context.notify('g', 'del', key);
}

export function lengthOf(items: readonly ByteString[]): number {
  let bytes = 0;
  for (const item of items) bytes += item.length;
  return bytes;
}
