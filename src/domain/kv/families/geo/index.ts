/** The Geo family: sorted sets with positions encoded as scores. */

import { at, found, several } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { NIL_ARRAY } from '../../reply.js';
import { inSlices } from '../../slices.js';
import { family, GROWS, READS, row } from '../rows.js';
import { SORTED_SET } from '../sorted-set/index.js';
import { add, distanceBetween, hashes, positions } from './members.js';
import { isLongSearch, keysOfRadius, radiusSearches, searching } from './search.js';

const ZADD = SORTED_SET.find(({ name }) => name === 'ZADD') as CommandSpec;

export const GEO: readonly CommandSpec[] = family('geo', [
  row('GEOADD', -5, '3.2.0', 'Adds members at places, or moves them.', { ...GROWS, ...inSlices(add(ZADD)) }),
  row('GEOPOS', -2, '3.2.0', 'Returns longitude and latitude of members.', {
    ...READS,
    ...inSlices(positions(NIL_ARRAY)),
  }),
  row('GEOHASH', -2, '3.2.0', 'Returns the places of members as geohash strings.', { ...READS, ...inSlices(hashes) }),
  row('GEODIST', -4, '3.2.0', 'Returns the distance between two members.', { ...READS, handler: distanceBetween }),
  row('GEOSEARCH', -7, '6.2.0', 'Returns the members within a circle or a box.', {
    ...READS,
    ...inSlices(searching({ kind: 'search', stores: 'never' }), isLongSearch(1)),
  }),
  row('GEOSEARCHSTORE', -8, '6.2.0', 'Stores the members within a circle or a box.', {
    ...GROWS,
    keys: several(at(1, 'write'), at(2, 'read')),
    ...inSlices(searching({ kind: 'search', stores: 'always' }), isLongSearch(2)),
  }),
  row('GEORADIUS', -6, '3.2.0', 'Returns or stores the members within a circle around a place.', {
    ...GROWS,
    keys: found(keysOfRadius(6), ...radiusSearches(6)),
    ...inSlices(searching({ kind: 'around-place', stores: 'option' }), isLongSearch(1)),
  }),
  row('GEORADIUS_RO', -6, '3.2.10', 'Returns the members within a circle around a place.', {
    ...READS,
    ...inSlices(searching({ kind: 'around-place', stores: 'never' }), isLongSearch(1)),
  }),
  row('GEORADIUSBYMEMBER', -5, '3.2.0', 'Returns or stores the members within a circle around a member.', {
    ...GROWS,
    keys: found(keysOfRadius(5), ...radiusSearches(5)),
    ...inSlices(searching({ kind: 'around-member', stores: 'option' }), isLongSearch(1)),
  }),
  row('GEORADIUSBYMEMBER_RO', -5, '3.2.10', 'Returns the members within a circle around a member.', {
    ...READS,
    ...inSlices(searching({ kind: 'around-member', stores: 'never' }), isLongSearch(1)),
  }),
]);
