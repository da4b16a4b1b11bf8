/** Commands of Cuckoo filters. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { MAX_RECORD_BYTES, requireRecordSize } from '../../limits.js';
import { BooleanReply, ERRORS, ErrorReply, MapReply, OK, type Reply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import {
  CUCKOO_SEED,
  CuckooFilter,
  type CuckooSettings,
  MAX_TABLES,
  powerOfTwoFrom,
} from '../../types/sketch/cuckoo.js';
import { recordExpiry } from '../expire-time.js';
import { hashOf, hasManyItems, readCount, SLICE_HASHES } from '../sketches.js';

const exists = new ErrorReply('ERR item exists');
export const notFound = new ErrorReply('ERR not found');
const notThere = new ErrorReply('Cuckoo filter was not found');
const badCapacity = new ErrorReply('ERR Bad capacity');
const tooSmall = new ErrorReply('ERR Capacity must be at least (BucketSize * 2)');
const isFull = new ErrorReply('ERR Filter is full');
const tooManyTables = new ErrorReply('ERR Maximum expansions reached');
const unknownArgument = new ErrorReply('ERR Unknown argument received');
const STANDARD_CAPACITY = 1024;
const STANDARD = { bucketSize: 2, maxIterations: 20, expansion: 1 } as const;
/** A reply to an item for which there is no room. */
const NO_ROOM = -1;
/** From this size on a deletion, which may compact the filter, runs in slices. */
const LONG_BYTES = 64 * 1024;

/** The options of CF.RESERVE: the lowest and highest value, and the word that Redis uses for its sign. */
const OPTIONS = {
  BUCKETSIZE: { field: 'bucketSize', least: 1, most: 255, sign: 'positive' },
  MAXITERATIONS: { field: 'maxIterations', least: 1, most: 65_535, sign: 'positive' },
  EXPANSION: { field: 'expansion', least: 0, most: 32_768, sign: 'non-negative' },
} as const;

/** CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] → OK. Item exists, WRONGTYPE. */
export const reserve: Handler = (context) => {
  const { args, keyspace } = context;
  if (args.length % 2 === 0 || args.length > 9) throw wrongArity('cf.reserve');
  const capacity = readCount(args, 2, Number.MIN_SAFE_INTEGER, badCapacity);
  const settings = { ...STANDARD } as { bucketSize: number; maxIterations: number; expansion: number };
  for (let at = 3; at < args.length; at += 2) {
    const option = args.option(at);
    if (!isOption(option)) throw ERRORS.syntax;
    settings[OPTIONS[option].field] = readOption(args, at + 1, option);
  }
  if (capacity < settings.bucketSize * 2) throw tooSmall;
  const key = args.bytes(1);
  if (keyspace.fetchKind(key, CuckooFilter) !== undefined) throw exists;
  make(context, key, capacity, settings);
  context.notify('d', 'cf.reserve', key);
  return OK;
};

function isOption(option: string): option is keyof typeof OPTIONS {
  return Object.hasOwn(OPTIONS, option);
}

function readOption(args: Args, at: number, option: keyof typeof OPTIONS): number {
  const { least, most, sign } = OPTIONS[option];
  const value = readCount(args, at, Number.MIN_SAFE_INTEGER, new ErrorReply(`ERR Couldn't parse ${option}`));
  if (value < least) throw new ErrorReply(`ERR ${option} parameter needs to be a ${sign} integer`);
  if (value > most) throw new ErrorReply(`ERR ${option} must be ${most} at most`);
  return value;
}

function make(
  context: CommandContext,
  key: ByteString,
  capacity: number,
  given: Omit<CuckooSettings, 'buckets'>,
): CuckooFilter {
  const { keyspace, effects } = context;
  const buckets = powerOfTwoFrom(Math.max(1, Math.floor(capacity / given.bucketSize)));
  const settings = { ...given, buckets, expansion: powerOfTwoFrom(given.expansion) };
  requireRecordSize(context, buckets * given.bucketSize);
  const filter = CuckooFilter.reserve(settings);
  keyspace.set(key, filter);
  const options = Object.entries(OPTIONS).flatMap(([option, { field }]) => [option, String(settings[field])]);
  effects.push('CF.RESERVE', key, String(capacity), ...options);
  return filter;
}

/** CF.ADD key item → 1. CF.ADDNX → 1, or 0 if it was probably added before. Full, WRONGTYPE. */
export function add(onlyNew: boolean): SlicedHandler {
  return function* (context) {
    const [added] = yield* addItems(context, 2, { onlyNew, capacity: STANDARD_CAPACITY });
    if (added === NO_ROOM) throw isFull;
    return added as Reply;
  };
}

/** CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item … → as CF.ADD, for each; -1: there is no room. WRONGTYPE. */
export function insert(onlyNew: boolean): SlicedHandler {
  return function* (context) {
    const { args } = context;
    let capacity = STANDARD_CAPACITY;
    let creates = true;
    for (let at = 2; at < args.length; at += 1) {
      const option = args.option(at);
      if (option === 'NOCREATE') creates = false;
      else if (option === 'ITEMS') {
        if (at + 1 === args.length) break;
        return yield* addItems(context, at + 1, { onlyNew, capacity: creates ? capacity : undefined });
      } else if (option === 'CAPACITY') {
        at += 1;
        if (at === args.length) break;
        capacity = readCount(args, at, Number.MIN_SAFE_INTEGER, badCapacity);
        if (capacity < STANDARD.bucketSize * 2) throw tooSmall;
      } else throw unknownArgument;
    }
    throw wrongArity(args.bytes(0));
  };
}

