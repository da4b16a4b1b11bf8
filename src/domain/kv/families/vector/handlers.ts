/** The handlers of the VECTOR commands. */
import { boundedQuery } from '../../bounded-query.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { parseInt64 } from '../../numbers.js';
import { DoubleReply, ERRORS, ErrorReply, MapReply, NIL_ARRAY, type Reply } from '../../reply.js';
import type { Steps } from '../../steps.js';
import { type NearestSearch, VISIT_WORK } from '../../types/named-vectors.js';
import { KEY_METRICS, type KeyMetric, VectorIndex } from '../../types/vector-index.js';
import { recordExpiry, removeKey } from '../expire-time.js';
import { isVectorAt, MAX_DIMENSION, readVector } from './read-vector.js';

const MAX_RESULTS = 1000;
/** Products of a search above which it runs in slices: about 2 ms. */
const LONG_PRODUCTS = 1_000_000;
/** How thoroughly a graph is searched. */
const PROFILES: Readonly<Record<string, Omit<NearestSearch, 'count'>>> = {
  FAST: { effort: 40 },
  BALANCED: {},
  PRECISE: { isExact: true },
};

const badDimension = new ErrorReply(`ERR DIM must be an integer from 1 to ${MAX_DIMENSION}`);
const badMetric = new ErrorReply('ERR METRIC must be COSINE, EUCLIDEAN or DOT');
const exists = new ErrorReply('ERR vector index already exists');
const otherExists = new ErrorReply('ERR vector index already exists with a different dimension or metric');
const noIndex = new ErrorReply('ERR vector index does not exist');
const emptyId = new ErrorReply('ERR the id of a vector must not be empty');
const badCount = new ErrorReply(`ERR TOPK must be an integer from 1 to ${MAX_RESULTS}`);
const badProfile = new ErrorReply('ERR PROFILE must be FAST, BALANCED or PRECISE');

function wrongDimension(expected: number, given: number): ErrorReply {
  return new ErrorReply(`ERR vector dimension mismatch: the index has ${expected}, the vector ${given}`);
}

/** VECTOR.CREATE key DIM n METRIC m [EXISTSOK] → 1, or 0 if an equal index exists. WRONGTYPE. */
export const create: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const { dimension, metric, existsOk } = readShape(context);
  const present = keyspace.fetchKind(key, VectorIndex);
  if (present !== undefined) {
    if (!existsOk) throw exists;
    if (present.dimension !== dimension || present.metric !== metric) throw otherExists;
    return 0;
  }
  keyspace.set(key, new VectorIndex(dimension, metric));
  effects.push('VECTOR.CREATE', key, 'DIM', String(dimension), 'METRIC', metric);
  context.notify('d', 'vector.create', key);
  return 1;
};

function readShape({ args }: CommandContext): {
  readonly dimension: number;
  readonly metric: KeyMetric;
  readonly existsOk: boolean;
} {
  let dimension: number | undefined;
  let metric: KeyMetric | undefined;
  let existsOk = false;
  for (let at = 2; at < args.length; at += 1) {
    const option = args.option(at);
    if (option === 'EXISTSOK') existsOk = true;
    else if (option === 'DIM') {
      at += 1;
      const given = parseInt64(args.bytes(at));
      if (typeof given !== 'number' || given < 1 || given > MAX_DIMENSION) throw badDimension;
      dimension = given;
    } else if (option === 'METRIC') {
      at += 1;
      const given = args.option(at);
      metric = KEY_METRICS.find((known) => known === given);
      if (metric === undefined) throw badMetric;
    } else throw ERRORS.syntax;
  }
  if (dimension === undefined || metric === undefined) throw ERRORS.syntax;
  return { dimension, metric, existsOk };
}

