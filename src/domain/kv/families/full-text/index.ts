/** The Search family: full-text indexes over the keys of a database. */
import { INDEXES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import { at, NO_KEYS, span } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import { DELETES_FAST, family, NOT_IN_REDIS, READS, row } from '../rows.js';
import { aggregate } from './aggregate.js';
import { create } from './create.js';
import { addAlias, deleteAlias, describe, drop, listAliases, listIndexes, reindex, waitIndexing } from './manage.js';
import { count, query } from './query.js';

const ALWAYS = () => true;
const notOfRedis = 'Redis has no such command; its FT commands are not related.';
/** Its answer shows keys that it does not name. */
const ofPartitions = 'In a database of several partitions, documents with equal scores are in the order of partitions.';
/** In a database of several partitions `acrossIndex` sends it to all of them. */
const OF_INDEX = { acrossPartitions: 'index' } as const;
const asks = {
  ...READS,
  ...OF_INDEX,
  readsUnnamedKeys: true,
  waitsForIndex: 'built',
  deviations: [notOfRedis],
} as const;

export const SEARCH_FAMILY: readonly CommandSpec[] = family(
  'search',
  [
    row('SEARCH.CREATE', -8, NOT_IN_REDIS, 'Creates an index over the keys with some prefixes.', {
      flags: ['write', 'denyoom'],
      keys: at(1),
      keyUse: ['RW insert'],
      ...OF_INDEX,
      handler: create,
      deviations: [notOfRedis, 'Keys that SKIPINITIALSCAN left out are in the index after a restart or a takeover.'],
    }),
    row('SEARCH.QUERY', -3, NOT_IN_REDIS, 'Returns the documents that match a filter, best first.', {
      ...asks,
      deviations: [notOfRedis, ofPartitions],
      ...inSlices(query, ALWAYS),
    }),
    row('SEARCH.COUNT', 3, NOT_IN_REDIS, 'Counts the documents that match a filter.', {
      ...asks,
      ...inSlices(count, ALWAYS),
    }),
    row('SEARCH.AGGREGATE', 4, NOT_IN_REDIS, 'Computes statistics of the documents that match a filter.', {
      ...asks,
      ...inSlices(aggregate, ALWAYS),
    }),
    row('SEARCH.DESCRIBE', 2, NOT_IN_REDIS, 'Returns the definition of an index, its size and its pending updates.', {
      ...READS,
      ...OF_INDEX,
      handler: describe,
      deviations: [notOfRedis],
    }),
    row('SEARCH.DROP', 2, NOT_IN_REDIS, 'Deletes an index; the keys stay.', {
      ...DELETES_FAST,
      ...OF_INDEX,
      handler: drop,
      deviations: [notOfRedis],
    }),
    row('SEARCH.WAITINDEXING', 2, NOT_IN_REDIS, 'Waits until all earlier changes are in an index.', {
      ...READS,
      waitsForIndex: 'changes',
      ...OF_INDEX,
      ...inSlices(waitIndexing, ALWAYS),
      deviations: [notOfRedis],
    }),
    row('SEARCH.REINDEX', 2, NOT_IN_REDIS, 'Builds the contents of an index again from the keys.', {
      ...READS,
      ...OF_INDEX,
      handler: reindex,
      deviations: [notOfRedis],
    }),
    row('SEARCH.LISTINDEXES', -1, NOT_IN_REDIS, 'Lists the indexes by name.', {
      flags: ['readonly'],
      keys: NO_KEYS,
      ...OF_INDEX,
      handler: listIndexes,
      deviations: [notOfRedis],
    }),
    row('SEARCH.ALIASADD', 3, NOT_IN_REDIS, 'Gives an index another name.', {
      flags: ['write', 'denyoom', 'fast'],
      keys: span(1, 2),
      ...OF_INDEX,
      handler: addAlias,
      deviations: [notOfRedis],
    }),
    row('SEARCH.ALIASDEL', 2, NOT_IN_REDIS, 'Deletes an alias of an index.', {
      ...DELETES_FAST,
      ...OF_INDEX,
      handler: deleteAlias,
      deviations: [notOfRedis],
    }),
    row('SEARCH.LISTALIASES', 1, NOT_IN_REDIS, 'Lists the aliases with their indexes.', {
      flags: ['readonly'],
      keys: NO_KEYS,
      ...OF_INDEX,
      handler: listAliases,
      deviations: [notOfRedis],
    }),
  ],
  INDEXES_FORMAT_LEVEL,
);
