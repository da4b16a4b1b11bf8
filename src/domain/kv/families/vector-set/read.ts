/** Reading vector sets: sizes, elements, vectors, links, ranges and random elements. */
import { type ByteString, bufferOver, bytesOfBuffer } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import {
  BooleanReply,
  DoubleReply,
  ErrorReply,
  MapReply,
  NIL_ARRAY,
  type Reply,
  SimpleString,
  wrongArity,
} from '../../reply.js';
import { mergeSorted, SlicePace } from '../../slices.js';
import type { Neighbour } from '../../types/nearest-neighbours.js';
import { type SetPrecision, VectorSet } from '../../types/vector-set.js';
import { drawDistinct, drawRepeatedly, MAX_DRAWS } from '../random-draws.js';

/** A command that visits more elements runs in slices. */
const LONG_ELEMENTS = 2000;
/** Neighbours that VLINKS shows of an element without a place in a graph. */
const SHOWN_NEIGHBOURS = 32;
const QUANTIZATION_NAMES: Readonly<Record<SetPrecision, string>> = { F32: 'f32', I8: 'int8', B1: 'bin' };

const noKey = new ErrorReply('ERR key does not exist');
const badOption = new ErrorReply('ERR invalid option');
const badCount = new ErrorReply('ERR invalid COUNT value');
const notACount = new ErrorReply('ERR COUNT value is not an integer');
const badStart = new ErrorReply('ERR invalid start range format');
const badEnd = new ErrorReply('ERR invalid end range format');
const wrongSides = new ErrorReply("ERR '-' can only be used as first argument, '+' only as second");

function setOf({ args, keyspace }: CommandContext): VectorSet | undefined {
  return keyspace.peekKind(args.bytes(1), VectorSet);
}

export function isLongSet({ args, keyspace }: CommandContext): boolean {
  const set = keyspace.stored(args.bytes(1));
  return set instanceof VectorSet && (set.size > LONG_ELEMENTS || set.size * set.shape.dimension > 500 * LONG_ELEMENTS);
}

/** VCARD key → the number of elements. WRONGTYPE. */
export const count: Handler = (context) => setOf(context)?.size ?? 0;

/** VDIM key → the dimension of the stored vectors; an error without the key. WRONGTYPE. */
export const dimension: Handler = (context) => {
  const set = setOf(context);
  if (set === undefined) throw noKey;
  return set.shape.dimension;
};

/** VISMEMBER key element → whether it exists. WRONGTYPE. */
export const isMember: Handler = (context) => new BooleanReply(setOf(context)?.has(context.args.bytes(2)) === true);

/** VGETATTR key element → the attributes, or null. WRONGTYPE. */
export const attributes: Handler = (context) => {
  const found = setOf(context)?.attributesOf(context.args.bytes(2)) ?? '';
  return found === '' ? null : found;
};

/** VEMB key element [RAW] → the numbers, or the stored form; null without the element. WRONGTYPE. */
export const embedding: Handler = (context) => {
  const { args } = context;
  const words = args.from(3);
  if (words.some((word) => word.toUpperCase() !== 'RAW')) throw badOption;
  const set = setOf(context);
  const element = args.bytes(2);
  const numbers = set?.get(element);
  if (set === undefined || numbers === undefined) return null;
  return words.length > 0 ? rawForm(set, element, numbers) : Array.from(numbers, (number) => new DoubleReply(number));
};

/** The name of the form, its bytes, the length of the vector, and for bytes the largest number of the vector of length 1. */
function rawForm(set: VectorSet, element: ByteString, numbers: Float32Array): Reply {
  const length = Math.sqrt(numbers.reduce((sum, number) => sum + number * number, 0));
  const { precision } = set.shape;
  const name = new SimpleString(QUANTIZATION_NAMES[precision]);
  const unit = numbers.map((number) => (length === 0 ? 0 : number / length));
  const stored = precision === 'F32' ? new Uint8Array(unit.buffer) : set.rawBytes(element);
  const bytes = bytesOfBuffer(bufferOver(stored));
  const shown: Reply[] = [name, bytes, new DoubleReply(length)];
  if (precision === 'I8') shown.push(new DoubleReply(unit.reduce((most, value) => Math.max(most, Math.abs(value)), 0)));
  return shown;
}

