/**
 * Parses the arguments of commands with `FIELDS n`. As in Redis 8 there are two grammars: a fixed one, and a free one
 * in which options may precede or follow the fields.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { MAX_FIELD_EXPIRY_MS } from '../../limits.js';
import { ErrorReply, invalidExpireTime } from '../../reply.js';
import { type ExpiryUnit, expiryUnit, readInstant } from '../expire-time.js';

const MAX_INT32 = 2 ** 31 - 1;

const fieldsMissing = new ErrorReply('ERR Mandatory argument FIELDS is missing or not at the right position');
const countNotPositive = new ErrorReply('ERR Number of fields must be a positive integer');
const countWrong = new ErrorReply('ERR The `numfields` parameter must match the number of arguments');
const negativeTime = new ErrorReply('ERR invalid expire time, must be >= 0');
const timeMissing = new ErrorReply('ERR missing expire time');
const fieldsTwice = new ErrorReply('ERR FIELDS keyword specified multiple times');
const fieldsTooShort = new ErrorReply('ERR wrong number of arguments');
const fieldsLeftOut = new ErrorReply('ERR missing FIELDS argument');
const unknownArgument = new ErrorReply('ERR unknown argument');

/** `FIELDS n field …` from `at` to the end, without other words. @throws ErrorReply */
export function readFixedFields({ args }: CommandContext, at: number): readonly ByteString[] {
  if (args.option(at) !== 'FIELDS') throw fieldsMissing;
  const count = readCount(args.bytes(at + 1), Number.MAX_SAFE_INTEGER);
  if (count === undefined) throw countNotPositive;
  if (count !== args.length - at - 2) throw countWrong;
  return args.from(at + 2);
}

/**
 * The expiry of a field, which may be in the past. Over REST it accepts all values that EXPIRE accepts. @throws
 * ErrorReply
 */
export function readFieldInstant(context: CommandContext, index: number, unit: ExpiryUnit, name: string): number {
  if (context.endpoint === 'rest') return readInstant(context, index, unit, name);
  const value = context.args.int64(index);
  if (value < 0n) throw negativeTime;
  const base = BigInt(unit.isAbsolute ? 0 : context.nowMs);
  if (value * BigInt(unit.unitMs) > BigInt(MAX_FIELD_EXPIRY_MS) - base) throw invalidExpireTime(name);
  return Number(value * BigInt(unit.unitMs) + base);
}

export interface FreeGrammar {
  readonly name: string;
  /** Options other than expiries → their group; each group allows one option. */
  readonly words: ReadonlyMap<string, 'expiry' | 'condition'>;
  /** Options valid only for another command with this grammar; they are refused last. */
  readonly foreign: ReadonlySet<string>;
  readonly takesTimes: boolean;
  /** Words per entry after `FIELDS n`. */
  readonly wordsAnEntry: 1 | 2;
  readonly onSecondExpiry: ErrorReply;
  readonly onSecondCondition: ErrorReply;
  /**
   * If set, repeating a condition is allowed, and two different conditions are refused only after parsing all words.
   */
  readonly checksConditionsLast: boolean;
  readonly onBadCount: ErrorReply;
  readonly onShortFields: ErrorReply;
}

export interface FreeArguments {
  condition: string | undefined;
  /** An expiry option without a time: `PERSIST`, `KEEPTTL`. */
  expiryWord: string | undefined;
  /** Returns the given expiry, if any; on a RESP connection it was validated during parsing. @throws ErrorReply */
  readExpiry: (() => number) | undefined;
  /** The words after `FIELDS n`: the index of the first, and their number. */
  first: number;
  words: number;
}

/** Options and fields in any order, from index `from` on. @throws ErrorReply */
export function readFreeArguments(context: CommandContext, from: number, grammar: FreeGrammar): FreeArguments {
  const { args } = context;
  const read: FreeArguments = {
    condition: undefined,
    expiryWord: undefined,
    readExpiry: undefined,
    first: 0,
    words: 0,
  };
  let isForeign = false;
  let hasTwoConditions = false;
  for (let i = from; i < args.length; i += 1) {
    const option = args.option(i);
    const unit = grammar.takesTimes ? expiryUnit(option) : undefined;
    const group = grammar.words.get(option);
    if (option === 'FIELDS') {
      if (read.first > 0) throw fieldsTwice;
      i = readFields(context, i, grammar, read);
    } else if (unit !== undefined) {
      if (read.expiryWord !== undefined) throw grammar.onSecondExpiry;
      read.expiryWord = option;
      i += 1;
      if (i >= args.length) throw timeMissing;
      const index = i;
      read.readExpiry = () => readFieldInstant(context, index, unit, grammar.name);
      if (context.endpoint === 'resp') read.readExpiry();
    } else if (group === 'expiry') {
      // As in Redis, two different words of this group do not conflict; one of them belongs to the other command.
      if (read.expiryWord === option || read.readExpiry !== undefined) throw grammar.onSecondExpiry;
      read.expiryWord = option;
      isForeign ||= grammar.foreign.has(option);
    } else if (group === 'condition') {
      if (read.condition !== undefined && !grammar.checksConditionsLast) throw grammar.onSecondCondition;
      hasTwoConditions ||= read.condition !== undefined && read.condition !== option;
      read.condition = option;
      isForeign ||= grammar.foreign.has(option);
    } else {
      throw new ErrorReply(`ERR unknown argument: ${args.bytes(i)}`);
    }
  }
  if (isForeign) throw unknownArgument;
  if (read.first === 0) throw fieldsLeftOut;
  if (hasTwoConditions) throw grammar.onSecondCondition;
  return read;
}

/** @returns the index of the last word of the fields */
function readFields({ args }: CommandContext, at: number, grammar: FreeGrammar, into: FreeArguments): number {
  if (at + 1 + grammar.wordsAnEntry >= args.length) throw grammar.onShortFields;
  const count = readCount(args.bytes(at + 1), MAX_INT32);
  if (count === undefined) throw grammar.onBadCount;
  into.first = at + 2;
  into.words = count * grammar.wordsAnEntry;
  if (into.first + into.words > args.length) throw fieldsTooShort;
  return into.first + into.words - 1;
}

function readCount(text: ByteString, most: number): number | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) return undefined;
  const count = Number(text);
  return count > most ? undefined : count;
}
