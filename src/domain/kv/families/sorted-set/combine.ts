/** Combining sets: ZUNION, ZINTER, ZDIFF, their STORE variants, ZINTERCARD. Members of plain sets have score 1. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { SegmentedMap } from '../../segmented-map.js';
import { MANY_WORDS, SlicePace } from '../../slices.js';
import { parseScore } from '../../types/score-text.js';
import { SetValue } from '../../types/set-value.js';
import { SortedSet } from '../../types/sorted-set.js';
import type { Value } from '../../value.js';
import { storeResult } from './effects.js';
import { LONG_SORTED_SET_ENTRIES } from './limits.js';
import { listed } from './ranges.js';

interface Source extends Iterable<readonly [ByteString, number]> {
  readonly size: number;
  scoreOf(member: ByteString): number | undefined;
}

/** A missing key. */
const NO_SOURCE: Source = {
  size: 0,
  scoreOf: () => undefined,
  [Symbol.iterator]: () => [][Symbol.iterator](),
};

/** The score of every member of a plain set. */
const PLAIN_SCORE = 1;

export type SetOperation = 'union' | 'inter' | 'diff';

const badWeight = new ErrorReply('ERR weight value is not a float');

function noKeys(name: string): ErrorReply {
  return new ErrorReply(`ERR at least 1 input key is needed for '${name.toLowerCase()}' command`);
}

type Aggregate = (one: number, other: number) => number;

/** ∞ − ∞ counts as 0. */
const sum: Aggregate = (one, other) => zeroForNaN(one + other);
const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  SUM: sum,
  MIN: (one, other) => (Number.isNaN(other) ? one : Math.min(one, other)),
  MAX: (one, other) => (Number.isNaN(other) ? one : Math.max(one, other)),
};
/** AGGREGATE COUNT: the sum of the weights of the sets that have the member. */
const COUNT = 'COUNT';

function zeroForNaN(score: number): number {
  return Number.isNaN(score) ? 0 : score;
}

interface Weighted {
  readonly source: Source;
  weight: number;
}

interface Combination {
  readonly inputs: readonly Weighted[];
  readonly aggregate: Aggregate;
  /** The weights take the place of the scores. */
  readonly isOfWeights: boolean;
  readonly withScores: boolean;
  /** The limit of ZINTERCARD; 0: none. */
  readonly limit: number;
}

interface Form {
  readonly name: string;
  readonly operation: SetOperation;
  /** The index of the number of keys, after the destination if there is one. */
  readonly countAt: 1 | 2;
  readonly isCount?: boolean;
}

/** @throws ErrorReply */
function* readCombination(context: CommandContext, form: Form): Generator<void, Combination> {
  const { args, keyspace } = context;
  const keyCount = args.offset(form.countAt);
  if (keyCount < 1) throw noKeys(form.name);
  if (keyCount > args.length - form.countAt - 1) throw ERRORS.syntax;
  const inputs: Weighted[] = [];
  const pace = new SlicePace();
  const optionsAt = form.countAt + 1 + keyCount;
  for (let i = form.countAt + 1; i < optionsAt; i += 1) {
    inputs.push({ source: sourceOf(keyspace.peek(args.bytes(i))), weight: 1 });
    if (pace.isDue()) yield;
  }
  const combines = form.operation !== 'diff' && form.isCount !== true;
  let aggregate = sum;
  let isOfWeights = false;
  let withScores = false;
  let limit = 0;
  for (let i = optionsAt; i < args.length; i += 1) {
    const option = args.option(i);
    const left = args.length - i - 1;
    if (option === 'WEIGHTS' && combines && left >= keyCount) {
      for (const input of inputs) {
        i += 1;
        const weight = parseScore(args.bytes(i));
        if (weight === undefined) throw badWeight;
        input.weight = weight;
        if (pace.isDue()) yield;
      }
    } else if (option === 'AGGREGATE' && combines && left >= 1) {
      i += 1;
      isOfWeights = args.option(i) === COUNT;
      const named = isOfWeights ? sum : AGGREGATES[args.option(i)];
      if (named === undefined) throw ERRORS.syntax;
      aggregate = named;
    } else if (option === 'WITHSCORES' && form.countAt === 1 && form.isCount !== true) withScores = true;
    else if (option === 'LIMIT' && form.isCount === true && left >= 1) {
      i += 1;
      limit = args.count(i, 0, ERRORS.negativeLimit);
    } else throw ERRORS.syntax;
  }
  return { inputs, aggregate, isOfWeights, withScores, limit };
}

/** Smallest first: fewest lookups, and floats are added in the same order as in Redis. */
function bySize(inputs: readonly Weighted[]): Weighted[] {
  return [...inputs].sort((one, other) => one.source.size - other.source.size);
}

