/**
 * Ranges of a sorted set by rank, score or member, each converted to ranks in ascending order. All commands with ranges
 * parse them here.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import { ErrorReply } from '../../reply.js';
import { parseBoundNumber } from '../../types/score-text.js';
import type { SortedSet } from '../../types/sorted-set.js';

/** Ranks from `from` up to but excluding `to`, ascending; empty if equal. */
export interface Ranks {
  readonly from: number;
  readonly to: number;
}

export type RankRange = (set: SortedSet) => Ranks;

const badScore = new ErrorReply('ERR min or max is not a float');
const badMember = new ErrorReply('ERR min or max not valid string range item');

/** Parses two inclusive ranks; negative ones count from the end of the reading order. */
export function rankRange(args: Args, firstAt: number, isReversed: boolean): RankRange {
  const first = args.offset(firstAt);
  const last = args.offset(firstAt + 1);
  return ({ size }) => {
    const from = Math.max(0, first < 0 ? size + first : first);
    const to = Math.min(size, (last < 0 ? size + last : last) + 1);
    if (from >= to) return { from: 0, to: 0 };
    return isReversed ? { from: size - to, to: size - from } : { from, to };
  };
}

/** Parses bounds such as `1.5`, `(1.5` (exclusive) and `-inf`. @throws ErrorReply */
export function scoreRange(least: ByteString, greatest: ByteString): RankRange {
  const min = scoreBound(least);
  const max = scoreBound(greatest);
  return (set) => {
    const from = set.countWhile(min.isOpen ? (score) => score <= min.score : (score) => score < min.score);
    const to = set.countWhile(max.isOpen ? (score) => score < max.score : (score) => score <= max.score);
    return { from, to: Math.max(from, to) };
  };
}

function scoreBound(text: ByteString): { score: number; isOpen: boolean } {
  const isOpen = text.startsWith('(');
  const score = parseBoundNumber(isOpen ? text.slice(1) : text);
  if (score === undefined) throw badScore;
  return { score, isOpen };
}

/** Parses bounds: `[a` inclusive, `(a` exclusive, `-` and `+` for the ends. @throws ErrorReply */
export function memberRange(least: ByteString, greatest: ByteString): RankRange {
  const min = memberBound(least);
  const max = memberBound(greatest);
  return (set) => {
    const from = set.countWhile((_, member) => isBelow(member, min, min.isOpen));
    const to = set.countWhile((_, member) => isBelow(member, max, !max.isOpen));
    return { from, to: Math.max(from, to) };
  };
}

interface MemberBound {
  /** Undefined: the lower end, or the upper end if `isTop`. */
  readonly member: ByteString | undefined;
  readonly isTop: boolean;
  readonly isOpen: boolean;
}

function memberBound(text: ByteString): MemberBound {
  if (text === '-' || text === '+') return { member: undefined, isTop: text === '+', isOpen: false };
  if (!text.startsWith('[') && !text.startsWith('(')) throw badMember;
  return { member: text.slice(1), isTop: false, isOpen: text.startsWith('(') };
}

function isBelow(member: ByteString, bound: MemberBound, orAt: boolean): boolean {
  if (bound.member === undefined) return bound.isTop;
  return orAt ? member <= bound.member : member < bound.member;
}

/** LIMIT: a negative offset gives an empty range, a negative count means all. */
export function limited({ from, to }: Ranks, isReversed: boolean, offset: number, count: number): Ranks {
  if (offset < 0 || offset >= to - from) return { from, to: from };
  const length = count < 0 ? to - from - offset : Math.min(count, to - from - offset);
  return isReversed
    ? { from: to - offset - length, to: to - offset }
    : { from: from + offset, to: from + offset + length };
}
