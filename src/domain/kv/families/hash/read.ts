/** Reading a hash: one field, some, all, some at random, or step by step. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, MapReply, PairsReply, type Reply } from '../../reply.js';
import { mapped } from '../../slices.js';
import { HashValue } from '../../types/hash-value.js';
import { readCollectionScan, readCursor } from '../collection-scan.js';
import { type Draws, drawDistinct, drawRepeatedly, readDrawCount, SLICE_STEPS } from '../random-draws.js';
import { hashToRead } from './open-hash.js';

type Entry = [field: ByteString, value: ByteString];

/** Fields beyond which a reply of all of them is made in slices: about 2 ms of work. */
const LONG_FIELDS = 5000;

export function isLongHash({ args, keyspace }: CommandContext): boolean {
  const value = keyspace.stored(args.bytes(1));
  return value instanceof HashValue && value.size > LONG_FIELDS;
}

/** HGET key field → its value or null. WRONGTYPE. */
export const get: Handler = (context) =>
  hashToRead(context, context.args.bytes(1))?.get(context.args.bytes(2), context.nowMs) ?? null;

/** HMGET key field [field …] → a value or null for each. */
export const getMany: Handler = (context) => {
  const { args } = context;
  const hash = hashToRead(context, args.bytes(1));
  return args.from(2).map((field) => hash?.get(field, context.nowMs) ?? null);
};

export const getManyInSlices: SlicedHandler = (context) => {
  const { args } = context;
  const hash = hashToRead(context, args.bytes(1));
  return mapped(args.from(2), (field) => hash?.get(field, context.nowMs) ?? null);
};

/** HLEN key → how many fields. */
export const length: Handler = (context) => hashToRead(context, context.args.bytes(1))?.visibleSize(context.nowMs) ?? 0;

/** HEXISTS key field → 1 or 0. */
export const exists: Handler = (context) =>
  hashToRead(context, context.args.bytes(1))?.has(context.args.bytes(2), context.nowMs) === true ? 1 : 0;

/** HSTRLEN key field → bytes of its value; 0 if missing. */
export const valueLength: Handler = (context) =>
  hashToRead(context, context.args.bytes(1))?.get(context.args.bytes(2), context.nowMs)?.length ?? 0;

/** HGETALL key → a map; HKEYS, HVALS → lists. Empty if missing. */
export function getAll(what: 'fields' | 'values' | 'both'): SlicedHandler {
  return function* (context) {
    const { nowMs } = context;
    const items: ByteString[] = [];
    const hash = hashToRead(context, context.args.bytes(1));
    let steps = 0;
    for (const [field, value] of hash?.entries(nowMs) ?? []) {
      if (what !== 'values') items.push(field);
      if (what !== 'fields') items.push(value);
      steps += 1;
      if (steps % SLICE_STEPS === 0) yield;
    }
    return what === 'both' ? new MapReply(items) : items;
  };
}

/** HRANDFIELD key [count [WITHVALUES]] → a field or null; with a count a list, of distinct ones unless negative. */
export const randomFields: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const key = args.bytes(1);
  const float = (): number => context.random.float();
  if (args.length === 2) {
    const hash = hashToRead(context, key);
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
  const hash = hashToRead(context, key);
  if (hash === undefined) return [];
  const draws = drawsOf(hash, context.nowMs);
  const entries = yield* count < 0 ? drawRepeatedly(draws, -count, float) : drawDistinct(draws, count, float);
  return withValues ? new PairsReply(entries.flat()) : entries.map(([field]) => field);
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
  const cursor = readCursor(context);
  const hash = hashToRead(context, context.args.bytes(1));
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
