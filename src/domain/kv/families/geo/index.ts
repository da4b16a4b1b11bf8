/** The Geo family: sorted sets whose scores are places. */
import { at, type CommandSpec, family, found, several } from '../../command-spec.js';
import { NIL_ARRAY } from '../../reply.js';
import { inSlices } from '../../slices.js';
import { SORTED_SET } from '../sorted-set/index.js';
import { add, distanceBetween, hashes, positions } from './members.js';
import { isLongSearch, keysOfRadius, radiusSearches, searching } from './search.js';

const read = ['readonly'] as const;
const write = ['write', 'denyoom'] as const;

const ZADD = SORTED_SET.find(({ name }) => name === 'ZADD') as CommandSpec;

export const GEO: readonly CommandSpec[] = family('geo', [
  {
    name: 'GEOADD',
    arity: -5,
    flags: write,
    keys: at(1),
    ...inSlices(add(ZADD)),
    since: '3.2.0',
    summary: 'Adds members at places, or moves them.',
  },
  {
    name: 'GEOPOS',
    arity: -2,
    flags: read,
    keys: at(1),
    ...inSlices(positions(NIL_ARRAY)),
    since: '3.2.0',
    summary: 'Returns longitude and latitude of members.',
  },
  {
    name: 'GEOHASH',
    arity: -2,
    flags: read,
    keys: at(1),
    ...inSlices(hashes),
    since: '3.2.0',
    summary: 'Returns the places of members as geohash strings.',
  },
  {
    name: 'GEODIST',
    arity: -4,
    flags: read,
    keys: at(1),
    handler: distanceBetween,
    since: '3.2.0',
    summary: 'Returns the distance between two members.',
  },
  {
    name: 'GEOSEARCH',
    arity: -7,
    flags: read,
    keys: at(1),
    ...inSlices(searching({ kind: 'search', stores: 'never' }), isLongSearch(1)),
    since: '6.2.0',
    summary: 'Returns the members within a circle or a box.',
  },
  {
    name: 'GEOSEARCHSTORE',
    arity: -8,
    flags: write,
    keys: several(at(1, 'write'), at(2, 'read')),
    ...inSlices(searching({ kind: 'search', stores: 'always' }), isLongSearch(2)),
    since: '6.2.0',
    summary: 'Stores the members within a circle or a box.',
  },
  {
    name: 'GEORADIUS',
    arity: -6,
    flags: write,
    keys: found(keysOfRadius(6), ...radiusSearches(6)),
    ...inSlices(searching({ kind: 'around-place', stores: 'option' }), isLongSearch(1)),
    since: '3.2.0',
    summary: 'Returns or stores the members within a circle around a place.',
  },
  {
    name: 'GEORADIUS_RO',
    arity: -6,
    flags: read,
    keys: at(1),
    ...inSlices(searching({ kind: 'around-place', stores: 'never' }), isLongSearch(1)),
    since: '3.2.10',
    summary: 'Returns the members within a circle around a place.',
  },
  {
    name: 'GEORADIUSBYMEMBER',
    arity: -5,
    flags: write,
    keys: found(keysOfRadius(5), ...radiusSearches(5)),
    ...inSlices(searching({ kind: 'around-member', stores: 'option' }), isLongSearch(1)),
    since: '3.2.0',
    summary: 'Returns or stores the members within a circle around a member.',
  },
  {
    name: 'GEORADIUSBYMEMBER_RO',
    arity: -5,
    flags: read,
    keys: at(1),
    ...inSlices(searching({ kind: 'around-member', stores: 'never' }), isLongSearch(1)),
    since: '3.2.10',
    summary: 'Returns the members within a circle around a member.',
  },
]);
