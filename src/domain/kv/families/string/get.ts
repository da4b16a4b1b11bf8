/** Reading one string, and reading with a change of the key: GET, STRLEN, GETRANGE, DIGEST, GETDEL, GETEX, DELEX. */
import type { Handler } from '../../command-spec.js';
import { answerable } from '../../limits.js';
import { ERRORS, ErrorReply, wrongArity } from '../../reply.js';
import { xxh3 } from '../../types/xxh3.js';
import { type ExpiryUnit, expiryUnit, readPositiveInstant, removeKey } from '../expire-time.js';
import { holds, isValueCondition } from './conditions.js';

const notAString = new ErrorReply('ERR Key should be of string type if conditions are specified');
const badDelexCondition = new ErrorReply('ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE');

/** GET key → bulk string or null. WRONGTYPE if not a string. */
export const get: Handler = (context) => answerable(context, context.keyspace.peekString(context.args.bytes(1)));

/** STRLEN key → integer, bytes; 0 if missing. WRONGTYPE if not a string. */
export const length: Handler = ({ args, keyspace }) => keyspace.peekString(args.bytes(1))?.length ?? 0;

/** DIGEST key → 16 hex digits or null. WRONGTYPE if not a string. */
export const digest: Handler = ({ args, keyspace }) => {
  const value = keyspace.peekString(args.bytes(1));
  return value === undefined ? null : xxh3(value);
};

/** GETRANGE key start end → bytes from start to end, both included, negative from the end. */
export const range: Handler = (context) => {
  const { args, keyspace } = context;
  const start = args.offset(2);
  const end = args.offset(3);
  const value = keyspace.peekString(args.bytes(1)) ?? '';
  if (start < 0 && end < 0 && start > end) return '';
  const from = start < 0 ? Math.max(0, value.length + start) : start;
  const to = end < 0 ? Math.max(0, value.length + end) : end;
  return from > to ? '' : answerable(context, value.slice(from, to + 1));
};

/** GETDEL key → the value or null. WRONGTYPE if not a string. */
export const getAndDelete: Handler = (context) => {
  const value = context.keyspace.fetchString(context.args.bytes(1));
  const answer = answerable(context, value);
  if (value !== undefined) removeKey(context, context.args.bytes(1));
  return answer;
};

/** GETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST] → the value or null. WRONGTYPE if not a string. */
export const getAndExpire: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  let word: string | undefined;
  let unit: ExpiryUnit | undefined;
  let index = 0;
  for (let i = 2; i < args.length; i += 1) {
    const option = args.option(i);
    if (word !== undefined && word !== option) throw ERRORS.syntax;
    word = option;
    if (option === 'PERSIST') continue;
    unit = expiryUnit(option);
    if (unit === undefined) throw ERRORS.syntax;
    i += 1;
    index = i;
    args.bytes(i);
  }
  const value = keyspace.fetchString(key);
  const answer = answerable(context, value);
  if (value === undefined) return null;
  if (unit !== undefined) {
    const expireAtMs = readPositiveInstant(context, index, unit, 'getex');
    if (expireAtMs <= context.nowMs) {
      removeKey(context, key);
    } else {
      keyspace.expireAt(key, expireAtMs);
      effects.push('PEXPIREAT', key, String(expireAtMs));
      context.notify('g', 'expire', key);
    }
  } else if (word === 'PERSIST' && keyspace.persist(key)) {
    effects.push('PERSIST', key);
    context.notify('g', 'persist', key);
  }
  return answer;
};

/** DELEX key [IFEQ v | IFNE v | IFDEQ d | IFDNE d] → 1 if deleted, 0 otherwise. */
export const deleteIf: Handler = (context) => {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  if (args.length !== 2 && args.length !== 4) throw wrongArity('delex');
  const value = keyspace.fetch(key);
  if (value === undefined) return 0;
  if (args.length === 4) {
    const condition = args.option(2);
    if (typeof value !== 'string') throw notAString;
    if (!isValueCondition(condition)) throw badDelexCondition;
    if (!holds(condition, args.bytes(3), value)) return 0;
  }
  removeKey(context, key);
  return 1;
};
