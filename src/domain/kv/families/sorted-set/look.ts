/** Queries about single members and about the whole set: scores, ranks, counts, ZSCAN. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { DoubleReply, ERRORS, NIL_ARRAY, type Reply, wrongArity } from '../../reply.js';
import { mapped } from '../../slices.js';
import { SortedSet } from '../../types/sorted-set.js';
import { readCollectionScan, readCursor } from '../collection-scan.js';
import { memberRange, type RankRange, scoreRange } from './range.js';

/** The sorted set at the first key, for a command that reads. @throws WRONGTYPE */
export function peek({ args, keyspace }: CommandContext): SortedSet | undefined {
  return keyspace.peekKind(args.bytes(1), SortedSet);
}

function scoreReply(score: number | undefined): Reply {
  return score === undefined ? null : new DoubleReply(score);
}

/** ZCARD key → the number of members. */
export const size: Handler = (context) => peek(context)?.size ?? 0;

/** ZSCORE key member → its score or null. */
export const score: Handler = (context) => scoreReply(peek(context)?.scoreOf(context.args.bytes(2)));

function scoresIn(context: CommandContext): (member: ByteString) => Reply {
  const set = peek(context);
  return (member) => scoreReply(set?.scoreOf(member));
}

/** ZMSCORE key member … → a score or null for each. */
export const scores: Handler = (context) => context.args.from(2).map(scoresIn(context));

export const manyScores: SlicedHandler = (context) => mapped(context.args.words, scoresIn(context), 2);

/** ZRANK | ZREVRANK key member [WITHSCORE] → its rank, with its score on request; null if it is missing. */
export function rank(name: string, isReversed: boolean): Handler {
  return (context) => {
    const { args } = context;
    if (args.length > 4) throw wrongArity(name);
    const withScore = args.length === 4;
    if (withScore && args.option(3) !== 'WITHSCORE') throw ERRORS.syntax;
    const set = peek(context);
    const member = args.bytes(2);
    const ascending = set?.rankOf(member);
    if (set === undefined || ascending === undefined) return withScore ? NIL_ARRAY : null;
    const answer = isReversed ? set.size - 1 - ascending : ascending;
    return withScore ? [answer, scoreReply(set.scoreOf(member))] : answer;
  };
}

function counted(read: (least: ByteString, greatest: ByteString) => RankRange): Handler {
  return (context) => {
    const range = read(context.args.bytes(2), context.args.bytes(3));
    const set = peek(context);
    if (set === undefined) return 0;
    const { from, to } = range(set);
    return to - from;
  };
}

/** ZCOUNT key min max → the number of members with scores in the range. */
export const countByScore: Handler = counted(scoreRange);

/** ZLEXCOUNT key min max → the number of members in the range, for sets in which all scores are equal. */
export const countByMember: Handler = counted(memberRange);

/** ZSCAN key cursor [MATCH pattern] [COUNT n] → [next cursor, members with scores]; cursor 0 ends. */
export const scan: Handler = (context) => {
  const cursor = readCursor(context.args);
  const set = peek(context);
  if (set === undefined) return ['0', []];
  const { glob, count } = readCollectionScan(context, false);
  const step = set.scan(cursor, count);
  const items: Reply[] = [];
  for (const [member, memberScore] of step.entries) {
    if (glob !== undefined && !glob(member)) continue;
    // Text in both protocols, as in Redis.
    items.push(member, new DoubleReply(memberScore).text);
  }
  return [String(step.cursor), items];
};
