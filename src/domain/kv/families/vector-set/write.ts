/** Writing vector sets: VADD, VREM, VSETATTR, and the effect that they share. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { parseInt64 } from '../../numbers.js';
import { BooleanReply, ErrorReply, OK, unknownCommand, wrongArity } from '../../reply.js';
import { projected, type SetPrecision, VectorSet, type VectorSetShape } from '../../types/vector-set.js';
import { recordExpiry } from '../expire-time.js';
import { elementsOfBytes, type GivenVector, readVector } from '../vector/read-vector.js';

const MAX_EFFORT = 1_000_000;
const MIN_LINKS = 4;
const MAX_LINKS = 4096;
const DEFAULT_LINKS = 16;
const QUANTIZATIONS: Readonly<Record<string, SetPrecision>> = { NOQUANT: 'F32', Q8: 'I8', BIN: 'B1' };

const badVector = new ErrorReply('ERR invalid vector specification');
const badEffort = new ErrorReply('ERR invalid EF');
const badLinks = new ErrorReply('ERR invalid M');
const badOption = new ErrorReply('ERR invalid option after element');
const otherQuantization = new ErrorReply('ERR asked quantization mismatch with existing vector set');
const otherLinks = new ErrorReply('ERR asked M value mismatch with existing vector set');

/** FP32 or VALUES. @throws ErrorReply */
export function readSetVector(args: Args, at: number): GivenVector {
  if (at < args.length && ['FP32', 'VALUES'].includes(args.option(at))) {
    try {
      return readVector(args, at);
    } catch (error) {
      if (!(error instanceof ErrorReply)) throw error;
    }
  }
  throw badVector;
}

function otherDimension(given: number, known: number): ErrorReply {
  return new ErrorReply(`ERR Vector dimension mismatch - got ${given} but set has ${known}`);
}

/** The vector in the dimension of the set. @throws ErrorReply */
export function fitting(given: Float32Array, { dimension, inputDimension }: VectorSetShape): Float32Array {
  if (inputDimension === 0) {
    if (given.length !== dimension) throw otherDimension(given.length, dimension);
    return given;
  }
  if (given.length === inputDimension) return projected(given, dimension);
  throw new ErrorReply(
    `ERR Input dimension mismatch for projection - got ${given.length} but projection expects ${inputDimension}`,
  );
}

/** VADD key [REDUCE n] FP32|VALUES vector element [options] → whether the element is new. WRONGTYPE. */
export const add: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const { reduced, given, element, options } = readAddition(args);
  const known = keyspace.fetchKind(key, VectorSet);
  if (known !== undefined) requireSame(known.shape, options, given.length, reduced);
  const shape = known?.shape ?? {
    precision: options.precision,
    dimension: reduced ?? given.length,
    inputDimension: reduced === undefined ? 0 : given.length,
    links: options.links,
  };
  const numbers = fitting(given, shape);
  const set = known ?? new VectorSet(shape);
  requireRecordSize(context, set.bytes + numbers.byteLength + element.length + (options.attributes?.length ?? 0));
  const isNew = write(context, key, set, { element, numbers, attributes: options.attributes });
  effects.push(...set.effectOf(key, element));
  recordExpiry(context, key);
  return new BooleanReply(isNew);
};

interface Written {
  readonly element: ByteString;
  readonly numbers: Float32Array;
  /** undefined keeps those of a known element. */
  readonly attributes: ByteString | undefined;
}

/** @returns whether the element is new */
function write({ keyspace }: CommandContext, key: ByteString, set: VectorSet, written: Written): boolean {
  const isKnown = keyspace.stored(key) === set;
  const before = set.bytes;
  const isNew = set.set(written.element, written.numbers);
  if (written.attributes !== undefined) set.setAttributes(written.element, written.attributes);
  if (isKnown) keyspace.changed(key, set, before);
  else keyspace.set(key, set);
  return isNew;
}

interface Options {
  readonly precision: SetPrecision;
  readonly links: number;
  readonly attributes: ByteString | undefined;
}

