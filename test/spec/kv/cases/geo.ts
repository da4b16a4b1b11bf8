import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { SYNTAX, WRONG_TYPE, wrongArity } from './texts.js';

const SICILY = 'GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania';
const PALERMO = ['13.361389338970184', '38.1155563954963'];
const ADDED = 'ZADD g 3479099956230698 Palermo 3479447370796909 Catania';
const AROUND = '15 37 200 km';

const ARITY: readonly (readonly [string, string])[] = [
  ['GEOADD', 'g 1 1'],
  ['GEOPOS', ''],
  ['GEOHASH', ''],
  ['GEODIST', 'g a'],
  ['GEOSEARCH', 'g FROMMEMBER a BYRADIUS 1'],
  ['GEOSEARCHSTORE', 'd g FROMMEMBER a BYRADIUS 1'],
  ['GEORADIUS', 'g 1 1 1'],
  ['GEORADIUS_RO', 'g 1 1 1'],
  ['GEORADIUSBYMEMBER', 'g a 1'],
  ['GEORADIUSBYMEMBER_RO', 'g a 1'],
];

export const GEO_CASES: readonly KvCase[] = [
  ...ARITY.map(([name, words]) =>
    kvCase(
      `${name} refuses a wrong number of words`,
      [],
      `${name} ${words}`.trim(),
      wrongArity(name.toLowerCase()),
      [],
    ),
  ),
  kvCase('GEOADD records scores', [], SICILY, 2, [ADDED]),
  kvCase('GEOADD XX CH counts moves', [SICILY], 'GEOADD g XX CH 13 38 Palermo 1 1 x', 1),
  kvCase('GEOADD refuses NX with XX', [], 'GEOADD g NX XX 1 1 a', SYNTAX, []),
  kvCase(
    'GEOADD refuses coordinates out of range',
    [],
    'GEOADD g 200 10 a',
    '-ERR invalid longitude,latitude pair 200.000000,10.000000',
    [],
  ),
  kvCase('GEOADD refuses another type', ['SET g v'], 'GEOADD g 1 1 a', WRONG_TYPE, []),
  kvCase('GEOADD stores cell numbers as scores', [SICILY], 'ZSCORE g Palermo', '3479099956230698'),
  kvCase('GEOPOS answers places', [SICILY], 'GEOPOS g Palermo x', [PALERMO, null]),
  kvCase('GEOPOS of a missing key', [], 'GEOPOS g a', [null]),
  kvCase('GEOHASH answers geohash strings', [SICILY], 'GEOHASH g Palermo x Catania', [
    'sqc8b49rny0',
    null,
    'sqdtr74hyu0',
  ]),
  kvCase('GEODIST answers metres', [SICILY], 'GEODIST g Palermo Catania', '166274.1516'),
  kvCase('GEODIST answers kilometres', [SICILY], 'GEODIST g Palermo Catania km', '166.2742'),
  kvCase('GEODIST answers null for a missing member', [SICILY], 'GEODIST g Palermo x', null),
  kvCase(
    'GEODIST refuses an unknown unit',
    [SICILY],
    'GEODIST g Palermo Catania cm',
    '-ERR unsupported unit provided. please use M, KM, FT, MI',
  ),
  kvCase('GEOSEARCH finds in a circle', [SICILY], 'GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC', [
    'Catania',
    'Palermo',
  ]),
  kvCase('GEOSEARCH finds in a box', [SICILY], 'GEOSEARCH g FROMMEMBER Palermo BYBOX 400 400 km DESC COUNT 1', [
    'Catania',
  ]),
  kvCase(
    'GEOSEARCH shows distance, hash and place in this order',
    [SICILY],
    'GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km WITHCOORD WITHHASH WITHDIST COUNT 1 DESC',
    [['Palermo', '190.4424', 3479099956230698, PALERMO]],
  ),
  kvCase('GEOSEARCH of a missing key', [], 'GEOSEARCH g FROMMEMBER a BYRADIUS 1 km', []),
  kvCase(
    'GEOSEARCH needs a centre',
    [SICILY],
    'GEOSEARCH g BYRADIUS 1 km ASC ASC',
    '-ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCH',
  ),
  kvCase(
    'GEOSEARCH refuses ANY without COUNT',
    [SICILY],
    'GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 km ANY',
    '-ERR the ANY argument requires COUNT argument',
  ),
  kvCase(
    'GEOSEARCH refuses a missing member',
    [SICILY],
    'GEOSEARCH g FROMMEMBER x BYRADIUS 1 km',
    '-ERR could not decode requested zset member',
  ),
  kvCase(
    'GEOSEARCHSTORE stores the members that it finds',
    [SICILY],
    'GEOSEARCHSTORE d g FROMMEMBER Palermo BYRADIUS 1 km',
    1,
    ['ZADD d 3479099956230698 Palermo'],
  ),
  kvCase(
    'GEOSEARCHSTORE stores distances',
    [SICILY],
    'GEOSEARCHSTORE d g FROMMEMBER Palermo BYRADIUS 1 km STOREDIST',
    1,
    ['ZADD d 0 Palermo'],
  ),
  kvCase(
    'GEOSEARCHSTORE of an empty result removes the destination',
    ['SET d v'],
    'GEOSEARCHSTORE d g FROMMEMBER a BYRADIUS 1 km',
    0,
    ['DEL d'],
  ),
  kvCase('GEORADIUS finds members', [SICILY], `GEORADIUS g ${AROUND} WITHDIST ASC`, [
    ['Catania', '56.4413'],
    ['Palermo', '190.4424'],
  ]),
  kvCase('GEORADIUS STORE stores the members that it finds', [SICILY], `GEORADIUS g ${AROUND} STORE d COUNT 1`, 1, [
    'ZADD d 3479447370796909 Catania',
  ]),
  kvCase(
    'GEORADIUS STORE refuses WITHDIST',
    [SICILY],
    `GEORADIUS g ${AROUND} STORE d WITHDIST`,
    '-ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options',
  ),
  kvCase('GEORADIUS_RO finds members', [SICILY], `GEORADIUS_RO g ${AROUND} COUNT 1 ANY`, (reply) =>
    Array.isArray(reply),
  ),
  kvCase('GEORADIUS_RO refuses STORE', [SICILY], `GEORADIUS_RO g ${AROUND} STORE d`, SYNTAX, []),
  kvCase('GEORADIUSBYMEMBER finds members', [SICILY], 'GEORADIUSBYMEMBER g Palermo 1 km', ['Palermo']),
  kvCase('GEORADIUSBYMEMBER_RO finds members', [SICILY], 'GEORADIUSBYMEMBER_RO g Catania 1 mi', ['Catania']),
  kvCase(
    'GEODIST refuses a word too many before it looks at the unit',
    [],
    'GEODIST g a b x y',
    '-ERR syntax error',
    [],
  ),
];
