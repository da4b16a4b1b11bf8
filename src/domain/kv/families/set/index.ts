/** The Set family. */

import { at, counted, several, span } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import {
  DELETES_FAST,
  family,
  GROWS,
  INSERTS_FAST,
  LOOKS_FAST,
  READS,
  READS_FAST,
  row,
  TAKES_FAST,
  UNORDERED,
  VARIES,
  WRITES_FAST,
} from '../rows.js';
import { type Combination, combine, combineAndStore, countMembers } from './combine.js';
import { areManyMembers, areMembers, count, hasLongSet, isMember, members, randomMembers, scan } from './read.js';
import { addMembers, move, pop, removeMembers } from './write.js';

const destinationFirst = several(at(1, 'write'), span(2, -1, 1, 'read'));

function combining(how: Combination) {
  return { ...READS, tips: UNORDERED, keys: span(1, -1), ...inSlices(combine(how), hasLongSet) };
}

function storing(how: Combination) {
  return { ...GROWS, keys: destinationFirst, ...inSlices(combineAndStore(how), hasLongSet) };
}

function counting(how: Combination) {
  return { ...READS, keys: counted(1), ...inSlices(countMembers(how), hasLongSet) };
}

export const SET: readonly CommandSpec[] = family('set', [
  row('SADD', -3, '1.0.0', 'Adds members to a set, which is created if missing.', {
    ...INSERTS_FAST,
    ...inSlices(addMembers),
    deviations: ['All members of a set end at 100 MB: beyond it `max single record size exceeded`.'],
  }),
  row('SCARD', 2, '1.0.0', 'Returns the number of members.', { ...LOOKS_FAST, handler: count }),
  row('SDIFF', -2, '1.0.0', 'Returns the members of the first set that are in none of the others.', {
    ...combining('difference'),
  }),
  row('SDIFFCARD', -3, '8.10.0', 'Returns how many members of the first set are in none of the others.', {
    ...counting('difference'),
  }),
  row('SDIFFSTORE', -3, '1.0.0', 'Stores the members of the first set that are in none of the others.', {
    ...storing('difference'),
  }),
  row('SINTER', -2, '1.0.0', 'Returns the members that all sets have.', combining('intersection')),
  row('SINTERCARD', -3, '7.0.0', 'Returns how many members all sets have.', counting('intersection')),
  row('SINTERSTORE', -3, '1.0.0', 'Stores the members that all sets have.', storing('intersection')),
  row('SISMEMBER', 3, '1.0.0', 'Tells whether a set has a member.', { ...LOOKS_FAST, handler: isMember }),
  row('SMEMBERS', 2, '1.0.0', 'Returns all members of a set.', {
    ...READS,
    tips: UNORDERED,
    ...inSlices(members, hasLongSet),
  }),
  row('SMISMEMBER', -3, '6.2.0', 'Tells of several members whether a set has them.', {
    ...READS_FAST,
    ...inSlices(areManyMembers),
    handler: areMembers,
  }),
  row('SMOVE', 4, '1.0.0', 'Moves a member from one set to another.', {
    ...WRITES_FAST,
    keyUse: ['RW access delete', 'RW insert'],
    keys: several(at(1), at(2)),
    handler: move,
  }),
  row('SPOP', -2, '1.0.0', 'Removes and returns members at random.', {
    ...TAKES_FAST,
    tips: VARIES,
    ...inSlices(pop, hasLongSet),
  }),
  row('SRANDMEMBER', -2, '1.0.0', 'Returns members at random.', {
    ...READS,
    tips: VARIES,
    ...inSlices(randomMembers, hasLongSet),
    deviations: ['A negative count ends at a million: beyond it `value is out of range`.'],
  }),
  row('SREM', -3, '1.0.0', 'Removes members from a set.', { ...DELETES_FAST, ...inSlices(removeMembers) }),
  row('SSCAN', -3, '2.8.0', 'Goes through the members of a set step by step.', {
    ...READS,
    tips: VARIES,
    handler: scan,
    deviations: ['A cursor is a 32-bit hash; a step returns at most 10,000 members.'],
  }),
  row('SUNION', -2, '1.0.0', 'Returns the members that any of the sets has.', combining('union')),
  row('SUNIONCARD', -3, '8.10.0', 'Returns how many members any of the sets has.', {
    ...counting('union'),
    deviations: ['With APPROX the count is exact, too.'],
  }),
  row('SUNIONSTORE', -3, '1.0.0', 'Stores the members that any of the sets has.', storing('union')),
]);
