/** The Vector index family: vectors by id under one key, and the search for the nearest. An extension to Redis. */

import { INDEXES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import { DELETES_FAST, family, GROWS, GROWS_FAST, LOOKS_FAST, NOT_IN_REDIS, READS, READS_FAST, row } from '../rows.js';
import { add, count, create, drop, get, info, isLongQuery, query, remove } from './handlers.js';

export const VECTOR: readonly CommandSpec[] = family(
  'vector',
  [
    row('VECTOR.ADD', -5, NOT_IN_REDIS, 'Adds a vector to an index, or replaces it.', {
      ...GROWS,
      keyUse: ['RW update'],
      handler: add,
      deviations: ['An index ends at 100 MB: beyond it `max single record size exceeded`.'],
    }),
    row('VECTOR.COUNT', 2, NOT_IN_REDIS, 'Returns the number of vectors in an index.', {
      ...LOOKS_FAST,
      handler: count,
    }),
    row('VECTOR.CREATE', -6, NOT_IN_REDIS, 'Makes a vector index of a dimension and a metric.', {
      ...GROWS_FAST,
      keyUse: ['RW insert'],
      handler: create,
    }),
    row('VECTOR.DEL', 3, NOT_IN_REDIS, 'Removes a vector from an index.', { ...DELETES_FAST, handler: remove }),
    row('VECTOR.DROP', 2, NOT_IN_REDIS, 'Removes a vector index.', { ...DELETES_FAST, handler: drop }),
    row('VECTOR.GET', 3, NOT_IN_REDIS, 'Returns the elements of a vector.', { ...READS_FAST, handler: get }),
    row('VECTOR.INFO', 2, NOT_IN_REDIS, 'Returns the dimension and the metric of an index.', {
      ...READS_FAST,
      handler: info,
    }),
    row('VECTOR.QUERY', -5, NOT_IN_REDIS, 'Returns the vectors that are nearest to another, with scores.', {
      ...READS,
      ...inSlices(query, isLongQuery),
      deviations: [
        'Above 10,000 vectors FAST and BALANCED, the default, search a graph, which finds nearly all of the nearest; PRECISE compares all vectors.',
      ],
    }),
  ],
  INDEXES_FORMAT_LEVEL,
);
