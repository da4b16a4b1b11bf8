/** What list commands share: their words, and what follows when a list has changed. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { List, type ListEnd } from '../../types/list.js';

/** Elements gone through in one slice: well under a millisecond. */
export const SLICE_ELEMENTS = 8192;
/** A list beyond this is gone through in slices. */
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

/** An integer whose opposite is one too. */
export function symmetricAt(args: Args, index: number): number {
  if (args.int64(index) === -(2n ** 63n)) throw beyondSymmetric;
  return args.offset(index);
}

/** The list at the key, a new one if there is none. Stored by `hasGrown`. */
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

/** This is called after elements were added, with the size and the bytes from before. */
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

/** This is called after elements were taken away: tells of the event, and of `del` when none is left. */
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