function* union({ inputs, aggregate, isOfWeights }: Combination): Generator<void, SortedSet> {
  const scores = new SegmentedMap<number>();
  const pace = new SlicePace();
  for (const { source, weight } of bySize(inputs)) {
    if (pace.isDue()) yield;
    for (const [member, score] of source) {
      const weighted = isOfWeights ? weight : zeroForNaN(score * weight);
      const before = scores.get(member);
      scores.set(member, before === undefined ? weighted : aggregate(before, weighted));
      if (pace.isDue()) yield;
    }
  }
  const result = new SortedSet();
  for (const [member, score] of scores) {
    result.add(member, score);
    if (pace.isDue()) yield;
  }
  return result;
}

function* intersection({ inputs, aggregate, isOfWeights }: Combination): Generator<void, SortedSet> {
  const [{ source, weight }, ...others] = bySize(inputs) as [Weighted, ...Weighted[]];
  const result = new SortedSet();
  const pace = new SlicePace();
  for (const [member, score] of source) {
    if (pace.isDue()) yield;
    let combined: number | undefined = isOfWeights ? weight : zeroForNaN(score * weight);
    for (const other of others) {
      if (pace.isDue()) yield;
      const there = other.source.scoreOf(member);
      combined =
        there === undefined ? undefined : aggregate(combined, isOfWeights ? other.weight : there * other.weight);
      if (combined === undefined) break;
    }
    if (combined !== undefined) result.add(member, combined);
  }
  return result;
}

function* difference({ inputs }: Combination): Generator<void, SortedSet> {
  const [{ source }, ...others] = inputs as [Weighted, ...Weighted[]];
  const result = new SortedSet();
  const pace = new SlicePace();
  for (const [member, score] of source) {
    if (pace.isDue()) yield;
    if ((yield* placeOfFirst(others, member, true, pace)) < 0) result.add(member, score);
  }
  return result;
}

/** The index of the first input that has the member (`has`) or lacks it; -1: none. */
function* placeOfFirst(
  inputs: readonly Weighted[],
  member: ByteString,
  has: boolean,
  pace: SlicePace,
): Generator<void, number> {
  for (let i = 0; i < inputs.length; i += 1) {
    if (pace.isDue()) yield;
    if (((inputs[i] as Weighted).source.scoreOf(member) !== undefined) === has) return i;
  }
  return -1;
}

const OPERATIONS = { union, inter: intersection, diff: difference };

/** ZUNION | ZINTER | ZDIFF numkeys key … [WEIGHTS n …] [AGGREGATE SUM | MIN | MAX | COUNT] [WITHSCORES] → members in order. */
export function combine(name: string, operation: SetOperation): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const combination = yield* readCombination(context, { name, operation, countAt: 1 });
    const result = yield* OPERATIONS[operation](combination);
    return yield* listed(context, result, { from: 0, to: result.size }, false, combination.withScores);
  };
}

/** ZUNIONSTORE | ZINTERSTORE | ZDIFFSTORE destination numkeys key … → the number of stored members. */
export function combineAndStore(name: string, operation: SetOperation): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const combination = yield* readCombination(context, { name, operation, countAt: 2 });
    const result = yield* OPERATIONS[operation](combination);
    return yield* storeResult(context, context.args.bytes(1), result, name.toLowerCase());
  };
}

/** ZINTERCARD numkeys key … [LIMIT n] → the number of common members, up to the limit. */
export const countCommon: SlicedHandler = function* (context) {
  const form = { name: 'ZINTERCARD', operation: 'inter', countAt: 1, isCount: true } as const;
  const { inputs, limit } = yield* readCombination(context, form);
  const [{ source }, ...others] = bySize(inputs) as [Weighted, ...Weighted[]];
  const pace = new SlicePace();
  let count = 0;
  for (const [member] of source) {
    if (pace.isDue()) yield;
    if ((yield* placeOfFirst(others, member, false, pace)) >= 0) continue;
    count += 1;
    if (count === limit) break;
  }
  return count;
};

/** Whether the inputs are so large that the work needs slices. */
export function isLongCombination(countAt: 1 | 2): (context: CommandContext) => boolean {
  return ({ args, keyspace }) => {
    if (args.length > MANY_WORDS) return true;
    const end = Math.min(args.length, countAt + 1 + Number(args.words[countAt]));
    let entries = 0;
    for (let i = countAt + 1; i < end; i += 1) {
      const value = keyspace.peek(args.words[i] as ByteString);
      entries += typeof value === 'object' ? value.size : NO_SOURCE.size;
      // Each member may be looked up in all other inputs.
      if (entries * (end - countAt) > 2 * LONG_SORTED_SET_ENTRIES) return true;
    }
    return false;
  };
}

/** @throws WRONGTYPE */
function sourceOf(value: Value | undefined): Source {
  if (value === undefined) return NO_SOURCE;
  if (value instanceof SortedSet) return value;
  if (value instanceof SetValue) return plain(value);
  throw ERRORS.wrongType;
}

/** Inputs of a union, intersection or difference: sorted sets, and plain sets with score 1. */
function plain(set: SetValue): Source {
  return {
    size: set.size,
    scoreOf: (member) => (set.has(member) ? PLAIN_SCORE : undefined),
    *[Symbol.iterator]() {
      for (const member of set.members()) yield [member, PLAIN_SCORE] as const;
    },
  };
}
