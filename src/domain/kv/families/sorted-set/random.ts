/** ZRANDMEMBER: random members. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { INT64_MAX, parseInt64 } from '../../numbers.js';
import { DoubleReply, ERRORS, ErrorReply, ITEM_BYTES, PairsReply, type Reply } from '../../reply.js';
import { SortedSet } from '../../types/sorted-set.js';
import { LONG_SORTED_SET_ENTRIES, MAX_RANDOM_MEMBERS, SLICE_ENTRIES } from './limits.js';
import { listed } from './ranges.js';

const beyondLong = new ErrorReply(`ERR value is out of range, value must between ${-INT64_MAX} and ${INT64_MAX}`);
const beyondHalf = new ErrorReply('ERR value is out of range');

/** Below this share of the set, ranks are drawn one by one, because few are drawn twice. */
const FEW_SHARE = 1 / 8;

/**
 * ZRANDMEMBER key [count [WITHSCORES]] → a member or null; with a count distinct members, with a negative count members
 * that may repeat.
 */
export const randomMembers: SlicedHandler = function* (context) {
  const { args, keyspace, random } = context;
  const request = args.length === 2 ? undefined : readCount(context);
  const set = keyspace.peekKind(args.bytes(1), SortedSet);
  if (request === undefined) return set === undefined ? null : (memberAt(set, drawn(set, random)) as ByteString);
  const { count, withScores } = request;
  if (set === undefined || count === 0) return [];
  if (count >= set.size) return yield* listed(context, set, { from: 0, to: set.size }, false, withScores);
  const items: Reply[] = [];
  const size = new AnswerSize(context);
  size.requireItems(Math.abs(count) * (withScores ? 2 : 1));
  const visit = (member: ByteString, score: number): void => {
    size.add(member.length + (withScores ? ITEM_BYTES : 0));
    items.push(member);
    if (withScores) items.push(new DoubleReply(score));
  };
  if (count < 0) {
    for (let i = 0; i < -count; i += 1) {
      if (i % SLICE_ENTRIES === SLICE_ENTRIES - 1) yield;
      const rank = drawn(set, random);
      set.walk(rank, rank + 1, visit);
    }
  } else if (count < set.size * FEW_SHARE && count <= LONG_SORTED_SET_ENTRIES) {
    const ranks = new Set<number>();
    while (ranks.size < count) ranks.add(drawn(set, random));
    for (const rank of ranks) set.walk(rank, rank + 1, visit);
  } else {
    yield* sample(set, count, () => random.float(), visit);
  }
  return withScores ? new PairsReply(items) : items;
};

export function isLongDraw({ args, keyspace }: CommandContext): boolean {
  const set = args.length > 2 ? keyspace.peek(args.bytes(1)) : undefined;
  if (!(set instanceof SortedSet)) return false;
  const count = Number(args.bytes(2));
  return (
    count < -LONG_SORTED_SET_ENTRIES ||
    (count > 0 && set.size > LONG_SORTED_SET_ENTRIES && count > LONG_SORTED_SET_ENTRIES / 8)
  );
}

function readCount({ args }: CommandContext): { count: number; withScores: boolean } {
  const value = parseInt64(args.bytes(2));
  if (value === undefined) throw ERRORS.notAnInteger;
  if (value < -INT64_MAX) throw beyondLong;
  if (args.length > 4 || (args.length === 4 && args.option(3) !== 'WITHSCORES')) throw ERRORS.syntax;
  const withScores = args.length === 4;
  if (withScores && (value > INT64_MAX / 2n || value < -(INT64_MAX / 2n))) throw beyondHalf;
  if (value < -MAX_RANDOM_MEMBERS) throw beyondHalf;
  return { count: Math.min(Number(value), Number.MAX_SAFE_INTEGER), withScores };
}

function drawn({ size }: SortedSet, random: CommandContext['random']): number {
  return Math.floor(random.float() * size);
}

function memberAt(set: SortedSet, rank: number): ByteString | undefined {
  return set.membersBetween(rank, rank + 1)[0];
}

/** Visits all members once and selects each with the probability that yields exactly `count` of them, in order. */
function* sample(
  set: SortedSet,
  count: number,
  float: () => number,
  visit: (member: ByteString, score: number) => void,
): Generator<void, void> {
  let wanted = count;
  let left = set.size;
  const consider = (member: ByteString, score: number): void => {
    if (float() * left < wanted) {
      wanted -= 1;
      visit(member, score);
    }
    left -= 1;
  };
  for (let from = 0; from < set.size; from += SLICE_ENTRIES) {
    set.walk(from, from + SLICE_ENTRIES, consider);
    yield;
  }
}
