/** The Bitmap family: strings as bit arrays. */

import { at, type KeySpec, several, span } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { hasOption } from '../../key-use.js';
import { inSlices } from '../../slices.js';
import { family, GROWS, READS, READS_FAST, row } from '../rows.js';
import { countBits, findFirstBit, getBit, isLong, setBit } from './bits.js';
import { bitField, readBitField } from './fields.js';
import { combine, isLongOperation } from './operation.js';

const targetAndSources: KeySpec = several(at(2, 'write'), span(3, -1, 1, 'read'));
const ends = 'Values end at 100 MB: beyond it `max single record size exceeded`.';

export const BITMAP: readonly CommandSpec[] = family('bitmap', [
  row('SETBIT', 4, '2.2.0', 'Sets or clears the bit at an offset of a string and returns the one before.', {
    ...GROWS,
    keyUse: ['RW access update'],
    handler: setBit,
    deviations: [ends],
  }),
  row('GETBIT', 3, '2.2.0', 'Returns the bit at an offset of a string.', { ...READS_FAST, handler: getBit }),
  row('BITCOUNT', -2, '2.6.0', 'Counts the bits that are set in a string, or in part of it.', {
    ...READS,
    ...inSlices(countBits, isLong),
  }),
  row('BITPOS', -3, '2.8.7', 'Finds the first bit of a string that is set, or that is not.', {
    ...READS,
    ...inSlices(findFirstBit, isLong),
  }),
  row('BITOP', -4, '2.6.0', 'Combines strings bit by bit and stores the result.', {
    ...GROWS,
    keys: targetAndSources,
    ...inSlices(combine, isLongOperation),
  }),
  row('BITFIELD', -2, '3.2.0', 'Reads and changes integers of any width at any bit of a string.', {
    ...GROWS,
    keyUse: ['RW access update'],
    keyNeeds: (words) => (hasOption(words, 2, 'SET') || hasOption(words, 2, 'INCRBY') ? 'both' : 'read'),
    ...inSlices(bitField),
    deviations: [ends],
  }),
  row('BITFIELD_RO', -2, '6.0.0', 'Reads integers of any width at any bit of a string.', {
    ...READS_FAST,
    ...inSlices(readBitField),
  }),
]);