/** VINFO key → facts about the set and its graph, or null. WRONGTYPE. */
export const info: Handler = (context) => {
  const set = setOf(context);
  if (set === undefined) return NIL_ARRAY;
  const { precision, links, dimension: stored, inputDimension } = set.shape;
  const facts: readonly (readonly [name: string, value: Reply])[] = [
    ['quant-type', new SimpleString(QUANTIZATION_NAMES[precision])],
    ['hnsw-m', links],
    ['vector-dim', stored],
    ['projection-input-dim', inputDimension],
    ['size', set.size],
    ['max-level', set.graph.topLevel],
    ['attributes-count', set.attributes.count],
    ['vset-uid', 0],
    ['hnsw-max-node-uid', set.graph.ordinals],
  ];
  return new MapReply(facts.flatMap(([name, value]) => [new SimpleString(name), value]));
};

/** VLINKS key element [WITHSCORES] → for each level, from the highest, the linked elements; null without the element. */
export const links: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const withScores = args.length === 4;
  if (args.length > 4 || (withScores && args.option(3) !== 'WITHSCORES')) throw wrongArity('vlinks');
  const set = setOf(context);
  const element = args.bytes(2);
  const numbers = set?.get(element);
  if (set === undefined || numbers === undefined) return null;
  const linked = set.linksOf(element) ?? [
    yield* set.nearest(numbers, { count: SHOWN_NEIGHBOURS, accepts: (name) => name !== element }),
  ];
  return linked.reverse().map((level) => (withScores ? scored(level) : level.map(({ name }) => name)));
};

function scored(level: readonly Neighbour[]): MapReply {
  return new MapReply(level.flatMap(({ name, closeness }) => [name, similarity(closeness)]));
}

/** From 0 to 1. */
export function similarity(cosine: number): DoubleReply {
  return new DoubleReply((1 + cosine) / 2);
}

/** VRANDMEMBER key [count] → an element or null; with a count a list, of distinct elements unless it is negative. */
export const randomMembers: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, random } = context;
  if (args.length > 3) throw wrongArity('vrandmember');
  const float = (): number => random.float();
  if (args.length === 2) return setOf(context)?.draw(float) ?? null;
  const wanted = parseInt64(args.bytes(2));
  if (wanted === undefined) throw notACount;
  if (wanted < -MAX_DRAWS) throw new ErrorReply('ERR value is out of range');
  const set = setOf(context);
  if (set === undefined || wanted === 0) return [];
  const draws = { size: set.size, all: () => set.elements(), one: (by: () => number) => set.draw(by) };
  const size = new AnswerSize(context);
  const items = wanted < 0 ? -Number(wanted) : Math.min(Number(wanted), set.size);
  size.requireItems(items);
  const drawn = yield* wanted < 0 ? drawRepeatedly(draws, items, float) : drawDistinct(draws, items, float);
  for (const element of drawn) size.add(element.length);
  return drawn;
};

/** VRANGE key start end [count] → the elements between two texts, in order; a negative count: all. WRONGTYPE. */
export const range: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  if (args.length > 5) throw wrongArity('vrange');
  const wanted = args.length === 5 ? parseInt64(args.bytes(4)) : -1;
  if (wanted === undefined) throw badCount;
  const [start, end] = [sideOf(args.bytes(2), badStart), sideOf(args.bytes(3), badEnd)];
  if (start === '+' || end === '-') throw wrongSides;
  const pace = new SlicePace();
  const found: ByteString[] = [];
  for (const element of setOf(context)?.elements() ?? []) {
    if (isFrom(element, start) && isUntil(element, end)) found.push(element);
    if (pace.isDue()) yield;
  }
  const sorted = yield* mergeSorted(found, (a, b) => (a < b ? -1 : 1));
  const shown = wanted < 0 ? sorted : sorted.slice(0, Number(wanted));
  const size = new AnswerSize(context);
  for (const element of shown) {
    size.add(element.length);
    if (pace.isDue()) yield;
  }
  return shown;
};

type Side = '-' | '+' | { readonly element: ByteString; readonly isIncluded: boolean };

function sideOf(word: ByteString, problem: ErrorReply): Side {
  if (word === '-' || word === '+') return word;
  if (word.length < 2 || (word[0] !== '[' && word[0] !== '(')) throw problem;
  return { element: word.slice(1), isIncluded: word[0] === '[' };
}

function isFrom(element: ByteString, start: Side): boolean {
  if (typeof start === 'string') return true;
  return start.isIncluded ? element >= start.element : element > start.element;
}

function isUntil(element: ByteString, end: Side): boolean {
  if (typeof end === 'string') return true;
  return end.isIncluded ? element <= end.element : element < end.element;
}
