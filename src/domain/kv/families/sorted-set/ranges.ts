/** Reading and storing ranges: ZRANGE, its older variants, ZRANGESTORE; and removing them: ZREMRANGEBY*, ZREM. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { DoubleReply, ERRORS, ErrorReply, PairsReply, type Reply } from '../../reply.js';
import { filtered } from '../../slices.js';
import { SortedSet } from '../../types/sorted-set.js';
import { removeMembers, storeResult } from './effects.js';
import { LONG_SORTED_SET_ENTRIES, SLICE_ENTRIES } from './limits.js';
import { limited, memberRange, type RankRange, type Ranks, rankRange, scoreRange } from './range.js';

const limitOfRanks = new ErrorReply(
  'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX',
);
const scoresOfMembers = new ErrorReply('ERR syntax error, WITHSCORES not supported in combination with BYLEX');

export type RangeKind = 'rank' | 'score' | 'member';

/** The parts of a range fixed by the command's name. ZRANGE fixes none and accepts BYSCORE, BYLEX and REV. */
export interface RangeForm {
  readonly kind?: RangeKind;
  readonly isReversed?: boolean;
}

interface RangeRequest {
  readonly range: RankRange;
  readonly isReversed: boolean;
  readonly withScores: boolean;
  readonly offset: number;
  readonly count: number;
}

/** @param keyAt index of the source key; the bounds follow it @throws ErrorReply */
function readRequest({ args }: CommandContext, form: RangeForm, keyAt: number): RangeRequest {
  const isStore = keyAt === 2;
  let { kind, isReversed } = form;
  let withScores = false;
  let offset = 0;
  let count = -1;
  for (let i = keyAt + 3; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'WITHSCORES' && !isStore) withScores = true;
    else if (option === 'LIMIT' && i + 2 < args.length) {
      offset = args.offset(i + 1);
      count = args.offset(i + 2);
      i += 2;
    } else if (option === 'REV' && isReversed === undefined) isReversed = true;
    else if (option === 'BYLEX' && kind === undefined) kind = 'member';
    else if (option === 'BYSCORE' && kind === undefined) kind = 'score';
    else throw ERRORS.syntax;
  }
  kind ??= 'rank';
  isReversed ??= false;
  if (count !== -1 && kind === 'rank') throw limitOfRanks;
  if (withScores && kind === 'member') throw scoresOfMembers;
  if (kind === 'rank') {
    return { range: rankRange(args, keyAt + 1, isReversed), isReversed, withScores, offset: 0, count: -1 };
  }
  const read = kind === 'score' ? scoreRange : memberRange;
  const [first, second] = [args.bytes(keyAt + 1), args.bytes(keyAt + 2)];
  return { range: isReversed ? read(second, first) : read(first, second), isReversed, withScores, offset, count };
}

function ranksOf(set: SortedSet, { range, isReversed, offset, count }: RangeRequest): Ranks {
  return limited(range(set), isReversed, offset, count);
}

/** The members of the ranks in reading order, as a reply. */
export function* listed(
  context: CommandContext,
  set: SortedSet,
  { from, to }: Ranks,
  isReversed: boolean,
  withScores: boolean,
): Generator<void, Reply> {
  const items: Reply[] = [];
  const size = new AnswerSize(context);
  size.requireItems((to - from) * (withScores ? 2 : 1));
  const visit = (member: ByteString, score: number): void => {
    size.add(member.length);
    items.push(member);
    if (!withScores) return;
    size.add();
    items.push(new DoubleReply(score));
  };
  for (let done = 0; done < to - from; done += SLICE_ENTRIES) {
    if (done > 0) yield;
    if (isReversed) set.walkBack(Math.max(from, to - done - SLICE_ENTRIES), to - done, visit);
    else set.walk(from + done, Math.min(to, from + done + SLICE_ENTRIES), visit);
  }
  return withScores ? new PairsReply(items) : items;
}

