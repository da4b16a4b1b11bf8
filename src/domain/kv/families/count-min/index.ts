/** The Count-Min sketch family of Redis's module: upper bounds of how often items were counted. */
import { bufferOfBytes, SKETCHES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import { counted } from '../../command-description.js';
import type { CommandContext, CommandSpec, Handler, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { INT64_MAX } from '../../numbers.js';
import { ErrorReply, MapReply, OK, type Reply, wrongArity } from '../../reply.js';
import { inSlices, SlicePace } from '../../slices.js';
import { CountMinSketch, MAX_COUNTER } from '../../types/sketch/count-min.js';
import { MAX_ROWS } from '../../types/sketch/sketch.js';
import { recordExpiry } from '../expire-time.js';
import { family, GROWS, INSERTS_FAST, READS, READS_FAST, row } from '../rows.js';
import { hasManyItems, readCount, readFloat, readInteger, replaceSketch } from '../sketches.js';

const keyExists = new ErrorReply('ERR CMS: key already exists');
const noKey = new ErrorReply('ERR CMS: key does not exist');
const badWidth = new ErrorReply('ERR CMS: invalid width');
const badDepth = new ErrorReply('ERR CMS: invalid depth');
const badError = new ErrorReply('ERR CMS: invalid overestimation value');
const badProbability = new ErrorReply('ERR CMS: invalid prob value');
const notANumber = new ErrorReply('ERR CMS: Cannot parse number');
const negative = new ErrorReply('ERR CMS: Number cannot be negative');
const overflow = new ErrorReply('ERR CMS: INCRBY overflow');
const badKeyCount = new ErrorReply('ERR CMS: invalid numkeys');
const keyCountNotPositive = new ErrorReply('ERR CMS: Number of keys must be positive');
const wrongKeys = new ErrorReply('ERR CMS: wrong number of keys');
const wrongWeights = new ErrorReply('ERR CMS: wrong number of keys/weights');
const badWeight = new ErrorReply('ERR CMS: invalid weight value');
const otherShape = new ErrorReply('ERR CMS: width/depth is not equal');
const mergeOverflow = new ErrorReply('ERR CMS: MERGE overflow');
/** Rows visited between two pauses. */
const SLICE_ROWS = 2000;
const LONG_CELLS = 100_000;

/** CMS.INITBYDIM key width depth → OK. Key exists. */
const initByShape: Handler = (context) => {
  const { args } = context;
  const width = readCount(args, 2, 1, badWidth);
  const depth = readCount(args, 3, 1, badDepth);
  return make(context, width, depth);
};

/** CMS.INITBYPROB key error probability → OK. Key exists. */
const initByProbability: Handler = (context) => {
  const { args } = context;
  const error = readFloat(args, 2, badError);
  if (!(error > 0 && error < 1)) throw badError;
  const probability = readFloat(args, 3, badProbability);
  if (!(probability > 0 && probability < 1)) throw badProbability;
  return make(context, Math.ceil(2 / error), Math.ceil(Math.log10(probability) / Math.log10(0.5)));
};

function make(context: CommandContext, width: number, depth: number): Reply {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  if (keyspace.fetch(key) !== undefined) throw keyExists;
  if (depth > MAX_ROWS) throw badDepth;
  requireRecordSize(context, CountMinSketch.bytesToReserve(width, depth));
  keyspace.set(key, new CountMinSketch(width, depth));
  effects.push('CMS.INITBYDIM', key, String(width), String(depth));
  context.notify('d', 'cms.init', key);
  return OK;
}

function sketchIn({ args, keyspace }: CommandContext): CountMinSketch {
  const sketch = keyspace.fetchKind(args.bytes(1), CountMinSketch);
  if (sketch === undefined) throw noKey;
  return sketch;
}

/** CMS.INCRBY key item increment … → the new upper bound of each. Key is missing, WRONGTYPE, overflow. */
const increment: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  if (args.length % 2 === 1) throw wrongArity('cms.incrby');
  const sketch = sketchIn(context);
  const increments: bigint[] = [];
  const pace = new SlicePace(SLICE_ROWS);
  for (let at = 3; at < args.length; at += 2) {
    const value = readInteger(args, at, notANumber);
    if (value < 0n) throw negative;
    increments.push(value);
    if (pace.isDue()) yield;
  }
  if (increments.reduce((sum, value) => sum + value, sketch.count) > INT64_MAX) throw overflow;
  const counts: Reply[] = [];
  for (const [i, value] of increments.entries()) {
    const count = sketch.add(bufferOfBytes(args.bytes(2 + 2 * i)), value);
    counts.push(count === MAX_COUNTER ? overflow : count);
    if (pace.isDue(sketch.depth)) yield;
  }
  const key = args.bytes(1);
  keyspace.changed(key, sketch, sketch.bytes);
  yield* effects.pushLong('CMS.INCRBY', args.words, 1);
  recordExpiry(context, key);
  context.notify('d', 'cms.incrby', key);
  return counts;
};

/** CMS.QUERY key item … → an upper bound of each count. Key is missing, WRONGTYPE. */
const query: SlicedHandler = function* ({ args, keyspace }): Generator<void, Reply> {
  const sketch = keyspace.peekKind(args.bytes(1), CountMinSketch);
  if (sketch === undefined) throw noKey;
  const counts: Reply[] = [];
  const pace = new SlicePace(SLICE_ROWS);
  for (const item of args.from(2)) {
    counts.push(sketch.of(bufferOfBytes(item)));
    if (pace.isDue(sketch.depth)) yield;
  }
  return counts;
};

/** CMS.MERGE destination n source … [WEIGHTS weight …] → OK. Key is missing, other shape, WRONGTYPE, overflow. */
const merge: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const target = sketchIn(context);
  const count = readCount(args, 2, Number.MIN_SAFE_INTEGER, badKeyCount);
  if (count <= 0) throw keyCountNotPositive;
  const hasWeights = args.length > 3 + count && args.option(3 + count) === 'WEIGHTS';
  if (!hasWeights && args.length !== 3 + count) throw wrongKeys;
  if (hasWeights && args.length !== 4 + 2 * count) throw wrongWeights;
  const sources: { sketch: CountMinSketch; weight: bigint }[] = [];
  for (let i = 0; i < count; i += 1) {
    const weight = hasWeights ? readInteger(args, 4 + count + i, badWeight) : 1n;
    const sketch = keyspace.peekKind(args.bytes(3 + i), CountMinSketch);
    if (sketch === undefined) throw noKey;
    if (sketch.width !== target.width || sketch.depth !== target.depth) throw otherShape;
    sources.push({ sketch, weight });
    if (i % SLICE_ROWS === SLICE_ROWS - 1) yield;
  }
  const merged = new CountMinSketch(target.width, target.depth);
  if (!(yield* merged.sumUp(sources)) || merged.count > INT64_MAX) throw mergeOverflow;
  const key = args.bytes(1);
  yield* replaceSketch(context, key, merged);
  context.notify('d', 'cms.merge', key);
  return OK;
};

