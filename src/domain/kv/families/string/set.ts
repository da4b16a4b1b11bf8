/** SET and its shorthands that write one value: SETEX, PSETEX, SETNX, GETSET. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { answerable, requireRecordSize } from '../../limits.js';
import { ERRORS, OK, type Reply } from '../../reply.js';
import { expiryUnit, readPositiveInstant, storeString } from '../expire-time.js';
import { holds, isValueCondition, type ValueCondition } from './conditions.js';

type Condition = 'NX' | 'XX' | ValueCondition;

export interface SetOptions {
  condition: Condition | undefined;
  operand: ByteString;
  returnsOld: boolean;
  keepsExpiry: boolean;
  expireAtMs: number | undefined;
}

/**
 * SET key value [NX | XX | IFEQ v | IFNE v | IFDEQ d | IFDNE d] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL] → OK;
 * null when the condition does not hold. With GET: the previous value, or null. WRONGTYPE if GET or a value condition
 * needs the previous value and it is not a string.
 */
export const set: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const value = args.bytes(2);
  requireRecordSize(context, value.length);
  if (args.length === 3) {
    keyspace.set(key, value);
    effects.pushSet(key, value);
    context.notify('$', 'set', key);
    return OK;
  }
  return setWithOptions(context, key, value, readSetOptions(context, 3, 'set'));
};

function setWithOptions(context: CommandContext, key: ByteString, value: ByteString, options: SetOptions): Reply {
  const { keyspace } = context;
  const { condition, operand } = options;
  const readsOld = options.returnsOld || (condition !== undefined && isValueCondition(condition));
  const old = readsOld ? keyspace.fetchString(key) : undefined;
  const answer = options.returnsOld ? answerable(context, old) : OK;
  const refused = options.returnsOld ? answer : null;
  if (condition !== undefined) {
    if (isValueCondition(condition)) {
      if (!holds(condition, operand, old)) return refused;
    } else if ((keyspace.fetch(key) !== undefined) !== (condition === 'XX')) {
      return refused;
    }
  }
  storeWithExpiry(context, key, value, options);
  return answer;
}

export function storeWithExpiry(
  context: CommandContext,
  key: ByteString,
  value: ByteString,
  { keepsExpiry, expireAtMs }: SetOptions,
): void {
  const { keyspace } = context;
  // `fetch` removes an expired key first, so that its expiry is not kept.
  const kept = keepsExpiry && keyspace.fetch(key) !== undefined ? keyspace.expiryOf(key) : undefined;
  storeString(context, key, value, expireAtMs ?? kept);
}

/** The options from index `from` on; MSETEX has fewer. @throws ErrorReply */
export function readSetOptions(context: CommandContext, from: number, name: 'set' | 'msetex'): SetOptions {
  const { args } = context;
  const options: SetOptions = {
    condition: undefined,
    operand: '',
    returnsOld: false,
    keepsExpiry: false,
    expireAtMs: undefined,
  };
  let expiryWord: string | undefined;
  let expiryIndex = 0;
  const isOne = name === 'set';
  for (let i = from; i < args.length; i += 1) {
    const option = args.option(i);
    if (isOne && option === 'GET') {
      options.returnsOld = true;
    } else if (option === 'NX' || option === 'XX') {
      if (options.condition !== undefined && options.condition !== option) throw ERRORS.syntax;
      options.condition = option;
    } else if (isOne && isValueCondition(option)) {
      if (options.condition !== undefined) throw ERRORS.syntax;
      options.condition = option;
      i += 1;
      options.operand = args.bytes(i);
    } else if (option === 'KEEPTTL') {
      if (expiryWord !== undefined) throw ERRORS.syntax;
      options.keepsExpiry = true;
    } else {
      if (expiryUnit(option) === undefined || options.keepsExpiry) throw ERRORS.syntax;
      if (expiryWord !== undefined && expiryWord !== option) throw ERRORS.syntax;
      expiryWord = option;
      i += 1;
      expiryIndex = i;
      args.bytes(i);
    }
  }
  const unit = expiryWord === undefined ? undefined : expiryUnit(expiryWord);
  if (unit !== undefined) options.expireAtMs = readPositiveInstant(context, expiryIndex, unit, name);
  return options;
}

/** SETEX key seconds value, PSETEX key milliseconds value → OK. */
export function setExpiring(name: 'setex' | 'psetex', unitMs: 1 | 1000): Handler {
  return (context) => {
    const { args } = context;
    const expireAtMs = readPositiveInstant(context, 2, { unitMs, isAbsolute: false }, name);
    requireRecordSize(context, args.bytes(3).length);
    storeString(context, args.bytes(1), args.bytes(3), expireAtMs);
    return OK;
  };
}

/** SETNX key value → 1, or 0 when the key exists. */
export const setIfMissing: Handler = (context) => {
  const { args, keyspace } = context;
  requireRecordSize(context, args.bytes(2).length);
  if (keyspace.fetch(args.bytes(1)) !== undefined) return 0;
  storeString(context, args.bytes(1), args.bytes(2));
  return 1;
};

/** GETSET key value → the previous value, or null. WRONGTYPE if not a string. Removes the expiry. */
export const getAndSet: Handler = (context) => {
  const { args, keyspace } = context;
  requireRecordSize(context, args.bytes(2).length);
  const old = keyspace.fetchString(args.bytes(1));
  const answer = answerable(context, old);
  storeString(context, args.bytes(1), args.bytes(2));
  return answer;
};
