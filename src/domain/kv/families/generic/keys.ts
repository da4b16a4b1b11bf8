/** Commands for keys of any type: EXISTS, DEL, TYPE, RENAME, COPY. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { SLICE_WORDS } from '../../limits.js';
import { ERRORS, ErrorReply, OK, SimpleString } from '../../reply.js';
import type { Value } from '../../value.js';
import { copyInSlices } from './dump.js';

const sameObjects = new ErrorReply('ERR source and destination objects are the same');

/** EXISTS key …, TOUCH key … → how many of the words name a key; duplicates count. */
export const countExisting: SlicedHandler = function* ({ args, keyspace }) {
  let count = 0;
  for (let i = 1; i < args.length; i += 1) {
    if (keyspace.exists(args.bytes(i))) count += 1;
    if (i % SLICE_WORDS === 0) yield;
  }
  return count;
};

/** DEL key …, UNLINK key … → how many were deleted. */
export const remove: SlicedHandler = function* ({ args, keyspace, effects, nowMs, notify }) {
  let removed: ByteString[] = [];
  let visible = 0;
  for (let i = 1; i < args.length; i += 1) {
    const key = args.bytes(i);
    const expireAtMs = keyspace.expiryOf(key);
    if (keyspace.delete(key)) {
      removed.push(key);
      // An expired key is removed as well but does not count.
      if (expireAtMs === undefined || expireAtMs > nowMs) {
        visible += 1;
        notify('g', 'del', key);
      }
    }
    if (i % SLICE_WORDS !== 0) continue;
    if (removed.length > 0) effects.pushList('DEL', removed);
    removed = [];
    yield;
  }
  if (removed.length > 0) effects.pushList('DEL', removed);
  return visible;
};

/** TYPE key → the kind of value as a status, `none` if missing. */
export const type: Handler = ({ args, keyspace }) => new SimpleString(typeName(keyspace.peek(args.bytes(1))));

/** The type name that TYPE and SCAN use. */
export function typeName(value: Value | undefined): string {
  if (value === undefined) return 'none';
  if (typeof value === 'string') return 'string';
  return value.kind === 'json' ? 'ReJSON-RL' : value.kind;
}

/** RENAME key newkey → OK. No such key. RENAMENX → 1, or 0 when the new name is taken. */
export function rename(onlyIfFree: boolean): Handler {
  return (context) => {
    const { args, keyspace, effects } = context;
    const source = args.bytes(1);
    const target = args.bytes(2);
    const value = keyspace.fetch(source);
    if (value === undefined) throw ERRORS.noSuchKey;
    if (source === target) return onlyIfFree ? 0 : OK;
    if (onlyIfFree && keyspace.fetch(target) !== undefined) return 0;
    const expireAtMs = keyspace.expiryOf(source);
    makeWay(context, target, expireAtMs);
    keyspace.delete(source);
    keyspace.set(target, value, expireAtMs);
    effects.push('RENAME', source, target);
    context.notify('g', 'rename_from', source);
    context.notify('g', 'rename_to', target);
    return onlyIfFree ? 1 : OK;
  };
}

/** COPY source destination [DB 0] [REPLACE] → 1, or 0 if the source is missing or the destination exists. */
export const copy: SlicedHandler = function* (context) {
  const { args, keyspace, effects, endpoint } = context;
  const source = args.bytes(1);
  const target = args.bytes(2);
  let replaces = false;
  for (let i = 3; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'REPLACE') {
      replaces = true;
    } else if (option === 'DB') {
      i += 1;
      args.bytes(i);
      if (args.offset(i) !== 0) throw ERRORS.noSuchDatabase;
    } else throw ERRORS.syntax;
  }
  if (source === target) {
    if (endpoint === 'resp') throw sameObjects;
    return 0;
  }
  const value = keyspace.fetch(source);
  if (value === undefined) return 0;
  if (keyspace.fetch(target) !== undefined && !replaces) return 0;
  const expireAtMs = keyspace.expiryOf(source);
  const copied = yield* copyInSlices(context, target, value);
  makeWay(context, target, expireAtMs);
  keyspace.set(target, copied, expireAtMs);
  effects.push('COPY', source, target, 'REPLACE');
  context.notify('g', 'copy_to', target);
  return 1;
};

/**
 * Deletes the target first if the source expires. If the journal is imported after the source has expired, RENAME or
 * COPY would not overwrite the target, which must not survive.
 */
function makeWay(
  { keyspace, effects }: CommandContext,
  target: ByteString,
  sourceExpiresAtMs: number | undefined,
): void {
  if (sourceExpiresAtMs !== undefined && keyspace.delete(target)) effects.push('DEL', target);
}
