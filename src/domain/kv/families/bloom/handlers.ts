/** Commands of Bloom filters. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { MAX_RECORD_BYTES, requireRecordSize } from '../../limits.js';
import { BooleanReply, ERRORS, ErrorReply, MapReply, OK, type Reply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { BLOOM_SEED, BloomFilter, type BloomHash, type BloomSettings } from '../../types/sketch/bloom.js';
import { recordExpiry } from '../expire-time.js';
import { hashOf, readCount, readFloat, SLICE_HASHES } from '../sketches.js';

const exists = new ErrorReply('ERR item exists');
export const notFound = new ErrorReply('ERR not found');
const badRate = new ErrorReply('ERR bad error rate');
const rateOutOfRange = new ErrorReply('ERR (0 < error rate range < 1)');
const badCapacity = new ErrorReply('ERR bad capacity');
const capacityTooSmall = new ErrorReply('ERR (capacity should be larger than 0)');
const noExpansion = new ErrorReply('ERR no expansion');
const badExpansion = new ErrorReply('ERR bad expansion');
const cannotExpand = new ErrorReply('ERR Nonscaling filters cannot expand');
const isFull = new ErrorReply('ERR non scaling filter is full');
const badArgument = new ErrorReply('ERR Bad argument received');
const unknownArgument = new ErrorReply('ERR Unknown argument received');
const unknownField = new ErrorReply('ERR Invalid information value');
const MAX_EXPANSION = 32_768;
const STANDARD: Shape = { error: 0.01, capacity: 100, settings: { growth: 2, isFixed: false } };

interface Shape {
  readonly error: number;
  readonly capacity: number;
  readonly settings: BloomSettings;
}

/** BF.RESERVE key rate capacity [EXPANSION n] [NONSCALING] → OK. Item exists, WRONGTYPE. */
export const reserve: Handler = (context) => {
  const { args, keyspace } = context;
  if (args.length > 7) throw wrongArity('bf.reserve');
  const error = readFloat(args, 2, badRate);
  if (!(error > 0 && error < 1)) throw rateOutOfRange;
  const capacity = readCount(args, 3, Number.MIN_SAFE_INTEGER, badCapacity);
  if (capacity <= 0) throw capacityTooSmall;
  let growth: number | undefined;
  let isFixed = false;
  for (let at = 4; at < args.length; at += 1) {
    const option = args.option(at);
    if (option === 'NONSCALING') isFixed = true;
    else if (option === 'EXPANSION') {
      at += 1;
      if (at === args.length) throw noExpansion;
      growth = readCount(args, at, 0, badExpansion);
      if (growth > MAX_EXPANSION) throw badExpansion;
    } else throw ERRORS.syntax;
  }
  if (isFixed && growth !== undefined) throw cannotExpand;
  const key = args.bytes(1);
  if (keyspace.fetchKind(key, BloomFilter) !== undefined) throw exists;
  make(context, key, { error, capacity, settings: { growth: growth ?? 2, isFixed: isFixed || growth === 0 } });
  context.notify('d', 'bf.reserve', key);
  return OK;
};

function make(context: CommandContext, key: ByteString, { error, capacity, settings }: Shape): BloomFilter {
  const { keyspace, effects } = context;
  requireRecordSize(context, BloomFilter.bytesToReserve(capacity, error, settings));
  const filter = BloomFilter.reserve(capacity, error, settings);
  keyspace.set(key, filter);
  const options = settings.isFixed ? ['NONSCALING'] : ['EXPANSION', String(settings.growth)];
  effects.push('BF.RESERVE', key, String(error), String(capacity), ...options);
  return filter;
}

/** BF.ADD key item → 1, or 0 if it was probably added before. Full, WRONGTYPE. */
export const add: SlicedHandler = function* (context) {
  const [added] = yield* addItems(context, 2, STANDARD);
  return added as Reply;
};

/** BF.MADD key item … → as BF.ADD, for each. */
export const addMany: SlicedHandler = (context) => addItems(context, 2, STANDARD);

/** BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item … → as BF.MADD. */
export const insert: SlicedHandler = function* (context) {
  const { args } = context;
  let { error, capacity } = STANDARD;
  let { growth, isFixed } = STANDARD.settings;
  let creates = true;
  for (let at = 2; at < args.length; at += 1) {
    const option = args.option(at);
    if (option === 'ITEMS') {
      if (at + 1 === args.length) break;
      if (!(error > 0 && error < 1) || capacity < 1 || growth < 1 || growth > MAX_EXPANSION) throw badArgument;
      const shape = { error, capacity, settings: { growth, isFixed } };
      return yield* addItems(context, at + 1, creates ? shape : undefined);
    }
    if (option === 'NOCREATE') creates = false;
    else if (option === 'NONSCALING') isFixed = true;
    else if (at + 1 === args.length) break;
    else {
      at += 1;
      if (option === 'ERROR') error = readFloat(args, at, badRate);
      else if (option === 'CAPACITY') capacity = readCount(args, at, Number.MIN_SAFE_INTEGER, badCapacity);
      else if (option === 'EXPANSION') growth = readCount(args, at, Number.MIN_SAFE_INTEGER, badExpansion);
      else throw unknownArgument;
    }
  }
  throw wrongArity('bf.insert');
};

/** @param shape of a new filter; undefined: a missing one is an error */
function* addItems(context: CommandContext, from: number, shape: Shape | undefined): Generator<void, Reply[]> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const known = keyspace.fetchKind(key, BloomFilter);
  if (known === undefined && shape === undefined) throw notFound;
  const filter = known ?? make(context, key, shape as Shape);
  const before = filter.bytes;
  const replies: Reply[] = [];
  const added: ByteString[] = [key];
  const pace = new SlicePace(SLICE_HASHES);
  for (let at = from; at < args.length; at += 1) {
    const item = args.bytes(at);
    const hash = yield* bloomHash(item);
    if (pace.isDue()) yield;
    if (filter.has(hash)) replies.push(new BooleanReply(false));
    else {
      const problem = problemOfAdding(context, filter);
      if (problem !== undefined) {
        replies.push(problem);
        break;
      }
      filter.add(hash);
      added.push(item);
      replies.push(new BooleanReply(true));
    }
  }
  if (added.length === 1) return replies;
  keyspace.changed(key, filter, before);
  yield* effects.pushLong('BF.MADD', added);
  recordExpiry(context, key);
  context.notify('d', 'bf.add', key);
  return replies;
}

function problemOfAdding({ isReplay }: CommandContext, filter: BloomFilter): ErrorReply | undefined {
  if (filter.isFull) return isFull;
  return !isReplay && filter.bytes + filter.nextGrowth > MAX_RECORD_BYTES ? ERRORS.recordTooLarge : undefined;
}

function* bloomHash(item: ByteString): Generator<void, BloomHash> {
  const a = yield* hashOf(item, BLOOM_SEED);
  return { a, b: yield* hashOf(item, a) };
}

/** BF.EXISTS key item → 1 if it was probably added, otherwise 0. */
export const contains: SlicedHandler = function* (context) {
  const [found] = yield* containsMany(context) as Generator<void, Reply[]>;
  return found as Reply;
};

/** BF.MEXISTS key item … → as BF.EXISTS, for each. WRONGTYPE. */
export const containsMany: SlicedHandler = function* ({ args, keyspace }) {
  const filter = keyspace.peekKind(args.bytes(1), BloomFilter);
  const found: Reply[] = [];
  const pace = new SlicePace(SLICE_HASHES);
  for (const item of args.from(2)) {
    found.push(new BooleanReply(filter?.has(yield* bloomHash(item)) ?? false));
    if (pace.isDue()) yield;
  }
  return found;
};

/** BF.CARD key → how many items were added. WRONGTYPE. */
export const count: Handler = ({ args, keyspace }) => keyspace.peekKind(args.bytes(1), BloomFilter)?.size ?? 0;

/** BF.INFO key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION] → a map, or one value in a list. Not found, WRONGTYPE. */
export const describe: Handler = ({ args, keyspace }) => {
  if (args.length > 3) throw wrongArity('bf.info');
  const filter = keyspace.peekKind(args.bytes(1), BloomFilter);
  if (filter === undefined) throw notFound;
  const facts: readonly (readonly [option: string, name: string, value: Reply])[] = [
    ['CAPACITY', 'Capacity', filter.capacity],
    ['SIZE', 'Size', filter.bytes],
    ['FILTERS', 'Number of filters', filter.links.length],
    ['ITEMS', 'Number of items inserted', filter.size],
    ['EXPANSION', 'Expansion rate', filter.settings.isFixed ? null : filter.settings.growth],
  ];
  if (args.length === 2) return new MapReply(facts.flatMap(([, name, value]) => [name, value]));
  const wanted = facts.find(([option]) => option === args.option(2));
  if (wanted === undefined) throw unknownField;
  return [wanted[2]];
};
