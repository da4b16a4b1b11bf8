/** VSIM: the elements that are nearest to a vector or to an element. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { Args } from '../../args.js';
import { boundedQuery } from '../../bounded-query.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { parseFloatStrict } from '../../numbers.js';
import { ErrorReply, MapReply, type Reply } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import type { Steps } from '../../steps.js';
import type { NearestSearch } from '../../types/named-vectors.js';
import { VectorSet } from '../../types/vector-set.js';
import { FilterExpression } from './filter-expression.js';
import { similarity } from './read.js';
import { fitting, readSetVector, within } from './write.js';

const DEFAULT_COUNT = 10;
const MAX_EFFORT = 1_000_000;
/** Evaluating a filter and reading a byte of attributes, in compared numbers. */
const FILTER_WORK = 2000;
const BYTE_WORK = 10;

const notFound = new ErrorReply('ERR element not found in set');
const badCount = new ErrorReply('ERR invalid COUNT');
const badEpsilon = new ErrorReply('ERR invalid EPSILON');
const badEffort = new ErrorReply('ERR invalid EF');
const badFilterEffort = new ErrorReply('ERR invalid FILTER-EF');
const badSyntax = new ErrorReply('ERR syntax error in VSIM command');

interface Options {
  count: number;
  effort: number | undefined;
  /** The largest distance, from 0 to 1. */
  epsilon: number;
  filter: FilterExpression | undefined;
  isExact: boolean;
  withScores: boolean;
  withAttributes: boolean;
}

/** VSIM key ELE|FP32|VALUES … [options] → the nearest elements, nearest first. WRONGTYPE. */
export const similar: SlicedHandler = (context) =>
  boundedQuery(context.server, nearestElements(context), 'leave out TRUTH or FILTER, or lower EF or COUNT');

function* nearestElements(context: CommandContext): Steps<Reply> {
  const { args, keyspace } = context;
  const set = keyspace.peekKind(args.bytes(1), VectorSet);
  if (set === undefined) return [];
  const { numbers, end } = readQuery(args, set);
  const options = readOptions(args, end);
  const found = yield* set.nearest(numbers, searchOf(set, options));
  const size = new AnswerSize(context);
  const shown: Reply[] = [];
  const pace = new SlicePace();
  for (const { name, closeness } of found) {
    if ((1 - closeness) / 2 > options.epsilon) break;
    const attributes = options.withAttributes ? set.attributesOf(name) : '';
    size.addItems(3, name.length + attributes.length);
    const facts: Reply[] = [];
    if (options.withScores) facts.push(similarity(closeness));
    if (options.withAttributes) facts.push(attributes === '' ? null : attributes);
    shown.push(name, ...(context.protocol === 3 && facts.length === 2 ? [facts] : facts));
    if (pace.isDue()) yield;
  }
  return options.withScores || options.withAttributes ? factsByName(shown, options) : shown;
}

/** With both facts RESP2 has three items for each element, which are no pairs. */
function factsByName(items: readonly Reply[], { withScores, withAttributes }: Options): Reply {
  const isNested = items.some((item) => Array.isArray(item));
  return withScores && withAttributes && !isNested ? items : new MapReply(items);
}

function readQuery(args: Args, set: VectorSet): { readonly numbers: Float32Array; readonly end: number } {
  if (args.option(2) === 'ELE') {
    const numbers = set.get(args.bytes(3));
    if (numbers === undefined) throw notFound;
    return { numbers, end: 4 };
  }
  const { elements, end } = readSetVector(args, 2);
  const isProjected = set.shape.inputDimension > 0 && elements.length === set.shape.dimension;
  return { numbers: isProjected ? elements : fitting(elements, set.shape), end };
}

function searchOf(set: VectorSet, { count, effort, filter, isExact }: Options): NearestSearch {
  const search = { count: Math.min(count, set.size), effort: effort && Math.max(effort, count), isExact };
  if (filter === undefined) return search;
  const { bytes } = set.attributes;
  return {
    ...search,
    accepts: (name: ByteString) => filter.matches(set.attributesOf(name)),
    acceptWork: FILTER_WORK + (BYTE_WORK * bytes) / Math.max(1, set.size),
  };
}

function readOptions(args: Args, from: number): Options {
  const options: Options = {
    count: DEFAULT_COUNT,
    effort: undefined,
    epsilon: 1,
    filter: undefined,
    isExact: false,
    withScores: false,
    withAttributes: false,
  };
  for (let at = from; at < args.length; ) at += readOption(args, at, options);
  return options;
}

/** @returns the number of its words */
function readOption(args: Args, at: number, options: Options): 1 | 2 {
  switch (args.option(at)) {
    case 'WITHSCORES':
      options.withScores = true;
      return 1;
    case 'WITHATTRIBS':
      options.withAttributes = true;
      return 1;
    case 'TRUTH':
      options.isExact = true;
      return 1;
    case 'NOTHREAD':
      return 1;
  }
  if (at + 1 === args.length) throw badSyntax;
  const word = args.bytes(at + 1);
  switch (args.option(at)) {
    case 'COUNT':
      options.count = within(word, 1, Number.MAX_SAFE_INTEGER, badCount);
      return 2;
    case 'EPSILON':
      options.epsilon = parseFloatStrict(word) ?? 0;
      if (!(options.epsilon > 0)) throw badEpsilon;
      return 2;
    case 'EF':
      options.effort = within(word, 1, MAX_EFFORT, badEffort);
      return 2;
    case 'FILTER-EF':
      within(word, 1, Number.MAX_SAFE_INTEGER, badFilterEffort);
      return 2;
    case 'FILTER':
      options.filter = FilterExpression.compile(word);
      return 2;
    default:
      throw badSyntax;
  }
}
