/** Parts that the families of filters and sketches share: hashing items, limits, and the effects that rebuild a value. */
import { type ByteString, bufferOfBytes } from '../../../kernel/index.js';
import type { Args } from '../args.js';
import { at } from '../command-description.js';
import type { CommandContext, CommandSpec } from '../command-spec.js';
import { parseFloatStrict, parseInt64 } from '../numbers.js';
import { ErrorReply, OK, type Reply, unknownCommand } from '../reply.js';
import { SlicePace } from '../slices.js';
import { workOf } from '../steps.js';
import { type Hash64, isLongToHash, murmur64, murmur64InSlices } from '../types/murmur64.js';
import { BloomFilter } from '../types/sketch/bloom.js';
import { CountMinSketch } from '../types/sketch/count-min.js';
import { CuckooFilter } from '../types/sketch/cuckoo.js';
import { BEGIN_EFFECT, LOAD_EFFECT, Sketch } from '../types/sketch/sketch.js';
import { TDigest } from '../types/sketch/t-digest.js';
import { TopK } from '../types/sketch/top-k.js';
import type { SketchKind } from '../value.js';
import { recordExpiry } from './expire-time.js';
import { family, NOT_IN_REDIS, type Row, row } from './rows.js';

/** More items than this run in slices: about a millisecond. */
const MANY_ITEMS = 300;
/** Items hashed between two pauses, as `SlicePace` counts. */
export const SLICE_HASHES = 200;

export function hasManyItems({ args }: CommandContext): boolean {
  return args.length > MANY_ITEMS || args.words.some(isLongToHash);
}

export function* hashOf(item: ByteString, seed: Hash64): Generator<void, Hash64> {
  return isLongToHash(item) ? yield* murmur64InSlices(item, seed) : murmur64(item, seed);
}

/** An integer of 64 bits, or the error. */
export function readInteger(args: Args, index: number, problem: ErrorReply): bigint {
  const value = parseInt64(args.bytes(index));
  if (value === undefined) throw problem;
  return BigInt(value);
}

/** An integer that a number holds exactly, or the error. */
export function readCount(args: Args, index: number, least: number, problem: ErrorReply): number {
  const value = parseInt64(args.bytes(index));
  if (typeof value !== 'number' || value < least) throw problem;
  return value;
}

export function readFloat(args: Args, index: number, problem: ErrorReply): number {
  const value = parseFloatStrict(args.bytes(index));
  if (value === undefined) throw problem;
  return value;
}

/** Records a new value as a whole, in place of one that the key may have; its expiry stays. */
export function* replaceSketch(context: CommandContext, key: ByteString, sketch: Sketch): Generator<void, void> {
  const { keyspace, effects } = context;
  keyspace.replace(key, sketch);
  const pace = new SlicePace();
  for (const words of sketch.rebuild(key)) {
    effects.pushList(words[0] as ByteString, words.slice(1));
    if (pace.isDue(workOf(words))) yield;
  }
  recordExpiry(context, key);
}

const FROM_WORDS: Readonly<Record<SketchKind, (words: readonly ByteString[]) => Sketch>> = {
  'MBbloom--': BloomFilter.fromWords,
  MBbloomCF: CuckooFilter.fromWords,
  'CMSk-TYPE': CountMinSketch.fromWords,
  'TopK-TYPE': TopK.fromWords,
  'TDIS-TYPE': TDigest.fromWords,
};

const notASketch = new ErrorReply('ERR not a filter or sketch');

/** Effects that rebuild filters and sketches. They only run in replay. */
export const SKETCH_EFFECTS: readonly CommandSpec[] = family('bloom', [
  row(BEGIN_EFFECT, -3, NOT_IN_REDIS, 'Makes an empty filter or sketch of some shape.', {
    ...replayed(({ args, keyspace }) => {
      const make = FROM_WORDS[args.bytes(2) as SketchKind];
      if (make === undefined) throw notASketch;
      keyspace.replace(
        args.bytes(1),
        sound(() => make(args.from(3))),
      );
    }),
  }),
  row(LOAD_EFFECT, 5, NOT_IN_REDIS, 'Writes bytes into a filter or sketch.', {
    ...replayed(({ args, keyspace }) => {
      const key = args.bytes(1);
      const sketch = keyspace.fetch(key);
      if (!(sketch instanceof Sketch)) throw notASketch;
      const before = sketch.bytes;
      sound(() => sketch.load(args.integer(2), args.integer(3), bufferOfBytes(args.bytes(4))));
      keyspace.changed(key, sketch, before);
    }),
  }),
]);

function replayed(apply: (context: CommandContext) => void): Pick<Row, 'handler' | 'flags' | 'keys'> {
  return {
    flags: ['write', 'noscript'],
    keys: at(1),
    handler: (context): Reply => {
      if (!context.isReplay) throw unknownCommand(context.args.words);
      apply(context);
      return OK;
    },
  };
}

/** Payloads of RESTORE may contain any words. */
function sound<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) throw notASketch;
    throw error;
  }
}
