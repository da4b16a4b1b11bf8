/** Setting and deleting fields: HSET, HMSET, HSETNX, HDEL, HINCRBY, HINCRBYFLOAT. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, CommandSpec, Handler, SlicedHandler } from '../../command-spec.js';
import { INT64_MAX, INT64_MIN, narrow, parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, OK, type Reply, wrongArity } from '../../reply.js';
import { filtered } from '../../slices.js';
import { HashValue } from '../../types/hash-value.js';
import { addLongDoubles, isFloatText } from '../../types/long-double.js';
import { recordExpiry } from '../expire-time.js';
import { SLICE_STEPS } from '../random-draws.js';
import {
  adaptEncoding,
  hashOrNew,
  hashToChange,
  noteDeleted,
  putField,
  recordField,
  requireHashSize,
} from './open-hash.js';

const hashValueNotInteger = new ErrorReply('ERR hash value is not an integer');
const hashValueNotFloat = new ErrorReply('ERR hash value is not a float');
const incrementNotFinite = new ErrorReply('ERR value is NaN or Infinity');
const sumNotFinite = new ErrorReply('ERR increment would produce NaN or Infinity');
const INFINITE = /^[+-]?inf(?:inity)?$/i;

/** HSET key field value [field value …] → how many fields are new; HMSET → OK. Clears the expiries of the fields. */
export function setFields(name: 'hset' | 'hmset'): SlicedHandler {
  return function* (context) {
    const { args, effects } = context;
    const { length } = args;
    if (length % 2 === 1) throw wrongArity(name);
    const words = args.words;
    const key = args.bytes(1);
    const present = hashToChange(context, key);
    requireHashSize(context, present, 2, length);
    const hash = hashOrNew(context, key, present);
    const before = hash.bytes;
    if (length > 4) adaptEncoding(context, hash, (length - 2) / 2, 0);
    let created = 0;
    for (let i = 2; i < length; i += 2) {
      const field = words[i] as ByteString;
      if (putField(context, hash, field, words[i + 1] as ByteString)) created += 1;
      else hash.persist(field);
      if (i % SLICE_STEPS === 0) yield;
    }
    context.keyspace.changed(key, hash, before);
    yield* effects.pushLong('HSET', words, 1);
    recordExpiry(context, key);
    context.notify('h', 'hset', key);
    return name === 'hset' ? created : OK;
  };
}

/** The command by which an endpoint sends HIMPORT SET to an owner: key field value [field value …] → OK. */
export const REPLACE_HASH = 'HIMPORT.SET';

/** Replaces a hash and its expiry. WRONGTYPE if the key holds another type. */
export const replaceHash: SlicedHandler = function* (context) {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  keyspace.fetchKind(key, HashValue);
  requireHashSize(context, undefined, 2, args.length);
  if (keyspace.delete(key)) effects.push('DEL', key);
  const spec = context.commands.rowOf('HSET') as CommandSpec;
  yield* context.callInSlices(spec, ['HSET', ...args.from(1)]);
  return OK;
};

/** HSETNX key field value → 1, or 0 when the field exists. */
export const setFieldIfMissing: Handler = (context) => {
  const { args } = context;
  const key = args.bytes(1);
  const field = args.bytes(2);
  const present = hashToChange(context, key);
  if (present?.has(field, context.nowMs) === true) return 0;
  requireHashSize(context, present, 2, 4);
  storeField(context, present, args.bytes(3), 'hset');
  return 1;
};

/** HDEL key field [field …] → how many were deleted. */
export const deleteFields: SlicedHandler = function* (context) {
  const { args } = context;
  const key = args.bytes(1);
  const hash = hashToChange(context, key);
  if (hash === undefined) return 0;
  const before = hash.bytes;
  const removed = yield* filtered(args.words, (field) => hash.has(field, context.nowMs) && hash.delete(field), 2);
  if (removed.length === 0) return 0;
  yield* context.effects.pushLong('HDEL', [key].concat(removed));
  noteDeleted(context, key, hash, before);
  return removed.length;
};

/** HINCRBY key field n → the sum. Not an integer, overflow. Keeps the field's expiry. */
export const incrementField: Handler = (context) => {
  const { args } = context;
  const key = args.bytes(1);
  const field = args.bytes(2);
  const by = args.int64(3);
  const present = hashToChange(context, key);
  const old = parseInt64(present?.get(field, context.nowMs) ?? '0');
  if (old === undefined) throw hashValueNotInteger;
  const sum = BigInt(old) + by;
  if (sum > INT64_MAX || sum < INT64_MIN) throw ERRORS.overflow;
  requireHashSize(context, present, 2, 4);
  return narrow(BigInt(storeField(context, present, String(sum), 'hincrby')));
};

/** HINCRBYFLOAT key field n → the sum as a string. Not a float, infinite. Keeps the field's expiry. */
export const incrementFieldByFloat: Handler = (context): Reply => {
  const { args } = context;
  const key = args.bytes(1);
  const field = args.bytes(2);
  const by = args.bytes(3);
  if (!isFloatText(by)) throw ERRORS.notAFloat;
  if (INFINITE.test(by)) throw incrementNotFinite;
  const present = hashToChange(context, key);
  const old = present?.get(field, context.nowMs) ?? '0';
  if (!isFloatText(old)) throw hashValueNotFloat;
  const sum = addLongDoubles(old, by);
  if (sum === undefined || sum.kind === 'infinite') throw sumNotFinite;
  requireHashSize(context, present, 2, 4);
  return storeField(context, present, sum.text, 'hincrbyfloat');
};

/** Stores the value under the field of a command with the arguments key and field. */
function storeField(
  context: CommandContext,
  present: HashValue | undefined,
  value: ByteString,
  event: string,
): ByteString {
  const key = context.args.bytes(1);
  const field = context.args.bytes(2);
  const hash = hashOrNew(context, key, present);
  const before = hash.bytes;
  putField(context, hash, field, value);
  context.keyspace.changed(key, hash, before);
  recordField(context, key, hash, field);
  context.notify('h', event, key);
  return value;
}
