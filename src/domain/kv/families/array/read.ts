/** Reading an array by index and by range: ARGET, ARMGET, ARGETRANGE, ARSCAN, ARLEN, ARCOUNT, ARINFO. */
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { MAX_UNSIGNED_64, type Unsigned64 } from '../../numbers.js';
import { DoubleReply, ERRORS, ErrorReply, MapReply, type Reply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { PAGE_INDEXES, plus, width } from '../../types/array-index.js';
import type { PageCounts } from '../../types/array-value.js';
import { indexAtWord, readArray, readIndexes, readLimit, shownIndex } from './array-access.js';

/** As in Redis: a range is answered with an item for every index, occupied or not. */
export const MAX_RANGE_ITEMS = 1_000_000;

const rangeTooWide = new ErrorReply(`ERR range exceeds maximum of ${MAX_RANGE_ITEMS} items`);

/** ARGET key index → the value, or null. WRONGTYPE. */
export const get: Handler = (context) => {
  const array = readArray(context);
  return array?.get(indexAtWord(context.args, 2)) ?? null;
};

/** ARMGET key index [index …] → the values, with null for an empty slot. WRONGTYPE. */
export const getMany: SlicedHandler = function* (context) {
  const array = readArray(context);
  const indexes = yield* readIndexes(context.args, 2);
  const size = new AnswerSize(context);
  const pace = new SlicePace();
  const values: Reply[] = [];
  for (const index of indexes) {
    const value = array?.get(index) ?? null;
    size.add(value?.length);
    values.push(value);
    if (pace.isDue()) yield;
  }
  return values;
};

/** ARGETRANGE key start end → the value of every index, with null for an empty slot; downward if start > end. */
export const getRange: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const from = indexAtWord(args, 2);
  const to = indexAtWord(args, 3);
  const array = readArray(context);
  const isReversed = from > to;
  const count = isReversed ? width(to, from) : width(from, to);
  if (count > MAX_RANGE_ITEMS) throw rangeTooWide;
  const size = new AnswerSize(context);
  size.requireItems(count);
  const values: Reply[] = [];
  const pace = new SlicePace();
  for (let step = 0; step < count; step += 1) {
    const value = array?.get(plus(from, isReversed ? -step : step)) ?? null;
    size.add(value?.length);
    values.push(value);
    if (pace.isDue()) yield;
  }
  return values;
};

/** ARSCAN key start end [LIMIT n] → [index, value] for each occupied slot; downward if start > end. WRONGTYPE. */
export const scan: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const from = indexAtWord(args, 2);
  const to = indexAtWord(args, 3);
  if (args.length === 5 || args.length > 6) throw wrongArity('arscan');
  if (args.length === 6 && args.option(4) !== 'LIMIT') throw ERRORS.syntax;
  const limit = args.length === 6 ? readLimit(args, 5) : Number.POSITIVE_INFINITY;
  const size = new AnswerSize(context);
  const found: Reply[] = [];
  const pace = new SlicePace();
  for (const [index, value] of readArray(context)?.entries(from, to) ?? []) {
    size.addItems(3, value.length);
    found.push([shownIndex(index), value]);
    if (found.length === limit) break;
    if (pace.isDue()) yield;
  }
  return found;
};

/** ARLEN key → the highest occupied index plus 1; 0 for a missing key. WRONGTYPE. */
export const length: Handler = (context) => shownIndex(readArray(context)?.length ?? 0);

/** ARCOUNT key → the number of occupied slots. WRONGTYPE. */
export const count: Handler = (context) => readArray(context)?.size ?? 0;

/** ARINFO key [FULL] → facts about the array. Errors: a missing key, WRONGTYPE. */
export const info: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const isFull = args.length === 3 && args.option(2) === 'FULL';
  if (args.length > 2 && !isFull) throw ERRORS.syntax;
  const array = readArray(context);
  if (array === undefined) throw ERRORS.noSuchKey;
  const facts: Reply[] = ['count', array.size, 'len', shownIndex(array.length)];
  facts.push('next-insert-index', shownNext(array.next), 'slices', array.pageCount);
  facts.push('directory-size', array.pageCount, 'super-dir-entries', 0, 'slice-size', PAGE_INDEXES);
  if (isFull) facts.push(...factsOfPages(yield* array.countPages()));
  return new MapReply(facts);
};

function shownNext(next: Unsigned64): Reply {
  return next === MAX_UNSIGNED_64 ? 0 : shownIndex(next);
}

function factsOfPages({ dense, sparse, denseValues, sparseValues }: PageCounts): Reply[] {
  const average = (sum: number, count: number): Reply => new DoubleReply(count === 0 ? 0 : sum / count);
  return [
    'dense-slices',
    dense,
    'sparse-slices',
    sparse,
    'avg-dense-size',
    average(dense * PAGE_INDEXES, dense),
    'avg-dense-fill',
    average(denseValues, dense * PAGE_INDEXES),
    'avg-sparse-size',
    average(sparseValues, sparse),
  ];
}

/** Whether ARINFO counts many pages. */
export function hasManyPages(context: CommandContext): boolean {
  return context.args.length === 3 && (readArray(context)?.pageCount ?? 0) > PAGE_INDEXES;
}
