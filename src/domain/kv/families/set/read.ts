/** Reading one set: membership, size, all members, random members, or step by step. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, type Reply, SetReply } from '../../reply.js';
import { MANY_WORDS, mapped, SlicePace } from '../../slices.js';
import { SetValue } from '../../types/set-value.js';
import { readCollectionScan, readCursor } from '../collection-scan.js';
import { type Draws, drawDistinct, drawRepeatedly, MAX_DRAWS, readDrawCount, SLICE_STEPS } from '../random-draws.js';

/** A command that visits more members runs in slices: about 2 ms of work. */
const LONG_MEMBERS = 5000;

/**
 * Whether there are many words, or a word names a set that is large for their number. A word that is not a key rarely
 * matches such a name.
 */
export function hasLongSet({ args, keyspace }: CommandContext): boolean {
  if (args.length > MANY_WORDS) return true;
  for (let i = 1; i < args.length; i += 1) {
    const value = keyspace.stored(args.bytes(i));
    if (value instanceof SetValue && value.size * args.length > 2 * LONG_MEMBERS) return true;
  }
  return false;
}

/** SCARD key → the number of members. WRONGTYPE. */
export const count: Handler = ({ args, keyspace }) => keyspace.peekKind(args.bytes(1), SetValue)?.size ?? 0;

function membershipIn({ args, keyspace }: CommandContext): (member: ByteString) => 0 | 1 {
  const set = keyspace.peekKind(args.bytes(1), SetValue);
  return (member) => (set?.has(member) === true ? 1 : 0);
}

/** SISMEMBER key member → 1 or 0. */
export const isMember: Handler = ({ args, keyspace }) =>
  keyspace.peekKind(args.bytes(1), SetValue)?.has(args.bytes(2)) === true ? 1 : 0;

/** SMISMEMBER key member [member …] → 1 or 0 for each. */
export const areMembers: Handler = (context) => context.args.from(2).map(membershipIn(context));

export const areManyMembers: SlicedHandler = (context) => mapped(context.args.words, membershipIn(context), 2);

/** SMEMBERS key → all members, in no order. */
export const members: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const size = new AnswerSize(context);
  const found: ByteString[] = [];
  for (const member of keyspace.peekKind(args.bytes(1), SetValue)?.members() ?? []) {
    size.add(member.length);
    found.push(member);
    if (found.length % SLICE_STEPS === 0) yield;
  }
  return new SetReply(found);
};

/**
 * SRANDMEMBER key [count] → a member or null; with a count a list, of distinct members unless the count is negative.
 */
export const randomMembers: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, random } = context;
  const float = (): number => random.float();
  if (args.length === 2) return keyspace.peekKind(args.bytes(1), SetValue)?.draw(float) ?? null;
  if (args.length > 3) throw ERRORS.syntax;
  const wanted = readDrawCount(args, 2, false);
  const set = keyspace.peekKind(args.bytes(1), SetValue);
  if (set === undefined) return [];
  const draws = drawsOf(set);
  const size = new AnswerSize(context);
  size.requireItems(Math.min(Math.abs(wanted), wanted < 0 ? MAX_DRAWS : set.size));
  const drawn = yield* wanted < 0 ? drawRepeatedly(draws, -wanted, float) : drawDistinct(draws, wanted, float);
  const pace = new SlicePace();
  for (const member of drawn) {
    size.add(member.length);
    if (pace.isDue()) yield;
  }
  return drawn;
};

export function drawsOf(set: SetValue): Draws<ByteString> {
  return { size: set.size, all: () => set.members(), one: (float) => (set.isSmall ? undefined : set.draw(float)) };
}

/** SSCAN key cursor [MATCH pattern] [COUNT n] → [next cursor, members]. */
export const scan: Handler = (context) => {
  const cursor = readCursor(context.args);
  const set = context.keyspace.peekKind(context.args.bytes(1), SetValue);
  if (set === undefined) return ['0', []];
  const { glob, count: wanted } = readCollectionScan(context, false);
  const step = set.scan(cursor, wanted);
  return [String(step.cursor), glob === undefined ? step.members : step.members.filter(glob)];
};
