/** The Cuckoo filter family of Redis's module: as Bloom filters, and items can be deleted. */
import { SKETCHES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import { DELETES, family, GROWS, INSERTS_FAST, READS_FAST, row, WRITES } from '../rows.js';
import { hasManyItems } from '../sketches.js';
import {
  add,
  compact,
  contains,
  containsMany,
  countOf,
  describe,
  insert,
  isLongRemoval,
  remove,
  reserve,
} from './handlers.js';
import { dumpChunk, loadChunk } from './transfer.js';

const growing = { ...GROWS, keyUse: ['RW insert'] } as const;
const bounded = 'A filter ends at 100 MB: beyond it `max single record size exceeded`.';

export const CUCKOO: readonly CommandSpec[] = family(
  'cuckoo',
  [
    row('CF.ADD', 3, '1.0.0', 'Adds an item to a Cuckoo filter, which is made if it is missing.', {
      ...growing,
      ...inSlices(add(false), hasManyItems),
      deviations: [bounded],
    }),
    row('CF.ADDNX', 3, '1.0.0', 'Adds an item to a Cuckoo filter unless it was probably added before.', {
      ...growing,
      ...inSlices(add(true), hasManyItems),
      deviations: [bounded],
    }),
    row('CF.COMPACT', 2, '1.0.0', 'Moves the items of a Cuckoo filter into its first tables.', {
      ...WRITES,
      keyUse: ['RW update'],
      ...inSlices(compact, isLongRemoval),
      deviations: ['It counts as a write, and a key of another type is refused with WRONGTYPE.'],
    }),
    row('CF.COUNT', 3, '1.0.0', 'Estimates how often an item was added to a Cuckoo filter.', {
      ...READS_FAST,
      ...inSlices(countOf, hasManyItems),
    }),
    row('CF.DEL', 3, '1.0.0', 'Deletes an item once from a Cuckoo filter.', {
      ...DELETES,
      ...inSlices(remove, isLongRemoval),
    }),
    row('CF.EXISTS', 3, '1.0.0', 'Tells whether an item was probably added to a Cuckoo filter.', {
      ...READS_FAST,
      ...inSlices(contains, hasManyItems),
    }),
    row('CF.INFO', 2, '1.0.0', 'Describes a Cuckoo filter.', {
      ...READS_FAST,
      handler: describe,
      deviations: ['The size is that of the filter here.'],
    }),
    row('CF.INSERT', -4, '1.0.0', 'Adds items to a Cuckoo filter, which is made with a capacity if it is missing.', {
      ...growing,
      ...inSlices(insert(false), hasManyItems),
      deviations: [bounded],
    }),
    row('CF.INSERTNX', -4, '1.0.0', 'Adds those items to a Cuckoo filter that were probably not added before.', {
      ...growing,
      ...inSlices(insert(true), hasManyItems),
      deviations: [bounded],
    }),
    row('CF.LOADCHUNK', 4, '1.0.0', 'Restores a part of a Cuckoo filter that CF.SCANDUMP has returned.', {
      ...growing,
      handler: loadChunk,
    }),
    row('CF.MEXISTS', -3, '1.0.0', 'Tells of several items whether they were probably added to a Cuckoo filter.', {
      ...READS_FAST,
      ...inSlices(containsMany, hasManyItems),
    }),
    row('CF.RESERVE', -3, '1.0.0', 'Makes a Cuckoo filter for a capacity.', {
      ...INSERTS_FAST,
      handler: reserve,
      deviations: [bounded],
    }),
    row('CF.SCANDUMP', 3, '1.0.0', 'Returns a Cuckoo filter in parts, from an iterator on.', {
      ...READS_FAST,
      handler: dumpChunk,
      deviations: ['A part has at most 1 MiB.'],
    }),
  ],
  SKETCHES_FORMAT_LEVEL,
);
