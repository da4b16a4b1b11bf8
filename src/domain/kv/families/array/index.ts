/** The Array family of Redis 8.8: sparse arrays of values by index, with a cursor for appending. */

import { INDEXES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { CommandContext, CommandSpec } from '../../command-spec.js';
import { hasManyWords, inSlices } from '../../slices.js';
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
  WRITES_FAST,
} from '../rows.js';
import { insert, insertIntoRing, lastItems, next, seek } from './append.js';
import { hasLargeCount, hasLongTexts, hasManyValues, isWideRange } from './array-access.js';
import { calculate } from './calculate.js';
import { count, get, getMany, getRange, hasManyPages, info, length, scan } from './read.js';
import { grep } from './search.js';
import { remove, removeRanges, set, setMany } from './write.js';

const valuesEnd = 'All values of an array end at 100 MB: beyond it `max single record size exceeded`.';
const updating = { ...GROWS, keyUse: ['RW update'] } as const;
const updatingFast = { ...GROWS_FAST, keyUse: ['RW update'] } as const;

/** Whether values in the array may move or be removed besides those of the words. */
function isLongWrite(context: CommandContext): boolean {
  return hasManyWords(context) || hasManyValues(context);
}

export const ARRAY: readonly CommandSpec[] = family(
  'array',
  [
    row('ARCOUNT', 2, '8.8.0', 'Returns the number of occupied slots.', { ...LOOKS_FAST, handler: count }),
    row('ARDEL', -3, '8.8.0', 'Removes the values at indexes; no other value moves.', {
      ...DELETES_FAST,
      ...inSlices(remove),
    }),
    row('ARDELRANGE', -4, '8.8.0', 'Removes the values in ranges of indexes.', {
      ...DELETES,
      ...inSlices(removeRanges, isLongWrite),
    }),
    row('ARGET', 3, '8.8.0', 'Returns the value at an index.', { ...READS_FAST, handler: get }),
    row('ARGETRANGE', 4, '8.8.0', 'Returns the values of all indexes in a range.', {
      ...READS,
      ...inSlices(getRange, isWideRange),
    }),
    row('ARGREP', -6, '8.8.0', 'Returns the indexes of values that match texts or patterns.', {
      ...READS,
      ...inSlices(grep, hasLongTexts),
      deviations: [
        'A regular expression takes linear time, has no back references, and fewer than 2,053 states with its repetitions.',
        'A pattern of GLOB with wildcards has at most 1,024 bytes.',
      ],
    }),
    row('ARINFO', -2, '8.8.0', 'Returns facts about an array.', {
      ...READS,
      ...inSlices(info, hasManyPages),
      deviations: ['The facts about slices are those of the pages here; there is no super directory.'],
    }),
    row('ARINSERT', -3, '8.8.0', 'Appends values at the cursor.', {
      ...updatingFast,
      ...inSlices(insert),
      deviations: [valuesEnd],
    }),
    row('ARLASTITEMS', -3, '8.8.0', 'Returns the values of the last appends.', {
      ...READS,
      ...inSlices(lastItems, hasLargeCount),
    }),
    row('ARLEN', 2, '8.8.0', 'Returns the highest occupied index plus one.', { ...LOOKS_FAST, handler: length }),
    row('ARMGET', -3, '8.8.0', 'Returns the values at indexes.', { ...READS_FAST, ...inSlices(getMany) }),
    row('ARMSET', -4, '8.8.0', 'Sets the values at indexes.', {
      ...updatingFast,
      ...inSlices(setMany),
      deviations: [valuesEnd],
    }),
    row('ARNEXT', 2, '8.8.0', 'Returns the index of the next append.', { ...LOOKS_FAST, handler: next }),
    row('AROP', -5, '8.8.0', 'Calculates one number from the values in a range.', {
      ...READS,
      ...inSlices(calculate, hasManyValues),
      deviations: ['Hexadecimal numbers are texts, and fractions are added with 64 bits before the last rounding.'],
    }),
    row('ARRING', -4, '8.8.0', 'Appends values at the cursor of a ring of a given size.', {
      ...updating,
      ...inSlices(insertIntoRing, isLongWrite),
      deviations: [valuesEnd],
    }),
    row('ARSCAN', -4, '8.8.0', 'Returns the occupied slots in a range with their indexes.', {
      ...READS,
      ...inSlices(scan, hasManyValues),
    }),
    row('ARSEEK', 3, '8.8.0', 'Sets the index of the next append.', {
      ...WRITES_FAST,
      keyUse: ['RW update'],
      handler: seek,
    }),
    row('ARSET', -4, '8.8.0', 'Sets values from an index on.', {
      ...updatingFast,
      ...inSlices(set),
      deviations: [valuesEnd],
    }),
  ],
  INDEXES_FORMAT_LEVEL,
);