function readAddition(args: Args) {
  const isReduced = args.option(2) === 'REDUCE';
  const reduced = isReduced ? parseInt64(args.bytes(3)) : undefined;
  if (isReduced && (typeof reduced !== 'number' || reduced < 1)) throw badVector;
  const { elements: given, end } = readSetVector(args, isReduced ? 4 : 2);
  if (typeof reduced === 'number' && reduced > given.length) throw badVector;
  if (end >= args.length) throw wrongArity('vadd');
  const known = typeof reduced === 'number' ? reduced : undefined;
  return { reduced: known, given, element: args.bytes(end), options: readOptions(args, end + 1) };
}

function readOptions(args: Args, from: number): Options {
  let precision: SetPrecision = 'I8';
  let links = DEFAULT_LINKS;
  let attributes: ByteString | undefined;
  for (let at = from; at < args.length; at += 1) {
    const option = args.option(at);
    const quantization = QUANTIZATIONS[option];
    if (quantization !== undefined) precision = quantization;
    else if (option !== 'CAS') {
      at += 1;
      if (at === args.length) throw badOption;
      if (option === 'EF') within(args.bytes(at), 1, MAX_EFFORT, badEffort);
      else if (option === 'M') links = within(args.bytes(at), MIN_LINKS, MAX_LINKS, badLinks);
      else if (option === 'SETATTR') attributes = args.bytes(at);
      else throw badOption;
    }
  }
  return { precision, links, attributes };
}

/** @throws `problem` */
export function within(word: ByteString, least: number, most: number, problem: ErrorReply): number {
  const value = parseInt64(word);
  if (typeof value !== 'number' || value < least || value > most) throw problem;
  return value;
}

function requireSame(shape: VectorSetShape, options: Options, given: number, reduced: number | undefined): void {
  if (shape.precision !== options.precision) throw otherQuantization;
  if (shape.links !== options.links) throw otherLinks;
  const isProjected = shape.inputDimension > 0;
  if ((isProjected ? reduced : given) !== shape.dimension) throw otherDimension(given, shape.dimension);
  if (reduced !== undefined && !isProjected)
    throw new ErrorReply('ERR cannot add projection to existing set without projection');
}

/** VREM key element → whether it existed. WRONGTYPE. */
export const remove: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const element = args.bytes(2);
  const set = keyspace.fetchKind(key, VectorSet);
  if (set === undefined) return new BooleanReply(false);
  const before = set.bytes;
  if (!set.delete(element)) return new BooleanReply(false);
  keyspace.changed(key, set, before);
  effects.push('VREM', key, element);
  recordExpiry(context, key);
  return new BooleanReply(true);
};

/** VSETATTR key element json → whether the element exists; '' removes the attributes. WRONGTYPE. */
export const setAttributes: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const [element, attributes] = [args.bytes(2), args.bytes(3)];
  const set = keyspace.fetchKind(key, VectorSet);
  if (set?.has(element) !== true) return new BooleanReply(false);
  const before = set.bytes;
  if (set.attributesOf(element) === attributes) return new BooleanReply(true);
  requireRecordSize(context, before + attributes.length);
  set.setAttributes(element, attributes);
  keyspace.changed(key, set, before);
  effects.push('VSETATTR', key, element, attributes);
  recordExpiry(context, key);
  return new BooleanReply(true);
};

const PRECISIONS: readonly SetPrecision[] = ['F32', 'I8', 'B1'];
const badEffect = new ErrorReply('ERR invalid vector specification');

/** VRECORD key precision dimension input-dimension links element numbers attributes → OK. Only in replay. */
export const record: Handler = (context) => {
  const { args, keyspace, isReplay } = context;
  if (!isReplay) throw unknownCommand(args.words);
  const key = args.bytes(1);
  const precision = PRECISIONS.find((known) => known === args.bytes(2));
  const numbers = elementsOfBytes(Buffer.from(args.bytes(7), 'latin1'));
  const [dimension, inputDimension, links] = [args.integer(3), args.integer(4), args.integer(5)];
  if (precision === undefined || numbers.length !== dimension) throw badEffect;
  const set = keyspace.fetchKind(key, VectorSet) ?? new VectorSet({ precision, dimension, inputDimension, links });
  write(context, key, set, { element: args.bytes(6), numbers, attributes: args.bytes(8) });
  return OK;
};
