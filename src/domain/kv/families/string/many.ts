/** Several strings in one command: MGET, MSET, MSETNX, MSETEX. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize, SLICE_WORDS } from '../../limits.js';
import { ErrorReply, OK, type Reply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { readSetOptions, storeWithExpiry } from './set.js';

const badKeyCount = new ErrorReply('ERR invalid numkeys value');
const badPairCount = new ErrorReply('ERR wrong number of key-value pairs');

/** MGET key … → a value or null for each; null also for a value that is not a string. */
export const getMany: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const size = new AnswerSize(context);
  const values = new Array<ByteString | null>(args.length - 1);
  for (let i = 1; i < args.length; i += 1) {
    const value = keyspace.peek(args.bytes(i));
    values[i - 1] = typeof value === 'string' ? value : null;
    if (typeof value === 'string') size.add(value.length);
    if (i % SLICE_WORDS === 0) yield;
  }
  return values;
};

/** MSET key value … → OK. */
export const setMany: SlicedHandler = function* (context) {
  requirePairs(context, 'mset');
  yield* storeMany(context);
  return OK;
};

/** MSETNX key value … → 1, or 0 without a change if any key exists. */
export const setManyIfMissing: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  requirePairs(context, 'msetnx');
  const pace = new SlicePace();
  for (let i = 1; i < args.length; i += 2) {
    if (keyspace.fetch(args.bytes(i)) !== undefined) return 0;
    if (pace.isDue()) yield;
  }
  yield* storeMany(context);
  return 1;
};

function requirePairs(context: CommandContext, name: string): void {
  const { args } = context;
  if (args.length % 2 === 0) throw wrongArity(name);
  for (let i = 2; i < args.length; i += 2) requireRecordSize(context, args.bytes(i).length);
}

function* storeMany({ args, keyspace, effects, notify }: CommandContext): Generator<void, void> {
  let words: ByteString[] = [];
  for (let i = 1; i < args.length; i += 2) {
    const key = args.bytes(i);
    keyspace.set(key, args.bytes(i + 1));
    notify('$', 'set', key);
    words.push(key, args.bytes(i + 1));
    if (words.length < SLICE_WORDS) continue;
    effects.pushList('MSET', words);
    words = [];
    yield;
  }
  if (words.length > 0) effects.pushList('MSET', words);
}

/** MSETEX numkeys key value … [NX | XX] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL] → 1, or 0 without a change. */
export const setManyExpiring: SlicedHandler = function* (context): Generator<void, Reply> {
  const pace = new SlicePace();
  const { args, keyspace } = context;
  const count = /^[1-9][0-9]{0,9}$/.test(args.bytes(1)) ? Number(args.bytes(1)) : 0;
  if (count < 1 || count > 0x7fffffff) throw badKeyCount;
  const end = 2 + 2 * count;
  if (end > args.length) throw badPairCount;
  const options = readSetOptions(context, end, 'msetex');
  for (let i = 2; i < end; i += 2) requireRecordSize(context, args.bytes(i + 1).length);
  if (options.condition !== undefined) {
    for (let i = 2; i < end; i += 2) {
      if ((keyspace.fetch(args.bytes(i)) !== undefined) !== (options.condition === 'XX')) return 0;
      if (pace.isDue()) yield;
    }
  }
  for (let i = 2; i < end; i += 2) {
    storeWithExpiry(context, args.bytes(i), args.bytes(i + 1), options);
    if (pace.isDue()) yield;
  }
  return 1;
};
