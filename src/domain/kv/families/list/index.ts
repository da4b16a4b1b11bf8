/** The List family. */

import { at, counted, several, span } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import { DELETES, family, GROWS, INSERTS, INSERTS_FAST, LOOKS_FAST, READS, row, TAKES, TAKES_FAST } from '../rows.js';
import { moveManyWaiting, moveTailToHeadWaiting, moveWaiting, popManyWaiting, popWaiting } from './blocking.js';
import { isLongPop, pop, popMany, push, pushIfPresent, pushInSlices } from './ends.js';
import { element, insert, isLong, length, position, range, remove, replace, trim } from './middle.js';
import { isLongMove, move, moveMany, moveTailToHead } from './move.js';

const waiting = {
  keyUse: ['RW access delete'],
  flags: ['write', 'blocking'],
  rest: 'refused',
  deviations: ['At most 4,000 keys.'],
} as const;
const moving = {
  ...GROWS,
  keyUse: ['RW access delete', 'RW insert'],
  keys: several(at(1, 'both'), at(2, 'write')),
} as const;
const movingWhenThere = { ...moving, flags: ['write', 'denyoom', 'blocking'], rest: 'refused' } as const;

export const LIST: readonly CommandSpec[] = family('list', [
  row('LPUSH', -3, '1.0.0', 'Puts elements in front of a list, which is created if missing.', {
    ...INSERTS_FAST,
    ...inSlices(pushInSlices('head')),
    handler: push('head'),
  }),
  row('RPUSH', -3, '1.0.0', 'Puts elements at the end of a list, which is created if missing.', {
    ...INSERTS_FAST,
    ...inSlices(pushInSlices('tail')),
    handler: push('tail'),
  }),
  row('LPUSHX', -3, '2.2.0', 'Puts elements in front of a list if there is one.', {
    ...INSERTS_FAST,
    handler: pushIfPresent('head'),
  }),
  row('RPUSHX', -3, '2.2.0', 'Puts elements at the end of a list if there is one.', {
    ...INSERTS_FAST,
    handler: pushIfPresent('tail'),
  }),
  row('LPOP', -2, '1.0.0', 'Takes the first elements of a list away and returns them.', {
    ...TAKES_FAST,
    ...inSlices(pop('head'), isLongPop),
  }),
  row('RPOP', -2, '1.0.0', 'Takes the last elements of a list away and returns them.', {
    ...TAKES_FAST,
    ...inSlices(pop('tail'), isLongPop),
  }),
  row('LLEN', 2, '1.0.0', 'Returns the length of a list.', { ...LOOKS_FAST, handler: length }),
  row('LINDEX', 3, '1.0.0', 'Returns the element at an index of a list.', { ...READS, handler: element }),
  row('LSET', 4, '1.0.0', 'Replaces the element at an index of a list.', { ...GROWS, handler: replace }),
  row('LINSERT', 5, '2.2.0', 'Puts an element before or after another in a list.', {
    ...INSERTS,
    ...inSlices(insert, isLong),
  }),
  row('LRANGE', 4, '1.0.0', 'Returns a range of the elements of a list.', { ...READS, ...inSlices(range, isLong) }),
  row('LTRIM', 4, '1.0.0', 'Keeps a range of the elements of a list and removes the others.', {
    ...DELETES,
    handler: trim,
  }),
  row('LREM', 4, '1.0.0', 'Removes elements of a list that are equal to one.', {
    ...DELETES,
    ...inSlices(remove, isLong),
  }),
  row('LPOS', -3, '6.0.6', 'Returns the indexes of elements of a list that are equal to one.', {
    ...READS,
    ...inSlices(position, isLong),
  }),
  row('LMOVE', 5, '6.2.0', 'Takes an element from one end of a list and puts it at an end of another.', {
    ...moving,
    handler: move,
  }),
  row('LMOVEM', -5, '8.10.0', 'Takes elements from one end of a list and puts them at an end of another.', {
    ...moving,
    ...inSlices(moveMany, isLongMove),
  }),
  row('RPOPLPUSH', 3, '1.2.0', 'Takes the last element of a list and puts it in front of another.', {
    ...moving,
    handler: moveTailToHead,
  }),
  row('LMPOP', -4, '7.0.0', 'Takes elements from the first of several lists that has any.', {
    ...TAKES,
    keys: counted(1),
    ...inSlices(popMany, isLongPop),
  }),
  row('BLPOP', -3, '2.0.0', 'Takes the first element of the first of several lists that has any; waits for one.', {
    ...waiting,
    keys: span(1, -2),
    handler: popWaiting('head'),
  }),
  row('BRPOP', -3, '2.0.0', 'Takes the last element of the first of several lists that has any; waits for one.', {
    ...waiting,
    keys: span(1, -2),
    handler: popWaiting('tail'),
  }),
  row('BLMOVE', 6, '6.2.0', 'Moves an element as LMOVE does; waits for one.', {
    ...movingWhenThere,
    handler: moveWaiting,
  }),
  row('BLMOVEM', -6, '8.10.0', 'Moves elements as LMOVEM does; waits for enough.', {
    ...movingWhenThere,
    handler: moveManyWaiting,
  }),
  row('BRPOPLPUSH', 4, '2.2.0', 'Moves an element as RPOPLPUSH does; waits for one.', {
    ...movingWhenThere,
    handler: moveTailToHeadWaiting,
  }),
  row('BLMPOP', -5, '7.0.0', 'Takes elements as LMPOP does; waits for some.', {
    ...waiting,
    keys: counted(2),
    handler: popManyWaiting,
  }),
]);