/** VECTOR.ADD key id vector → 1 if the id is new, otherwise 0. WRONGTYPE, no index. */
export const add: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const id = args.bytes(2);
  if (id === '') throw emptyId;
  const { elements, end } = readVector(args, 3);
  if (end !== args.length) throw ERRORS.syntax;
  const index = keyspace.fetchKind(key, VectorIndex);
  if (index === undefined) throw noIndex;
  if (elements.length !== index.dimension) throw wrongDimension(index.dimension, elements.length);
  const before = index.bytes;
  if (index.get(id) === undefined) requireRecordSize(context, before + elements.byteLength + id.length);
  const isNew = index.set(id, elements);
  keyspace.changed(key, index, before);
  effects.push('VECTOR.ADD', key, id, 'FP32', index.bytesOf(id));
  recordExpiry(context, key);
  context.notify('d', 'vector.add', key);
  return isNew ? 1 : 0;
};

/** VECTOR.GET key id → the elements, or null. WRONGTYPE. */
export const get: Handler = ({ args, keyspace }) => {
  const elements = keyspace.peekKind(args.bytes(1), VectorIndex)?.get(args.bytes(2));
  return elements === undefined ? NIL_ARRAY : Array.from(elements, (element) => new DoubleReply(element));
};

/** VECTOR.DEL key id → 1 or 0. The index stays without vectors. WRONGTYPE. */
export const remove: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const id = args.bytes(2);
  const index = keyspace.fetchKind(key, VectorIndex);
  if (index === undefined) return 0;
  const before = index.bytes;
  if (!index.delete(id)) return 0;
  keyspace.changed(key, index, before);
  effects.push('VECTOR.DEL', key, id);
  recordExpiry(context, key);
  context.notify('d', 'vector.del', key);
  return 1;
};

/** VECTOR.COUNT key → the number of vectors. WRONGTYPE. */
export const count: Handler = ({ args, keyspace }) => keyspace.peekKind(args.bytes(1), VectorIndex)?.size ?? 0;

/** VECTOR.INFO key → dimension and metric, or null. WRONGTYPE. */
export const info: Handler = ({ args, keyspace }) => {
  const index = keyspace.peekKind(args.bytes(1), VectorIndex);
  if (index === undefined) return NIL_ARRAY;
  return new MapReply(['dimension', index.dimension, 'metric', index.metric]);
};

/** VECTOR.QUERY key TOPK n [PROFILE p] vector → [id, score] of the nearest, nearest first. WRONGTYPE. */
export const query: SlicedHandler = (context) =>
  boundedQuery(
    context.server,
    nearestVectors(context),
    'use another PROFILE than PRECISE, or fewer vectors in an index',
  );

function* nearestVectors({ args, keyspace }: CommandContext): Steps<Reply> {
  let wanted: number | undefined;
  let elements: Float32Array | undefined;
  let profile: Omit<NearestSearch, 'count'> = {};
  for (let at = 2; at < args.length; ) {
    const option = args.option(at);
    if (option === 'TOPK') {
      const given = parseInt64(args.bytes(at + 1));
      if (typeof given !== 'number' || given < 1 || given > MAX_RESULTS) throw badCount;
      wanted = given;
      at += 2;
    } else if (option === 'PROFILE') {
      const given = PROFILES[args.option(at + 1)];
      if (given === undefined) throw badProfile;
      profile = given;
      at += 2;
    } else if (isVectorAt(args, at) && elements === undefined) {
      const vector = readVector(args, at);
      elements = vector.elements;
      at = vector.end;
    } else throw ERRORS.syntax;
  }
  if (wanted === undefined || elements === undefined) throw ERRORS.syntax;
  const index = keyspace.peekKind(args.bytes(1), VectorIndex);
  if (index === undefined) return [];
  if (elements.length !== index.dimension) throw wrongDimension(index.dimension, elements.length);
  const found = yield* index.nearest(elements, { ...profile, count: wanted });
  return found.map(({ id, score }): Reply => [id, new DoubleReply(score)]);
}

export function isLongQuery({ args, keyspace }: CommandContext): boolean {
  const index = keyspace.stored(args.bytes(1));
  return index instanceof VectorIndex && index.size * (index.dimension + VISIT_WORK) > LONG_PRODUCTS;
}

/** VECTOR.DROP key → 1 or 0. WRONGTYPE. */
export const drop: Handler = (context) => {
  const key = context.args.bytes(1);
  if (context.keyspace.fetchKind(key, VectorIndex) === undefined) return 0;
  removeKey(context, key);
  return 1;
};
