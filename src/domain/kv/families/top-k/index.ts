/** The Top-K family of Redis's module: the most frequent items. */
import { SKETCHES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { CommandContext, CommandSpec, Handler, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { BooleanReply, DoubleReply, ERRORS, ErrorReply, MapReply, OK, type Reply, wrongArity } from '../../reply.js';
import { inSlices, SlicePace } from '../../slices.js';
import { MAX_ROWS } from '../../types/sketch/sketch.js';
import { TopK } from '../../types/sketch/top-k.js';
import { recordExpiry } from '../expire-time.js';
import { family, GROWS, INSERTS_FAST, READS, READS_FAST, row } from '../rows.js';
import { hasManyItems, readCount, readFloat } from '../sketches.js';

const keyExists = new ErrorReply('ERR TopK: key already exists');
const noKey = new ErrorReply('ERR TopK: key does not exist');
const badK = new ErrorReply('ERR TopK: invalid k');
const badWidth = new ErrorReply('ERR TopK: invalid width');
const badDepth = new ErrorReply('ERR TopK: invalid depth');
const badDecay = new ErrorReply("ERR TopK: invalid decay value. must be '<= 1' & '> 0'");
const badIncrement = new ErrorReply(
  'ERR TopK: increment must be an integer greater or equal to 0 and smaller or equal to 100,000',
);
const MAX_INCREMENT = 100_000;
const STANDARD = { width: 8, depth: 7, decay: 0.9 };
/** Rows visited between two pauses. */
const SLICE_ROWS = 2000;

/** TOPK.RESERVE key k [width depth decay] → OK. Key exists. */
const reserve: Handler = (context) => {
  const { args, keyspace, effects } = context;
  if (args.length !== 3 && args.length !== 6) throw wrongArity('topk.reserve');
  const key = args.bytes(1);
  if (keyspace.fetch(key) !== undefined) throw keyExists;
  const k = readCount(args, 2, 1, badK);
  let { width, depth, decay } = STANDARD;
  if (args.length === 6) {
    width = readCount(args, 3, 1, badWidth);
    depth = readCount(args, 4, 1, badDepth);
    decay = readFloat(args, 5, badDecay);
  }
  if (depth > MAX_ROWS) throw badDepth;
  if (!(decay > 0 && decay <= 1)) throw badDecay;
  const settings = { k, width, depth, decay };
  requireRecordSize(context, TopK.bytesToReserve(settings));
  keyspace.set(key, new TopK(settings));
  effects.push('TOPK.RESERVE', key, ...[k, width, depth, decay].map(String));
  context.notify('d', 'topk.reserve', key);
  return OK;
};

function sketchToRead({ args, keyspace }: CommandContext): TopK {
  const sketch = keyspace.peekKind(args.bytes(1), TopK);
  if (sketch === undefined) throw noKey;
  return sketch;
}

/** TOPK.ADD key item … → for each, the item that left the list, or null. Key is missing, WRONGTYPE. */
const add: SlicedHandler = function* (context) {
  return yield* count(
    context,
    context.args.from(2).map((item) => [item, 1]),
  );
};

/** TOPK.INCRBY key item increment … → as TOPK.ADD. */
const increment: SlicedHandler = function* (context) {
  const { args } = context;
  if (args.length % 2 === 1) throw wrongArity('topk.incrby');
  const items: [string, number][] = [];
  for (let at = 2; at < args.length; at += 2) {
    const value = readCount(args, at + 1, 0, badIncrement);
    if (value > MAX_INCREMENT) throw badIncrement;
    items.push([args.bytes(at), value]);
    if (items.length % SLICE_ROWS === 0) yield;
  }
  return yield* count(context, items);
};

function* count(context: CommandContext, items: readonly (readonly [string, number])[]): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const sketch = keyspace.fetchKind(key, TopK);
  if (sketch === undefined) throw noKey;
  const before = sketch.bytes;
  let longest = 0;
  for (const [item] of items) longest += item.length;
  requireRecordSize(context, before + longest);
  const expelled: Reply[] = [];
  const pace = new SlicePace(SLICE_ROWS);
  for (const [item, value] of items) {
    expelled.push((yield* sketch.add(item, value)) ?? null);
    if (pace.isDue(sketch.settings.depth)) yield;
  }
  keyspace.changed(key, sketch, before);
  yield* effects.pushLong(args.option(0), args.words, 1);
  recordExpiry(context, key);
  context.notify('d', args.option(0).toLowerCase(), key);
  return expelled;
}

/** TOPK.QUERY key item … → whether each is in the list. Key is missing, WRONGTYPE. */
const query: Handler = (context) => {
  const sketch = sketchToRead(context);
  return context.args.from(2).map((item) => new BooleanReply(sketch.has(item)));
};

/** TOPK.COUNT key item … → an estimate of each count. Key is missing, WRONGTYPE. */
const countOf: SlicedHandler = function* (context): Generator<void, Reply> {
  const sketch = sketchToRead(context);
  const counts: Reply[] = [];
  const pace = new SlicePace(SLICE_ROWS);
  for (const item of context.args.from(2)) {
    counts.push(sketch.of(item));
    if (pace.isDue(sketch.settings.depth)) yield;
  }
  return counts;
};

/** TOPK.LIST key [WITHCOUNT] → the items, most frequent first. Key is missing, WRONGTYPE. */
const list: Handler = (context) => {
  const { args } = context;
  const sketch = sketchToRead(context);
  if (args.length > 3) throw wrongArity('topk.list');
  const withCount = args.length === 3;
  if (withCount && args.option(2) !== 'WITHCOUNT') throw ERRORS.syntax;
  return sketch.list().flatMap(({ item, count: times }) => (withCount ? [item, times] : [item]));
};

/** TOPK.INFO key → a map. Key is missing, WRONGTYPE. */
const describe: Handler = (context) => {
  const { k, width, depth, decay } = sketchToRead(context).settings;
  return new MapReply(['k', k, 'width', width, 'depth', depth, 'decay', new DoubleReply(decay)]);
};

/** Whether the items or the rows are so many that slices are needed. */
function isLong(context: CommandContext): boolean {
  const sketch = context.keyspace.stored(context.args.bytes(1));
  const rows = sketch instanceof TopK ? sketch.settings.depth : 1;
  return hasManyItems(context) || context.args.length * rows > SLICE_ROWS;
}

/** An increment may take many chances. */
function isLongIncrement(context: CommandContext): boolean {
  return isLong(context) || context.args.words.some((word, at) => at > 2 && at % 2 === 1 && word.length > 4);
}

const bounded = 'A sketch has at most 100 MB and 1,000 rows.';

export const TOP_K: readonly CommandSpec[] = family(
  'top-k',
  [
    row('TOPK.ADD', -3, '2.0.0', 'Counts items in a Top-K sketch.', {
      ...GROWS,
      keyUse: ['RW update'],
      ...inSlices(add, isLong),
      deviations: ['Counters of other items decay by a sequence of chances in the sketch.'],
    }),
    row('TOPK.COUNT', -3, '2.0.0', 'Estimates how often items were counted.', {
      ...READS,
      ...inSlices(countOf, isLong),
    }),
    row('TOPK.INCRBY', -4, '2.0.0', 'Counts items several times in a Top-K sketch.', {
      ...GROWS,
      keyUse: ['RW update'],
      ...inSlices(increment, isLongIncrement),
      deviations: ['Counters of other items decay by a sequence of chances in the sketch.'],
    }),
    row('TOPK.INFO', 2, '2.0.0', 'Describes a Top-K sketch.', { ...READS_FAST, handler: describe }),
    row('TOPK.LIST', -2, '2.0.0', 'Returns the most frequent items.', { ...READS, handler: list }),
    row('TOPK.QUERY', -3, '2.0.0', 'Tells of items whether they are among the most frequent.', {
      ...READS_FAST,
      handler: query,
    }),
    row('TOPK.RESERVE', -3, '2.0.0', 'Makes a Top-K sketch.', {
      ...INSERTS_FAST,
      handler: reserve,
      deviations: [bounded],
    }),
  ],
  SKETCHES_FORMAT_LEVEL,
);
