/** The Bitmap family: strings as rows of bits. */
import { at, type CommandSpec, family, type KeySpec, several, span } from '../../command-spec.js';
import { hasOption } from '../../key-use.js';
import { inSlices } from '../../slices.js';
import { countBits, findFirstBit, getBit, isLong, setBit } from './bits.js';
import { bitField, readBitField } from './fields.js';
import { combine, isLongOperation } from './operation.js';

const write = ['write', 'denyoom'] as const;
const read = ['readonly'] as const;
const readFast = ['readonly', 'fast'] as const;

const targetAndSources: KeySpec = several(at(2, 'write'), span(3, -1, 1, 'read'));
const ends = 'Values end at 100 MB: beyond it `max single record size exceeded`.';

export const BITMAP: readonly CommandSpec[] = family('bitmap', [
  {
    name: 'SETBIT',
    keyUse: ['RW access update'],
    arity: 4,
    flags: write,
    keys: at(1),
    handler: setBit,
    since: '2.2.0',
    summary: 'Sets or clears the bit at an offset of a string and returns the one before.',
    deviations: [ends],
  },
  {
    name: 'GETBIT',
    arity: 3,
    flags: readFast,
    keys: at(1),
    handler: getBit,
    since: '2.2.0',
    summary: 'Returns the bit at an offset of a string.',
  },
  {
    name: 'BITCOUNT',
    arity: -2,
    flags: read,
    keys: at(1),
    ...inSlices(countBits, isLong),
    since: '2.6.0',
    summary: 'Counts the bits that are set in a string, or in part of it.',
  },
  {
    name: 'BITPOS',
    arity: -3,
    flags: read,
    keys: at(1),
    ...inSlices(findFirstBit, isLong),
    since: '2.8.7',
    summary: 'Finds the first bit of a string that is set, or that is not.',
  },
  {
    name: 'BITOP',
    arity: -4,
    flags: write,
    keys: targetAndSources,
    ...inSlices(combine, isLongOperation),
    since: '2.6.0',
    summary: 'Combines strings bit by bit and stores the result.',
  },
  {
    name: 'BITFIELD',
    keyUse: ['RW access update'],
    keyNeeds: (words) => (hasOption(words, 2, 'SET') || hasOption(words, 2, 'INCRBY') ? 'both' : 'read'),
    arity: -2,
    flags: write,
    keys: at(1),
    ...inSlices(bitField),
    since: '3.2.0',
    summary: 'Reads and changes integers of any width at any bit of a string.',
    deviations: [ends],
  },
  {
    name: 'BITFIELD_RO',
    arity: -2,
    flags: readFast,
    keys: at(1),
    ...inSlices(readBitField),
    since: '6.0.0',
    summary: 'Reads integers of any width at any bit of a string.',
  },
]);
