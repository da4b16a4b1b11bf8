/** INCREX: a counter with bounds and an expiry, in one step. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { INT64_MAX, INT64_MIN, narrow, parseInt64 } from '../../numbers.js';
import { BigNumberReply, DoubleReply, ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { addLongDoubles, isLess, type LongDouble, parseLongDouble } from '../../types/long-double.js';
import { expiryUnit, readPositiveInstant, storeString } from '../expire-time.js';

const crossedBounds = new ErrorReply("ERR LBOUND can't be greater than UBOUND");
const notFinite = new ErrorReply('ERR increment would produce NaN or Infinity');

interface Options {
  readonly kind: 'BYINT' | 'BYFLOAT';
  readonly by: ByteString;
  readonly lower: ByteString | undefined;
  readonly upper: ByteString | undefined;
  /** A result beyond a bound becomes the bound; otherwise such a step is left out. */
  readonly saturates: boolean;
  /** The index of the instant's word, after its unit. */
  readonly expiryAt: number | undefined;
  readonly persists: boolean;
  /** Sets the expiry only if the key has none. */
  readonly isFirstExpiry: boolean;
}

/** A step of a counter: the value to store, if any, and both numbers of the answer. */
interface Step {
  readonly text: ByteString | undefined;
  readonly value: Reply;
  readonly applied: Reply;
}

/**
 * INCREX key [BYINT n | BYFLOAT n] [LBOUND n] [UBOUND n] [SATURATE] [EX s | PX ms | EXAT s | PXAT ms | PERSIST] [ENX] →
 * [value, applied increment]. A step beyond a bound changes neither the value nor the expiry, and the increment is 0.
 * WRONGTYPE, not a number.
 */
export const incrementWithin: Handler = (context) => {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const options = readOptions(args);
  const before = keyspace.expiryOf(key);
  const expireAtMs = readExpiry(context, options, before);
  const old = keyspace.fetchString(key);
  const step = options.kind === 'BYINT' ? wholeStep(old ?? '0', options) : floatStep(old ?? '0', options);
  if (step.text !== undefined) {
    const kept = old === undefined ? undefined : before;
    const instant = options.persists ? undefined : (expireAtMs ?? kept);
    storeString(context, key, step.text, instant, options.kind === 'BYINT' ? 'incrby' : 'incrbyfloat');
    if (expireAtMs !== undefined && keyspace.isThere(key)) context.notify('g', 'expire', key);
  }
  return [step.value, step.applied];
};

function readExpiry(context: CommandContext, options: Options, before: number | undefined): number | undefined {
  const { expiryAt, isFirstExpiry } = options;
  if (expiryAt === undefined) return undefined;
  const unit = expiryUnit(context.args.option(expiryAt - 1));
  if (unit === undefined) throw ERRORS.syntax;
  const atMs = readPositiveInstant(context, expiryAt, unit, 'increx');
  return isFirstExpiry && before !== undefined && before > context.nowMs ? undefined : atMs;
}

function wholeStep(old: ByteString, { by, lower = '', upper = '', saturates }: Options): Step {
  const value = parseInt64(old);
  const increment = parseInt64(by);
  const least = lower === '' ? INT64_MIN : parseInt64(lower);
  const most = upper === '' ? INT64_MAX : parseInt64(upper);
  if (value === undefined || increment === undefined || least === undefined || most === undefined)
    throw ERRORS.notAnInteger;
  if (least > most) throw crossedBounds;
  const sum = BigInt(value) + BigInt(increment);
  const bound = sum > most ? most : sum < least ? least : undefined;
  if (bound !== undefined && !saturates) return { text: undefined, value, applied: 0 };
  const result = narrow(BigInt(bound ?? sum));
  return { text: String(result), value: result, applied: shownInteger(BigInt(result) - BigInt(value)) };
}

/** The difference of two 64-bit integers may need one bit more. */
function shownInteger(value: bigint): Reply {
  return value > INT64_MAX || value < INT64_MIN ? new BigNumberReply(String(value)) : narrow(value);
}

function floatStep(old: ByteString, { by, lower, upper, saturates }: Options): Step {
  const value = finite(old);
  const increment = finite(by);
  const least = lower === undefined ? undefined : finite(lower);
  const most = upper === undefined ? undefined : finite(upper);
  if (least !== undefined && most !== undefined && isLess(most.value, least.value)) throw crossedBounds;
  const text = plus(value.text, increment.text);
  const sum = finite(text);
  const bound =
    most !== undefined && isLess(most.value, sum.value)
      ? most
      : least !== undefined && isLess(sum.value, least.value)
        ? least
        : undefined;
  if (bound === undefined) return { text, value: shownFloat(text), applied: shownFloat(increment.text) };
  if (!saturates) return { text: undefined, value: shownFloat(value.text), applied: shownFloat('0') };
  const result = plus(bound.text, '0');
  const opposite = value.text.startsWith('-') ? value.text.slice(1) : `-${value.text.replace('+', '')}`;
  return { text: result, value: shownFloat(result), applied: shownFloat(plus(result, opposite)) };
}

function finite(text: ByteString): { readonly text: ByteString; readonly value: LongDouble } {
  const value = parseLongDouble(text);
  if (value === undefined) throw ERRORS.notAFloat;
  if (typeof value === 'number') throw notFinite;
  return { text, value };
}

function plus(a: ByteString, b: ByteString): ByteString {
  const sum = addLongDoubles(a, b);
  if (sum === undefined || sum.kind === 'infinite') throw notFinite;
  return sum.text;
}

function shownFloat(text: ByteString): Reply {
  return new DoubleReply(Number(text));
}

function readOptions(args: Args): Options {
  const found = new Map<string, ByteString>();
  let expiryAt: number | undefined;
  const once = (name: string, word: ByteString): void => {
    if (found.has(name)) throw ERRORS.syntax;
    found.set(name, word);
  };
  for (let at = 2; at < args.length; at += 1) {
    const option = args.option(at);
    if (option === 'SATURATE' || option === 'ENX') once(option, option);
    else if (option === 'PERSIST') once('expiry', option);
    else {
      at += 1;
      const word = args.bytes(at);
      if (option === 'BYINT' || option === 'BYFLOAT') {
        once('by', word);
        found.set('kind', option);
      } else if (option === 'LBOUND' || option === 'UBOUND') once(option, word);
      else if (expiryUnit(option) !== undefined) {
        once('expiry', option);
        expiryAt = at;
      } else throw ERRORS.syntax;
    }
  }
  const isFirstExpiry = found.has('ENX');
  if (isFirstExpiry && expiryAt === undefined) throw ERRORS.syntax;
  return {
    kind: found.get('kind') === 'BYFLOAT' ? 'BYFLOAT' : 'BYINT',
    by: found.get('by') ?? '1',
    lower: found.get('LBOUND'),
    upper: found.get('UBOUND'),
    saturates: found.has('SATURATE'),
    expiryAt,
    persists: found.get('expiry') === 'PERSIST',
    isFirstExpiry,
  };
}
