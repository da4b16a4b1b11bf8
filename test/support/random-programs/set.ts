/** Every set command, with few keys and members, integers and words. */
import type { Program } from './dice.js';

const KEYS = ['s', 't', 'u', '{s}v'];
const MEMBERS = ['a', 'b', 'c', '1', '2', '-3', '01', '', '\x00\xff', '9223372036854775807', 'x'.repeat(70)];
const COUNTS = ['0', '1', '2', '3', 'x', '-1', '9'];

export const setProgram: Program = (dice, major) => {
  const key = (): string => (dice.chance(0.03) ? 'text' : dice.pick(KEYS));
  const member = (): string => (dice.chance(0.1) ? `m${dice.below(300)}`.padEnd(300, '.') : dice.pick(MEMBERS));
  const keys = (): string[] => dice.some(key, 3);
  return [
    () => ['SADD', key(), ...dice.some(member, 5)],
    () => ['SADD', key(), ...dice.some(member, 5)],
    () => ['SADD', key(), ...dice.some(() => dice.pick(['1', '2', '3', '44']), 3)],
    () => ['SREM', key(), ...dice.some(member, 4)],
    () => ['SMOVE', key(), key(), member()],
    () => [dice.pick(['SCARD', 'SMEMBERS']), key()],
    () => ['SISMEMBER', key(), member()],
    () => ['SMISMEMBER', key(), ...dice.some(member, 4)],
    () => [dice.pick(['SINTER', 'SUNION', 'SDIFF']), ...keys()],
    () => [dice.pick(['SINTERSTORE', 'SUNIONSTORE', 'SDIFFSTORE']), key(), ...keys()],
    () => {
      const given = keys();
      const count = dice.chance(0.1) ? dice.pick(COUNTS) : String(given.length);
      const limit = dice.maybe(() => ['LIMIT', dice.pick(COUNTS)]);
      return ['SINTERCARD', count, ...given, ...limit, ...dice.maybe(() => [dice.pick(['LIMIT', 'FOO'])], 0.05)];
    },
    () => ['SPOP', key(), dice.pick(['1000', '0', '-1', 'x', '9223372036854775807', '9223372036854775808'])],
    () => ['SPOP', key(), '1000', 'extra'].slice(0, dice.chance(0.9) ? 3 : 4),
    () => ['SRANDMEMBER', key(), dice.pick(['1000', '0', 'x', '-9223372036854775808'])],
    () => ['SRANDMEMBER', key(), '1000', 'extra'],
    () => [
      'SSCAN',
      key(),
      dice.pick(['0', '0', '0', 'x', '18446744073709551616']),
      ...dice.maybe(() => ['MATCH', dice.pick(['*', 'a', '[a-c]', '?', 'm*'])]),
      ...dice.maybe(() => ['COUNT', dice.pick(['0', '-1', 'x'])], 0.1),
      ...dice.maybe(() => [major < 8 ? 'FOO' : dice.pick(['NOVALUES', 'FOO'])], 0.1),
      'COUNT',
      '5000',
    ],
    () => [dice.pick(['DEL', 'PERSIST', 'TYPE', 'EXISTS']), key()],
    () => ['EXPIRE', key(), String(dice.ahead())],
    () => ['SET', 'text', 'a string'],
  ];
};
