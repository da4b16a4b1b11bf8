/** Geo commands on few keys: every search, shape, unit and option, also at the edges of the map. */
import type { Program } from './dice.js';

const PLACES: readonly (readonly [string, string, string])[] = [
  ['13.361389', '38.115556', 'palermo'],
  ['15.087269', '37.502669', 'catania'],
  ['12.758489', '38.788135', 'edge1'],
  ['17.241510', '38.788135', 'edge2'],
  ['-122.4194', '37.7749', 'sf'],
  ['179.99', '0.5', 'east'],
  ['-179.99', '-0.5', 'west'],
  ['0.25', '0.125', 'null island'],
  ['2.349', '48.864', 'paris'],
  ['4.895', '52.37', 'amsterdam'],
  ['10', '84.9', 'north'],
  ['20', '-84.9', 'south'],
  ['-58.38', '-34.6', 'buenos aires'],
  ['151.2', '-33.86', 'sydney'],
  ['180', '85.05112878', 'corner'],
  ['-180', '-85.05112878', 'other corner'],
];
const BAD_COORDINATES = ['181', '-200', '86', 'x', '', 'nan', 'inf', '1e300'];
const LENGTHS = ['0', '0.1', '1', '50', '100', '200', '500', '1000', '3000', '10000', '25000'];
const BAD_LENGTHS = ['-1', 'x', '', 'nan'];
const UNITS = ['m', 'km', 'KM', 'ft', 'mi', 'km', 'km', 'km'];

export const GEO_PROGRAM: Program = (dice) => {
  const key = (): string =>
    dice.chance(0.03) ? 'text' : dice.chance(0.06) ? 'missing' : dice.pick(['ga', 'gb', 'gc']);
  const destination = (): string => dice.pick(['gd', 'ge', 'text2']);
  const member = (): string => (dice.chance(0.06) ? 'nobody' : dice.pick(PLACES)[2]);
  const place = (): string[] => {
    const [longitude, latitude] = dice.pick(PLACES);
    if (!dice.chance(0.05)) return [longitude, latitude];
    return dice.chance(0.5) ? [dice.pick(BAD_COORDINATES), latitude] : [longitude, dice.pick(BAD_COORDINATES)];
  };
  const anywhere = (width: number): string => (dice.float() * width - width / 2).toFixed(6);
  const length = (): string => (dice.chance(0.03) ? dice.pick(BAD_LENGTHS) : dice.pick(LENGTHS));
  const unit = (): string => (dice.chance(0.03) ? dice.pick(['x', 'cm']) : dice.pick(UNITS));
  const circle = (): string[] => [length(), unit()];
  const count = (): string[] =>
    dice.maybe(() => [
      'COUNT',
      dice.pick(['1', '2', '3', '100', '100', dice.pick(['0', '-1', 'x'])]),
      ...dice.maybe(() => ['ANY'], 0.2),
    ]);
  const order = (): string[] => dice.maybe(() => [dice.pick(['ASC', 'DESC', 'asc'])]);
  const shown = (): string[] => [
    ...dice.maybe(() => ['WITHDIST']),
    ...dice.maybe(() => ['WITHCOORD']),
    ...dice.maybe(() => ['withhash']),
  ];
  const rubbish = (): string[] => dice.maybe(() => [dice.pick(['FOO', 'ANY', 'STORE', 'COUNT', 'WITHDIST'])], 0.03);
  const stored = (): string[] => dice.maybe(() => [dice.pick(['STORE', 'store']), destination()], 0.15);
  const from = (): string[] => (dice.chance(0.5) ? ['FROMMEMBER', member()] : ['FROMLONLAT', ...place()]);
  const by = (): string[] => (dice.chance(0.5) ? ['BYRADIUS', ...circle()] : ['BYBOX', length(), length(), unit()]);
  const area = (): string[] => (dice.chance(0.8) ? [...from(), ...by()] : [...by(), ...from()]);
  const shape = (): string[] => (dice.chance(0.04) ? [...from(), ...from(), ...by()] : area());
  return [
    ...Array.from({ length: 4 }, () => () => [
      'GEOADD',
      key(),
      ...dice.maybe(() => [dice.pick(['NX', 'XX', 'CH', 'nx'])], 0.25),
      ...dice.maybe(() => ['CH'], 0.2),
      ...dice.some(() => '', 5).flatMap(() => dice.pick(PLACES)),
      ...rubbish(),
    ]),
    // Two members at one place would have equal distances, which have no defined order.
    () => ['GEOADD', key(), anywhere(360), anywhere(170), member()],
    () => ['GEOADD', key(), dice.pick(BAD_COORDINATES), anywhere(170), member()],
    () => ['ZREM', key(), member()],
    () => ['ZADD', key(), String(dice.below(2 ** 30) * 2 ** 22), `score${dice.below(5)}`],
    () => ['SET', dice.pick(['text', 'text2']), '1'],
    () => ['GEOPOS', key(), ...dice.some(member, 3)],
    () => ['GEOHASH', key(), ...dice.some(member, 3)],
    () => ['GEODIST', key(), member(), member(), ...dice.maybe(() => [unit()]), ...rubbish()],
    ...Array.from({ length: 4 }, () => () => [
      'GEOSEARCH',
      key(),
      ...shape(),
      ...shown(),
      ...count(),
      ...order(),
      ...rubbish(),
    ]),
    () => ['GEOSEARCHSTORE', destination(), key(), ...shape(), ...count(), ...order(), ...rubbish()],
    () => ['GEORADIUS', key(), ...place(), ...circle(), ...shown(), ...count(), ...order(), ...stored(), ...rubbish()],
    () => ['GEORADIUS_RO', key(), ...place(), ...circle(), ...shown(), ...count(), ...order(), ...rubbish()],
    () => ['GEORADIUSBYMEMBER', key(), member(), ...circle(), ...shown(), ...count(), ...order(), ...stored()],
    () => ['GEORADIUSBYMEMBER_RO', key(), member(), ...circle(), ...shown(), ...count(), ...order(), ...stored()],
  ];
};
