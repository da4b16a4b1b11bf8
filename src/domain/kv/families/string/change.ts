/** Changing part of a string: APPEND, SETRANGE, and the counters. */

import type { CommandContext, Handler } from '../../command-spec.js';
import { requireLength } from '../../limits.js';
import { INT64_MAX, INT64_MIN, narrow, parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { addLongDoubles, isFloatText } from '../../types/long-double.js';
import { recordExpiry, replaceString } from '../expire-time.js';

const badOffset = new ErrorReply('ERR offset is out of range');
const decrementOverflow = new ErrorReply('ERR decrement would overflow');
const notFinite = new ErrorReply('ERR increment would produce NaN or Infinity');

/** APPEND key value → length afterwards. WRONGTYPE if not a string. Records only the appended text. */
export const append: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const suffix = args.bytes(2);
  const old = keyspace.fetchString(key);
  if (old !== undefined && suffix === '') return old.length;
  requireLength(context, (old?.length ?? 0) + suffix.length);
  const value = old === undefined ? suffix : old + suffix;
  // A new string is stored as by SET.
  if (old === undefined) keyspace.replace(key, value);
  else keyspace.replaceEdited(key, value);
  effects.push('APPEND', key, suffix);
  recordExpiry(context, key);
  context.notify('$', 'append', key);
  return value.length;
};

/** SETRANGE key offset value → length afterwards; zero bytes fill a gap. WRONGTYPE if not a string. */
export const setRange: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const offset = args.offset(2);
  const patch = args.bytes(3);
  if (offset < 0) throw badOffset;
  const old = keyspace.fetchString(key);
  if (patch === '') return old?.length ?? 0;
  const before = old ?? '';
  if (offset + patch.length > before.length) requireLength(context, offset + patch.length);
  const gap = offset > before.length ? '\0'.repeat(offset - before.length) : '';
  const value = before.slice(0, offset) + gap + patch + before.slice(offset + patch.length);
  if (value === old) return value.length;
  keyspace.replaceEdited(key, value);
  effects.push('SETRANGE', key, String(offset), patch);
  recordExpiry(context, key);
  context.notify('$', 'setrange', key);
  return value.length;
};

/** INCR key, DECR key → integer. WRONGTYPE, not an integer, overflow. */
export function step(by: 1 | -1): Handler {
  return (context) => count(context, by);
}

/** INCRBY key n → integer. WRONGTYPE, not an integer, overflow. */
export const incrementBy: Handler = (context) => count(context, narrow(context.args.int64(2)));

/** DECRBY key n → integer. As INCRBY; the smallest integer cannot be negated and is refused. */
export const decrementBy: Handler = (context) => {
  const by = context.args.int64(2);
  if (by === INT64_MIN) throw decrementOverflow;
  return count(context, narrow(-by));
};

function count(context: CommandContext, by: number | bigint): Reply {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const old = parseInt64(keyspace.fetchString(key) ?? '0');
  if (old === undefined) throw ERRORS.notAnInteger;
  const result = add(old, by);
  replaceString(context, key, String(result), 'incrby');
  return result;
}

function add(left: number | bigint, right: number | bigint): number | bigint {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  const sum = BigInt(left) + BigInt(right);
  if (sum > INT64_MAX || sum < INT64_MIN) throw ERRORS.overflow;
  return narrow(sum);
}

/** INCRBYFLOAT key n → the sum as a string. WRONGTYPE, not a float, infinite. */
export const incrementByFloat: Handler = (context) => {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const old = keyspace.fetchString(key) ?? '0';
  if (!isFloatText(old)) throw ERRORS.notAFloat;
  const sum = addLongDoubles(old, args.bytes(2));
  if (sum === undefined) throw ERRORS.notAFloat;
  if (sum.kind === 'infinite') throw notFinite;
  replaceString(context, key, sum.text, 'incrbyfloat');
  return sum.text;
};
