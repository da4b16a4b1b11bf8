/** Shared parts of the array commands: reading indexes and limits, and access to the value. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { INT64_MAX, parseInt64, type Unsigned64 } from '../../numbers.js';
import { BigNumberReply, ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { MANY_WORDS } from '../../slices.js';
import { textBytes } from '../../steps.js';
import { parseIndex, width } from '../../types/array-index.js';
import { ArrayValue } from '../../types/array-value.js';

export const badIndex = new ErrorReply('ERR invalid array index');
const limitNotPositive = new ErrorReply('ERR LIMIT must be positive');
/** From this number of values on, a command that visits all of them runs in slices: about a millisecond. */
const LONG_VALUES = 2000;
/** As above, for the bytes that ARGREP compares. */
const LONG_TEXT_BYTES = 64 * 1024;

/** @throws ErrorReply */
export function indexAtWord(args: Args, at: number): Unsigned64 {
  const index = parseIndex(args.bytes(at));
  if (index === undefined) throw badIndex;
  return index;
}

/** An index in an answer; above a signed 64-bit integer, as in Redis, a big number. */
export function shownIndex(index: Unsigned64): Reply {
  return index > INT64_MAX ? new BigNumberReply(String(index)) : index;
}

/** All words from `from` on as indexes, every `step` words. In slices. @throws ErrorReply */
export function* readIndexes({ words }: Args, from: number, step = 1): Generator<void, Unsigned64[]> {
  const indexes: Unsigned64[] = [];
  for (let at = from; at < words.length; at += step) {
    const index = parseIndex(words[at] as ByteString);
    if (index === undefined) throw badIndex;
    indexes.push(index);
    if (indexes.length % MANY_WORDS === 0) yield;
  }
  return indexes;
}

/** The number after LIMIT. @throws ErrorReply */
export function readLimit(args: Args, at: number): number {
  const limit = parseInt64(args.bytes(at));
  if (limit === undefined) throw ERRORS.notAnInteger;
  if (limit <= 0) throw limitNotPositive;
  return typeof limit === 'number' ? limit : Number(INT64_MAX);
}

/** The array of the command's key, for a command that only reads. @throws WRONGTYPE */
export function readArray({ args, keyspace }: CommandContext): ArrayValue | undefined {
  return keyspace.peekKind(args.bytes(1), ArrayValue);
}

/** Refuses values from word `from` on that would make the array too large. In slices. @throws ErrorReply */
export function* requireSize(context: CommandContext, array: ArrayValue | undefined, from: number) {
  requireRecordSize(context, (array?.contentBytes ?? 0) + (yield* textBytes(context.args.words, from)));
}

export function hasManyValues(context: CommandContext): boolean {
  const value = context.keyspace.stored(context.args.bytes(1));
  return value instanceof ArrayValue && value.size > LONG_VALUES;
}

export function hasLongTexts(context: CommandContext): boolean {
  const value = context.keyspace.stored(context.args.bytes(1));
  return value instanceof ArrayValue && value.contentBytes + value.size * MIN_TEXT_BYTES > LONG_TEXT_BYTES;
}

const MIN_TEXT_BYTES = 32;

/** Whether the words name a wide range: it is answered with an item for every index. */
export function isWideRange({ args }: CommandContext): boolean {
  const from = parseIndex(args.bytes(2));
  const to = parseIndex(args.bytes(3));
  if (from === undefined || to === undefined) return false;
  return (from < to ? width(from, to) : width(to, from)) > LONG_VALUES;
}

export function hasLargeCount({ args }: CommandContext): boolean {
  const count = parseInt64(args.bytes(2));
  return count !== undefined && count > LONG_VALUES;
}