interface Adding {
  readonly onlyNew: boolean;
  /** Of a new filter; undefined: a missing one is an error. */
  readonly capacity: number | undefined;
}

function* addItems(context: CommandContext, from: number, { onlyNew, capacity }: Adding): Generator<void, Reply[]> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const known = keyspace.fetchKind(key, CuckooFilter);
  if (known === undefined && capacity === undefined) throw notFound;
  if (known !== undefined && known.tables.length >= MAX_TABLES && !context.isReplay) throw tooManyTables;
  const filter = known ?? make(context, key, capacity as number, STANDARD);
  const mayGrow = (): boolean =>
    filter.tables.length < MAX_TABLES && (context.isReplay || filter.bytes + filter.nextGrowth <= MAX_RECORD_BYTES);
  const before = filter.bytes;
  const replies: Reply[] = [];
  const added: ByteString[] = [key, 'NOCREATE', 'ITEMS'];
  const options = added.length;
  const pace = new SlicePace(SLICE_HASHES);
  for (let at = from; at < args.length; at += 1) {
    const item = args.bytes(at);
    const hash = yield* hashOf(item, CUCKOO_SEED);
    if (pace.isDue()) yield;
    if (onlyNew && filter.has(hash)) replies.push(new BooleanReply(false));
    else if (filter.add(hash, mayGrow)) {
      added.push(item);
      replies.push(new BooleanReply(true));
    } else replies.push(NO_ROOM);
  }
  if (added.length === options) return replies;
  keyspace.changed(key, filter, before);
  yield* effects.pushLong('CF.INSERT', added);
  recordExpiry(context, key);
  context.notify('d', 'cf.add', key);
  return replies;
}

/** CF.DEL key item → 1, or 0 if it is missing. Not found, WRONGTYPE. */
export const remove: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const filter = keyspace.fetchKind(key, CuckooFilter);
  if (filter === undefined) throw notFound;
  const before = filter.bytes;
  if (!(yield* filter.delete(yield* hashOf(args.bytes(2), CUCKOO_SEED)))) return new BooleanReply(false);
  keyspace.changed(key, filter, before);
  effects.push('CF.DEL', key, args.bytes(2));
  recordExpiry(context, key);
  context.notify('d', 'cf.del', key);
  return new BooleanReply(true);
};

/** CF.COMPACT key → OK. Not found, WRONGTYPE. */
export const compact: SlicedHandler = function* (context) {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const filter = keyspace.fetchKind(key, CuckooFilter);
  if (filter === undefined) throw notThere;
  const before = filter.bytes;
  yield* filter.compact(true);
  keyspace.changed(key, filter, before);
  effects.push('CF.COMPACT', key);
  recordExpiry(context, key);
  return OK;
};

export function isLongRemoval(context: CommandContext): boolean {
  const filter = context.keyspace.stored(context.args.bytes(1));
  return (
    hasManyItems(context) || (filter instanceof CuckooFilter && filter.tables.length > 1 && filter.bytes > LONG_BYTES)
  );
}

/** CF.EXISTS key item → 1 if it was probably added, otherwise 0. WRONGTYPE. */
export const contains: SlicedHandler = function* (context) {
  const [found] = yield* containsMany(context) as Generator<void, Reply[]>;
  return found as Reply;
};

/** CF.MEXISTS key item … → as CF.EXISTS, for each. WRONGTYPE. */
export const containsMany: SlicedHandler = function* ({ args, keyspace }) {
  const filter = keyspace.peekKind(args.bytes(1), CuckooFilter);
  const found: Reply[] = [];
  const pace = new SlicePace(SLICE_HASHES);
  for (const item of args.from(2)) {
    found.push(new BooleanReply(filter?.has(yield* hashOf(item, CUCKOO_SEED)) ?? false));
    if (pace.isDue()) yield;
  }
  return found;
};

/** CF.COUNT key item → an upper bound of the number of times. WRONGTYPE. */
export const countOf: SlicedHandler = function* ({ args, keyspace }) {
  const filter = keyspace.peekKind(args.bytes(1), CuckooFilter);
  return filter === undefined ? 0 : filter.count(yield* hashOf(args.bytes(2), CUCKOO_SEED));
};

/** CF.INFO key → a map. Not found, WRONGTYPE. */
export const describe: Handler = ({ args, keyspace }) => {
  const filter = keyspace.peekKind(args.bytes(1), CuckooFilter);
  if (filter === undefined) throw notFound;
  const { buckets, bucketSize, expansion, maxIterations } = filter.settings;
  return new MapReply([
    ...['Size', filter.bytes],
    ...['Number of buckets', buckets],
    ...['Number of filters', filter.tables.length],
    ...['Number of items inserted', filter.size],
    ...['Number of items deleted', filter.deleted],
    ...['Bucket size', bucketSize],
    ...['Expansion rate', expansion],
    ...['Max iterations', maxIterations],
  ]);
};