/**
 * ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES] → members, with scores on request.
 */
export function range(form: RangeForm): SlicedHandler {
  return function* (context) {
    const request = readRequest(context, form, 1);
    const set = context.keyspace.peekKind(context.args.bytes(1), SortedSet);
    if (set === undefined) return [];
    return yield* listed(context, set, ranksOf(set, request), request.isReversed, request.withScores);
  };
}

/** ZRANGESTORE destination source start stop … → the number of stored members. */
export const storeRange: SlicedHandler = function* (context) {
  const request = readRequest(context, {}, 2);
  const source = context.keyspace.peekKind(context.args.bytes(2), SortedSet);
  const result = new SortedSet();
  if (source !== undefined) {
    const { from, to } = ranksOf(source, request);
    for (let rank = from; rank < to; rank += SLICE_ENTRIES) {
      source.walk(rank, Math.min(to, rank + SLICE_ENTRIES), (member, score) => result.add(member, score));
      yield;
    }
  }
  return yield* storeResult(context, context.args.bytes(1), result, 'zrangestore');
};

function readKind(context: CommandContext, kind: RangeKind): RankRange {
  const { args } = context;
  if (kind === 'rank') return rankRange(args, 2, false);
  return (kind === 'score' ? scoreRange : memberRange)(args.bytes(2), args.bytes(3));
}

/** ZREMRANGEBYRANK | BYSCORE | BYLEX key min max → the number of removed members. */
export function removeRange(kind: RangeKind, event: string): SlicedHandler {
  return function* (context) {
    const key = context.args.bytes(1);
    const bounds = readKind(context, kind);
    const set = context.keyspace.fetchKind(key, SortedSet);
    if (set === undefined) return 0;
    const { from, to } = bounds(set);
    if (from === to) return 0;
    const members: ByteString[] = [];
    for (let rank = from; rank < to; rank += SLICE_ENTRIES) {
      const next = set.membersBetween(rank, Math.min(to, rank + SLICE_ENTRIES));
      members.push(...next);
      if (rank + SLICE_ENTRIES < to) yield;
    }
    yield* removeMembers(context, key, set, members, event);
    return to - from;
  };
}

/** ZREM key member … → the number of removed members. */
export const remove: SlicedHandler = function* (context) {
  const key = context.args.bytes(1);
  const set = context.keyspace.fetchKind(key, SortedSet);
  if (set === undefined) return 0;
  const members = [...new Set(yield* filtered(context.args.words, (member) => set.has(member), 2))];
  if (members.length > 0) yield* removeMembers(context, key, set, members, 'zrem');
  return members.length;
};

function isLongRange({ from, to }: Ranks): boolean {
  return to - from > LONG_SORTED_SET_ENTRIES;
}

/** The set at `keyAt` if it is large; otherwise undefined. @throws ErrorReply */
function largeSet({ keyspace, args }: CommandContext, keyAt: number): SortedSet | undefined {
  const set = keyspace.peekKind(args.bytes(keyAt), SortedSet);
  return set !== undefined && set.size > LONG_SORTED_SET_ENTRIES ? set : undefined;
}

/** Whether the range is so long that reading it needs slices. @throws ErrorReply, as the handler will */
export function isLongRead(form: RangeForm, keyAt: number): (context: CommandContext) => boolean {
  return (context) => {
    const set = largeSet(context, keyAt);
    return set !== undefined && isLongRange(ranksOf(set, readRequest(context, form, keyAt)));
  };
}

/** As `isLongRead`, for removing a range. */
export function isLongRemoval(kind: RangeKind): (context: CommandContext) => boolean {
  return (context) => {
    const set = largeSet(context, 1);
    return set !== undefined && isLongRange(readKind(context, kind)(set));
  };
}

export function isLongRemoveList({ args }: CommandContext): boolean {
  return args.length > LONG_SORTED_SET_ENTRIES;
}
