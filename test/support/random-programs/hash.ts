/** Every hash command, with few fields that collide and values of every number type. */
import type { Dice, Program } from './dice.js';

const KEYS = ['h', 'i', '{h}j'];
const FIELDS = ['a', 'b', 'c', 'd', '1', ''];
const VALUES = [
  '',
  '0',
  '5',
  '-1',
  '3.5',
  '1e3',
  'abc',
  '9223372036854775807',
  '-9223372036854775808',
  '\x00\xff',
  'x'.repeat(70),
  'y'.repeat(300),
  'inf',
];
const NUMBERS = ['1', '-1', '0', '10', '2.5', 'x', '', '9223372036854775807', '1e400', 'inf', 'nan', ' 1'];
const BAD_COUNTS = ['0', '-1', 'x', '3', '2147483648', '01'];

export const hashProgram: Program = (dice, major) => {
  const key = (): string => (dice.chance(0.03) ? 's' : dice.pick(KEYS));
  const field = (): string => dice.pick(FIELDS);
  const value = (): string => dice.pick(VALUES);
  const pairs = (): string[] => dice.some(field, 4).flatMap((name) => [name, value()]);
  const shapes = [
    () => ['HSET', key(), ...pairs()],
    () => ['HSET', key(), ...pairs()],
    () => ['HMSET', key(), ...pairs()],
    () => [dice.pick(['HSET', 'HMSET']), key(), ...pairs(), 'odd'],
    () => ['HSETNX', key(), field(), value()],
    () => ['HGET', key(), field()],
    () => ['HMGET', key(), ...dice.some(field, 4)],
    () => [dice.pick(['HGETALL', 'HKEYS', 'HVALS', 'HLEN']), key()],
    () => [dice.pick(['HEXISTS', 'HSTRLEN']), key(), field()],
    () => ['HDEL', key(), ...dice.some(field, 3)],
    () => ['HINCRBY', key(), field(), dice.pick(NUMBERS)],
    () => ['HINCRBYFLOAT', key(), field(), dice.pick(NUMBERS)],
    () => ['HRANDFIELD', key(), dice.pick(['100', '0', 'x', '-9223372036854775808', '']), ...withValues(dice)],
    () => ['HSCAN', key(), dice.pick(['0', '0', '0', 'x', '1x']), ...scanOptions(dice, major)],
    () => [dice.pick(['DEL', 'PERSIST', 'TYPE', 'EXISTS']), key()],
    () => ['EXPIRE', key(), String(dice.ahead())],
    () => ['SET', 's', 'a string'],
  ];
  return major < 8 ? shapes : [...shapes, ...expiryShapes(dice, key, field, value)];
};

function expiryShapes(dice: Dice, key: () => string, field: () => string, value: () => string): (() => string[])[] {
  const fields = (word = 'FIELDS'): string[] => {
    const names = dice.some(field, 3);
    return [word, dice.chance(0.05) ? dice.pick(BAD_COUNTS) : String(names.length), ...names];
  };
  const entries = (): string[] => {
    // Each field once, because redis-server 8.6 crashes if an expiring field is named twice here.
    const names = [...new Set(dice.some(field, 3))];
    const count = dice.chance(0.05) ? dice.pick(BAD_COUNTS) : String(names.length);
    return ['FIELDS', count, ...names.flatMap((name) => [name, value()])];
  };
  const word = (): string => (dice.chance(0.03) ? 'FILEDS' : 'FIELDS');
  const condition = (): string[] =>
    dice.maybe(() => dice.some(() => dice.pick(['NX', 'XX', 'gt', 'LT', 'FOO']), 2), 0.5);
  const seconds = (): string =>
    dice.chance(0.1) ? dice.pick(['0', '-1', 'x', '9223372036854775807']) : String(dice.ahead());
  const inMs = (): string => (dice.chance(0.1) ? dice.pick(['0', '-1', 'x', '70368744177664']) : `${dice.ahead()}000`);
  const instant = (): string => (dice.chance(0.15) ? '5' : String(Math.floor(Date.now() / 1000) + dice.ahead()));
  const instantMs = (): string => (dice.chance(0.15) ? '5' : `${Math.floor(Date.now() / 1000) + dice.ahead()}000`);
  const time = (): string[] =>
    dice.pick([
      () => ['EX', seconds()],
      () => ['PX', inMs()],
      () => ['EXAT', instant()],
      () => ['PXAT', instantMs()],
    ])();
  const mixed = (options: string[], behind: string[]): string[] =>
    dice.chance(0.2) ? [...behind, ...options] : [...options, ...behind];
  return [
    () => ['HEXPIRE', key(), seconds(), ...mixed(condition(), fields(word()))],
    () => ['HPEXPIRE', key(), inMs(), ...mixed(condition(), fields(word()))],
    () => ['HEXPIREAT', key(), instant(), ...mixed(condition(), fields(word()))],
    () => ['HPEXPIREAT', key(), instantMs(), ...mixed(condition(), fields(word()))],
    () => ['HPERSIST', key(), ...fields(word())],
    () => [dice.pick(['HTTL', 'HPTTL', 'HEXPIRETIME', 'HPEXPIRETIME']), key(), ...fields(word())],
    () => ['HGETDEL', key(), ...fields(word())],
    () => [
      'HGETEX',
      key(),
      ...mixed(dice.pick([() => [], time, () => ['PERSIST'], () => ['KEEPTTL'], () => ['FXX']])(), fields()),
    ],
    () => ['HGETEX', key(), ...mixed(time(), [...dice.maybe(() => ['PERSIST'], 0.2), ...fields(word())])],
    () => [
      'HSETEX',
      key(),
      ...dice.maybe(() => dice.some(() => dice.pick(['FNX', 'FXX']), 2)),
      ...mixed(dice.pick([() => [], time, () => ['KEEPTTL'], () => ['PERSIST']])(), entries()),
    ],
    () => ['HSETEX', key(), ...mixed(dice.pick([() => [], time, () => ['KEEPTTL']])(), entries())],
    () => ['HSETEX', key(), ...time(), ...dice.maybe(() => ['FXX'], 0.2), ...entries().slice(0, 4)],
  ];
}

function withValues(dice: Dice): string[] {
  return dice.maybe(() => [dice.pick(['WITHVALUES', 'withvalues', 'FOO'])]);
}

function scanOptions(dice: Dice, major: number): string[] {
  return [
    ...dice.maybe(() => ['MATCH', dice.pick(['*', 'a', '[a-c]', '?', 'z*'])]),
    ...dice.maybe(() => ['COUNT', dice.pick(['1000', '0', '-1', 'x'])]),
    ...dice.maybe(() => [major < 8 ? 'FOO' : dice.pick(['NOVALUES', 'FOO'])], 0.15),
  ];
}
