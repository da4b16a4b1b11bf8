/** The sorted set family: members with scores, by member, by score and by rank. */

import { at, counted, several, span } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import {
  DELETES,
  DELETES_FAST,
  family,
  GROWS,
  GROWS_FAST,
  LOOKS_FAST,
  READS,
  READS_FAST,
  row,
  TAKES,
  TAKES_FAST,
  UPDATES_FAST,
  VARIES,
} from '../rows.js';
import { add, addInSlices, increment, isLongAddition } from './add.js';
import { combine, combineAndStore, countCommon, isLongCombination } from './combine.js';
import { countByMember, countByScore, manyScores, rank, scan, score, scores, size } from './look.js';
import { awaitMany, awaitOne, isLongManyPop, isLongPop, pop, popMany } from './pop.js';
import { isLongDraw, randomMembers } from './random.js';
import {
  isLongRead,
  isLongRemoval,
  isLongRemoveList,
  type RangeForm,
  type RangeKind,
  range,
  remove,
  removeRange,
  storeRange,
} from './ranges.js';

const waiting = {
  keyUse: ['RW access delete'],
  flags: ['write', 'blocking', 'fast'],
  rest: 'refused',
  deviations: ['At most 4,000 keys.'],
} as const;

/** A destination that is written, then a source that is read. */
const STORED = several(at(1, 'write'), at(2, 'read'));

function ranging(form: RangeForm) {
  return { ...READS, ...inSlices(range(form), isLongRead(form, 1)) };
}

function removing(kind: RangeKind, event: string) {
  return { ...DELETES, ...inSlices(removeRange(kind, event), isLongRemoval(kind)) };
}

