/** Making and changing t-digests. */
import type { Args } from '../../args.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ErrorReply, OK, type Reply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { TDigest } from '../../types/sketch/t-digest.js';
import { recordExpiry } from '../expire-time.js';
import { readCount, readFloat, replaceSketch } from '../sketches.js';

export const noKey = new ErrorReply('ERR T-Digest: key does not exist');
const keyExists = new ErrorReply('ERR T-Digest: key already exists');
const wrongKeyword = new ErrorReply('ERR T-Digest: wrong keyword');
const badCompression = new ErrorReply('ERR T-Digest: error parsing compression parameter');
const notPositive = new ErrorReply('ERR T-Digest: compression parameter needs to be a positive integer');
const badValue = new ErrorReply('ERR T-Digest: error parsing val parameter');
const notFinite = new ErrorReply('ERR T-Digest: val parameter needs to be a finite number');
const badKeyCount = new ErrorReply('ERR T-Digest: error parsing numkeys');
const keyCountNotPositive = new ErrorReply('ERR T-Digest: numkeys needs to be a positive integer');
/** Redis's default. */
const STANDARD_COMPRESSION = 100;
/** Merging so many centroids takes about 5 ms, once for as many added values. */
const MAX_COMPRESSION = 10_000;
const tooLarge = new ErrorReply(`ERR T-Digest: compression parameter needs to be ${MAX_COMPRESSION} at most`);
const MANY_VALUES = 500;

/** TDIGEST.CREATE key [COMPRESSION n] → OK. Key exists, WRONGTYPE. */
export const create: Handler = (context) => {
  const { args, keyspace, effects } = context;
  if (args.length !== 2 && args.length !== 4) throw wrongArity('tdigest.create');
  const key = args.bytes(1);
  if (keyspace.fetchKind(key, TDigest) !== undefined) throw keyExists;
  if (args.length === 4 && args.option(2) !== 'COMPRESSION') throw wrongKeyword;
  const compression = args.length === 4 ? readCompression(args, 3) : STANDARD_COMPRESSION;
  requireRecordSize(context, TDigest.bytesToReserve(compression));
  keyspace.set(key, new TDigest(compression));
  effects.push('TDIGEST.CREATE', key, 'COMPRESSION', String(compression));
  context.notify('d', 'tdigest.create', key);
  return OK;
};

function readCompression(args: Args, at: number): number {
  const compression = readCount(args, at, Number.MIN_SAFE_INTEGER, badCompression);
  if (compression <= 0) throw notPositive;
  if (compression > MAX_COMPRESSION) throw tooLarge;
  return compression;
}

function digestIn({ args, keyspace }: CommandContext): TDigest {
  const digest = keyspace.fetchKind(args.bytes(1), TDigest);
  if (digest === undefined) throw noKey;
  return digest;
}

/** TDIGEST.RESET key → OK. Key is missing, WRONGTYPE. */
export const reset: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const digest = digestIn(context);
  digest.reset();
  keyspace.changed(key, digest, digest.bytes);
  effects.push('TDIGEST.RESET', key);
  recordExpiry(context, key);
  context.notify('d', 'tdigest.reset', key);
  return OK;
};

/** TDIGEST.ADD key value … → OK. Key is missing, WRONGTYPE. */
export const add: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const digest = digestIn(context);
  const values: number[] = [];
  const pace = new SlicePace();
  for (let at = 2; at < args.length; at += 1) {
    const value = readFloat(args, at, badValue);
    if (!Number.isFinite(value)) throw notFinite;
    values.push(value);
    if (pace.isDue()) yield;
  }
  for (const value of values) {
    digest.add(value, 1);
    if (pace.isDue()) yield;
  }
  keyspace.changed(key, digest, digest.bytes);
  yield* effects.pushLong('TDIGEST.ADD', args.words, 1);
  recordExpiry(context, key);
  context.notify('d', 'tdigest.add', key);
  return OK;
};

export function isLongAdd({ args }: CommandContext): boolean {
  return args.length > MANY_VALUES;
}

/** TDIGEST.MERGE destination n source … [COMPRESSION n] [OVERRIDE] → OK. Key is missing, WRONGTYPE. */
export const merge: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const known = keyspace.fetchKind(key, TDigest);
  const count = readCount(args, 2, Number.MIN_SAFE_INTEGER, badKeyCount);
  if (count <= 0) throw keyCountNotPositive;
  if (count > args.length - 3) throw wrongArity('tdigest.merge');
  let compression: number | undefined;
  let overrides = false;
  for (let at = 3 + count; at < args.length; at += 1) {
    const option = args.option(at);
    if (option === 'OVERRIDE') overrides = true;
    else if (option !== 'COMPRESSION') throw wrongKeyword;
    else {
      at += 1;
      if (at === args.length) throw wrongArity('tdigest.merge');
      compression = readCompression(args, at);
    }
  }
  const sources: TDigest[] = [];
  for (let i = 0; i < count; i += 1) {
    const source = keyspace.peekKind(args.bytes(3 + i), TDigest);
    if (source === undefined) throw noKey;
    sources.push(source);
    if (i % MANY_VALUES === MANY_VALUES - 1) yield;
  }
  const base = overrides ? undefined : known;
  compression ??= base?.compression ?? Math.max(...sources.map((source) => source.compression));
  const merged = new TDigest(compression);
  for (const source of base === undefined ? sources : [base, ...sources]) {
    merged.take(source);
    yield;
  }
  yield* replaceSketch(context, key, merged);
  context.notify('d', 'tdigest.merge', key);
  return OK;
};