/** Whether so many counters are added that the merge needs slices. */
function isLongMerge({ args, keyspace }: CommandContext): boolean {
  const target = keyspace.stored(args.bytes(1));
  return target instanceof CountMinSketch && target.cells.length * args.length > LONG_CELLS;
}

/** Whether the items or the rows are so many that slices are needed. */
function isLong(context: CommandContext): boolean {
  const sketch = context.keyspace.stored(context.args.bytes(1));
  const rows = sketch instanceof CountMinSketch ? sketch.depth : 1;
  return hasManyItems(context) || context.args.length * rows > SLICE_ROWS;
}

/** CMS.INFO key → a map. Key is missing, WRONGTYPE. */
const describe: Handler = ({ args, keyspace }) => {
  const sketch = keyspace.peekKind(args.bytes(1), CountMinSketch);
  if (sketch === undefined) throw noKey;
  return new MapReply(['width', sketch.width, 'depth', sketch.depth, 'count', shownInteger(sketch.count)]);
};

function shownInteger(value: bigint): Reply {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? value : Number(value);
}

const bounded = 'A sketch has at most 100 MB and 1,000 rows.';

export const COUNT_MIN: readonly CommandSpec[] = family(
  'count-min',
  [
    row('CMS.INCRBY', -4, '2.0.0', 'Counts items in a Count-Min sketch.', {
      ...GROWS,
      keyUse: ['RW update'],
      ...inSlices(increment, isLong),
      deviations: ['Counters have 32 bits, and increments are not negative.'],
    }),
    row('CMS.INFO', 2, '2.0.0', 'Describes a Count-Min sketch.', { ...READS_FAST, handler: describe }),
    row('CMS.INITBYDIM', 4, '2.0.0', 'Makes a Count-Min sketch of a width and a depth.', {
      ...INSERTS_FAST,
      handler: initByShape,
      deviations: [bounded],
    }),
    row('CMS.INITBYPROB', 4, '2.0.0', 'Makes a Count-Min sketch for an error and its probability.', {
      ...INSERTS_FAST,
      handler: initByProbability,
      deviations: [bounded],
    }),
    row('CMS.MERGE', -4, '2.0.0', 'Replaces a Count-Min sketch by the weighted sum of others.', {
      flags: ['write', 'denyoom'],
      keys: counted(2, [1]),
      keyUse: ['RW update', 'RO access'],
      ...inSlices(merge, isLongMerge),
    }),
    row('CMS.QUERY', -3, '2.0.0', 'Returns upper bounds of how often items were counted.', {
      ...READS,
      ...inSlices(query, isLong),
    }),
  ],
  SKETCHES_FORMAT_LEVEL,
);
