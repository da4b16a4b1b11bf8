/** The Bloom filter family of Redis's module: whether an item was probably added, in a few bits for each. */
import { SKETCHES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import { family, GROWS, INSERTS_FAST, LOOKS_FAST, READS_FAST, row } from '../rows.js';
import { hasManyItems } from '../sketches.js';
import { add, addMany, contains, containsMany, count, describe, insert, reserve } from './handlers.js';
import { dumpChunk, loadChunk } from './transfer.js';

const growing = { ...GROWS, keyUse: ['RW insert'] } as const;
const bounded = 'A filter ends at 100 MB: beyond it `max single record size exceeded`.';

export const BLOOM: readonly CommandSpec[] = family(
  'bloom',
  [
    row('BF.ADD', 3, '1.0.0', 'Adds an item to a Bloom filter, which is made if it is missing.', {
      ...growing,
      ...inSlices(add, hasManyItems),
      deviations: [bounded],
    }),
    row('BF.CARD', 2, '2.4.4', 'Returns how many items were added to a Bloom filter.', {
      ...LOOKS_FAST,
      handler: count,
    }),
    row('BF.EXISTS', 3, '1.0.0', 'Tells whether an item was probably added to a Bloom filter.', {
      ...READS_FAST,
      ...inSlices(contains, hasManyItems),
    }),
    row('BF.INFO', -2, '1.0.0', 'Describes a Bloom filter.', {
      ...READS_FAST,
      handler: describe,
      deviations: ['The size is that of the filter here.'],
    }),
    row(
      'BF.INSERT',
      -4,
      '1.0.0',
      'Adds items to a Bloom filter, which is made with the given shape if it is missing.',
      {
        ...growing,
        ...inSlices(insert, hasManyItems),
        deviations: [bounded],
      },
    ),
    row('BF.LOADCHUNK', 4, '1.0.0', 'Restores a part of a Bloom filter that BF.SCANDUMP has returned.', {
      ...growing,
      handler: loadChunk,
    }),
    row('BF.MADD', -3, '1.0.0', 'Adds items to a Bloom filter, which is made if it is missing.', {
      ...growing,
      ...inSlices(addMany, hasManyItems),
      deviations: [bounded],
    }),
    row('BF.MEXISTS', -3, '1.0.0', 'Tells of several items whether they were probably added to a Bloom filter.', {
      ...READS_FAST,
      ...inSlices(containsMany, hasManyItems),
    }),
    row('BF.RESERVE', -4, '1.0.0', 'Makes a Bloom filter for an error rate and a capacity.', {
      ...INSERTS_FAST,
      handler: reserve,
      deviations: [bounded],
    }),
    row('BF.SCANDUMP', 3, '1.0.0', 'Returns a Bloom filter in parts, from an iterator on.', {
      ...READS_FAST,
      handler: dumpChunk,
      deviations: ['A part has at most 1 MiB.'],
    }),
  ],
  SKETCHES_FORMAT_LEVEL,
);