export const SORTED_SET: readonly CommandSpec[] = family('sorted-set', [
  row('ZADD', -4, '1.2.0', 'Adds members or changes their scores.', {
    ...GROWS_FAST,
    handler: add,
    sliced: addInSlices,
    isLong: isLongAddition,
  }),
  row('ZINCRBY', 4, '1.2.0', 'Adds to the score of a member.', { ...UPDATES_FAST, handler: increment }),
  row('ZREM', -3, '1.2.0', 'Removes members.', { ...DELETES_FAST, ...inSlices(remove, isLongRemoveList) }),
  row('ZCARD', 2, '1.2.0', 'Counts the members.', { ...LOOKS_FAST, handler: size }),
  row('ZSCORE', 3, '1.2.0', 'Returns the score of a member.', { ...READS_FAST, handler: score }),
  row('ZMSCORE', -3, '6.2.0', 'Returns the scores of several members.', {
    ...READS_FAST,
    ...inSlices(manyScores),
    handler: scores,
  }),
  row('ZCOUNT', 4, '2.0.0', 'Counts the members with scores in a range.', { ...READS_FAST, handler: countByScore }),
  row('ZLEXCOUNT', 4, '2.8.9', 'Counts the members between two bounds, in a set of equal scores.', {
    ...READS_FAST,
    handler: countByMember,
  }),
  row('ZRANK', -3, '2.0.0', 'Returns the number of members before one.', {
    ...READS_FAST,
    handler: rank('zrank', false),
  }),
  row('ZREVRANK', -3, '2.0.0', 'Returns the number of members after one.', {
    ...READS_FAST,
    handler: rank('zrevrank', true),
  }),
  row('ZRANGE', -4, '1.2.0', 'Returns a range of members, by rank, score or name.', ranging({})),
  row('ZREVRANGE', -4, '1.2.0', 'Returns a range of members by rank, counted from the greatest.', {
    ...ranging({ kind: 'rank', isReversed: true }),
  }),
  row('ZRANGEBYSCORE', -4, '1.0.5', 'Returns the members with scores in a range.', {
    ...ranging({ kind: 'score', isReversed: false }),
  }),
  row('ZREVRANGEBYSCORE', -4, '2.2.0', 'Returns the members with scores in a range, the greatest first.', {
    ...ranging({ kind: 'score', isReversed: true }),
  }),
  row('ZRANGEBYLEX', -4, '2.8.9', 'Returns the members between two bounds, in a set of equal scores.', {
    ...ranging({ kind: 'member', isReversed: false }),
  }),
  row('ZREVRANGEBYLEX', -4, '2.8.9', 'Returns the members between two bounds, the last first.', {
    ...ranging({ kind: 'member', isReversed: true }),
  }),
  row('ZRANGESTORE', -5, '6.2.0', 'Stores a range of members under another key.', {
    ...GROWS,
    keys: STORED,
    ...inSlices(storeRange, isLongRead({}, 2)),
  }),
  row('ZREMRANGEBYRANK', 4, '2.0.0', 'Removes a range of members by rank.', removing('rank', 'zremrangebyrank')),
  row('ZREMRANGEBYSCORE', 4, '1.2.0', 'Removes the members with scores in a range.', {
    ...removing('score', 'zremrangebyscore'),
  }),
  row('ZREMRANGEBYLEX', 4, '2.8.9', 'Removes the members between two bounds.', removing('member', 'zremrangebylex')),
  row('ZPOPMIN', -2, '5.0.0', 'Removes and returns the members with the least scores.', {
    ...TAKES_FAST,
    ...inSlices(pop('min'), isLongPop),
  }),
  row('ZPOPMAX', -2, '5.0.0', 'Removes and returns the members with the greatest scores.', {
    ...TAKES_FAST,
    ...inSlices(pop('max'), isLongPop),
  }),
  row('ZMPOP', -4, '7.0.0', 'Removes and returns members from an end of the first set that has any.', {
    ...TAKES,
    keys: counted(1),
    ...inSlices(popMany, isLongManyPop),
  }),
  row('BZPOPMIN', -3, '5.0.0', 'Waits for a set with members and takes the one with the least score.', {
    ...waiting,
    keys: span(1, -2),
    handler: awaitOne('min'),
  }),
  row('BZPOPMAX', -3, '5.0.0', 'Waits for a set with members and takes the one with the greatest score.', {
    ...waiting,
    keys: span(1, -2),
    handler: awaitOne('max'),
  }),
  row('BZMPOP', -5, '7.0.0', 'Waits for a set with members and takes some from an end.', {
    ...waiting,
    flags: ['write', 'blocking'],
    keys: counted(2),
    handler: awaitMany,
  }),
  row('ZRANDMEMBER', -2, '6.2.0', 'Returns members at random.', {
    tips: VARIES,
    flags: ['readonly', 'random'],
    keys: at(1),
    ...inSlices(randomMembers, isLongDraw),
    deviations: ['At most a million members are drawn with repetition; more answer `value is out of range`.'],
  }),
  row('ZSCAN', -3, '2.8.0', 'Goes through the members, some at a time.', {
    tips: VARIES,
    flags: ['readonly', 'random'],
    keys: at(1),
    handler: scan,
    deviations: ['Cursors are 32-bit hashes; a step looks at no more than 10,000 members.'],
  }),
  row('ZUNION', -3, '6.2.0', 'Returns the members of any of the sets.', {
    ...READS,
    keys: counted(1),
    ...inSlices(combine('ZUNION', 'union'), isLongCombination(1)),
  }),
  row('ZUNIONSTORE', -4, '2.0.0', 'Stores the members of any of the sets.', {
    ...GROWS,
    keys: counted(2, [1]),
    ...inSlices(combineAndStore('ZUNIONSTORE', 'union'), isLongCombination(2)),
  }),
  row('ZINTER', -3, '6.2.0', 'Returns the members that are in all of the sets.', {
    ...READS,
    keys: counted(1),
    ...inSlices(combine('ZINTER', 'inter'), isLongCombination(1)),
  }),
  row('ZINTERSTORE', -4, '2.0.0', 'Stores the members that are in all of the sets.', {
    ...GROWS,
    keys: counted(2, [1]),
    ...inSlices(combineAndStore('ZINTERSTORE', 'inter'), isLongCombination(2)),
  }),
  row('ZDIFF', -3, '6.2.0', 'Returns the members of the first set that no other has.', {
    ...READS,
    keys: counted(1),
    ...inSlices(combine('ZDIFF', 'diff'), isLongCombination(1)),
  }),
  row('ZDIFFSTORE', -4, '6.2.0', 'Stores the members of the first set that no other has.', {
    ...GROWS,
    keys: counted(2, [1]),
    ...inSlices(combineAndStore('ZDIFFSTORE', 'diff'), isLongCombination(2)),
  }),
  row('ZINTERCARD', -3, '7.0.0', 'Counts the members that are in all of the sets.', {
    ...READS,
    keys: counted(1),
    ...inSlices(countCommon, isLongCombination(1)),
  }),
]);
