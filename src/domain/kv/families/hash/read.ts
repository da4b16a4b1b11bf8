/** Reading a hash: one field, several, all, random ones, or step by step. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, MapReply, PairsReply, type Reply } from '../../reply.js';
import { mapped, SlicePace } from '../../slices.js';
import { HashValue } from '../../types/hash-value.js';
import { readCollectionScan, readCursor } from '../collection-scan.js';
import { type Draws, drawDistinct, drawRepeatedly, MAX_DRAWS, readDrawCount, SLICE_STEPS } from '../random-draws.js';

type Entry = [field: ByteString, value: ByteString];

/** A reply with more fields is built in slices: about 2 ms of work. */
const LONG_FIELDS = 5000;

export function isLongHash({ args, keyspace }: CommandContext): boolean {
  const value = keyspace.stored(args.bytes(1));
  return value instanceof HashValue && value.size > LONG_FIELDS;
}

/** HGET key field → its value or null. WRONGTYPE. */
export const get: Handler = (context) =>
  context.keyspace.peekKind(context.args.bytes(1), HashValue)?.get(context.args.bytes(2), context.nowMs) ?? null;

/** Looks up fields for one answer. */
function valuesOf(context: CommandContext): (field: ByteString) => ByteString | null {
  const { args, nowMs } = context;
  const hash = context.keyspace.peekKind(args.bytes(1), HashValue);
  const size = new AnswerSize(context);
  return (field) => {
    const value = hash?.get(field, nowMs);
    if (value === undefined) return null;
    size.add(value.length);
    return value;
  };
}

/** HMGET key field [field …] → a value or null for each. */
export const getMany: Handler = (context) => context.args.from(2).map(valuesOf(context));

export const getManyInSlices: SlicedHandler = (context) => mapped(context.args.words, valuesOf(context), 2);

/** HLEN key → the number of fields. */
export const length: Handler = (context) =>
  context.keyspace.peekKind(context.args.bytes(1), HashValue)?.visibleSize(context.nowMs) ?? 0;

/** HEXISTS key field → 1 or 0. */
export const exists: Handler = (context) =>
  context.keyspace.peekKind(context.args.bytes(1), HashValue)?.has(context.args.bytes(2), context.nowMs) === true
    ? 1
    : 0;

/** HSTRLEN key field → bytes of its value; 0 if missing. */
export const valueLength: Handler = (context) =>
  context.keyspace.peekKind(context.args.bytes(1), HashValue)?.get(context.args.bytes(2), context.nowMs)?.length ?? 0;

/** HGETALL key → a map; HKEYS, HVALS → lists. Empty if missing. */
export function getAll(parts: 'fields' | 'values' | 'both'): SlicedHandler {
  return function* (context) {
    const { nowMs } = context;
    const items: ByteString[] = [];
    const size = new AnswerSize(context);
    const note = (item: ByteString): void => {
      size.add(item.length);
      items.push(item);
    };
    const hash = context.keyspace.peekKind(context.args.bytes(1), HashValue);
    let steps = 0;
    for (const [field, value] of hash?.entries(nowMs) ?? []) {
      if (parts !== 'values') note(field);
      if (parts !== 'fields') note(value);
      steps += 1;
      if (steps % SLICE_STEPS === 0) yield;
    }
    return parts === 'both' ? new MapReply(items) : items;
  };
}

/**
 * HRANDFIELD key [count [WITHVALUES]] → a field or null; with a count a list, of distinct fields unless the count is
 * negative.
 */
export const randomFields: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const key = args.bytes(1);
  const float = (): number => context.random.float();
  if (args.length === 2) {
    const hash = context.keyspace.peekKind(key, HashValue);
    if (hash === undefined) return null;
    const [entry] = yield* drawRepeatedly(drawsOf(hash, context.nowMs), 1, float);
    return entry?.[0] ?? null;
  }
  if (args.length > 4 || (args.length === 4 && args.option(3) !== 'WITHVALUES')) {
    readDrawCount(args, 2, false);
    throw ERRORS.syntax;
  }
  const withValues = args.length === 4;
  const count = readDrawCount(args, 2, withValues);
  const hash = context.keyspace.peekKind(key, HashValue);
  if (hash === undefined) return [];
  const draws = drawsOf(hash, context.nowMs);
  const size = new AnswerSize(context);
  size.requireItems(Math.min(Math.abs(count), count < 0 ? MAX_DRAWS : hash.size) * (withValues ? 2 : 1));
  const entries = yield* count < 0 ? drawRepeatedly(draws, -count, float) : drawDistinct(draws, count, float);
  const items: ByteString[] = [];
  const pace = new SlicePace();
  for (const [field, value] of entries) {
    size.add(field.length);
    items.push(field);
    if (withValues) {
      size.add(value.length);
      items.push(value);
    }
    if (pace.isDue()) yield;
  }
  return withValues ? new PairsReply(items) : items;
};

function drawsOf(hash: HashValue, nowMs: number): Draws<Entry> {
  return {
    size: hash.size,
    all: () => hash.entries(nowMs),
    one: (float) => {
      const field = hash.drawField(float);
      const value = field === undefined ? undefined : hash.get(field, nowMs);
      return value === undefined ? undefined : [field as ByteString, value];
    },
  };
}

/** HSCAN key cursor [MATCH pattern] [COUNT n] [NOVALUES] → [next cursor, fields and values]. */
export const scan: Handler = (context) => {
  const cursor = readCursor(context.args);
  const hash = context.keyspace.peekKind(context.args.bytes(1), HashValue);
  if (hash === undefined) return ['0', []];
  const { glob, count, withoutValues } = readCollectionScan(context, true);
  const step = hash.scan(cursor, count, context.nowMs);
  const items: ByteString[] = [];
  for (const [field, value] of step.entries) {
    if (glob !== undefined && !glob(field)) continue;
    items.push(field);
    if (!withoutValues) items.push(value);
  }
  return [String(step.cursor), items];
};
