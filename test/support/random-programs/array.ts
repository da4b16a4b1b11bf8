/**
 * Commands of the Array family on few keys, with indexes near each other and at the limits of pages and 64-bit
 * numbers.
 */
import type { Program } from './dice.js';

export const ARRAY_KEYS = ['k', 'l', 'm'];
const FAR = ['4095', '4096', '8191', '1000000', '9007199254740991', '9007199254740992', '18446744073709551614'];
const BAD = ['-1', 'x', '', '18446744073709551615', '1.5'];
const VALUES = ['a', 'B', '1', '2.5', '-7', '9223372036854775807', '1e300', 'inf', '', '\x00\xff', 'x'.repeat(100)];

export const arrayProgram: Program = (dice) => {
  const key = (): string => (dice.chance(0.03) ? 'text' : dice.pick(ARRAY_KEYS));
  const near = (): string => String(dice.below(12));
  const index = (): string => {
    if (dice.chance(0.02)) return dice.pick(BAD);
    return dice.chance(0.2) ? dice.pick(FAR) : near();
  };
  const value = (): string => dice.pick(VALUES);
  const limit = (): string[] => dice.maybe(() => ['LIMIT', dice.pick(['1', '2', '3', '0', 'x'])], 0.2);
  const predicate = (): string[] => [
    dice.pick(['EXACT', 'MATCH', 'GLOB', 'RE']),
    dice.pick(['a', 'b', '1', '*', 'x{2}', '^', '']),
  ];
  return [
    () => ['ARSET', key(), index(), ...dice.some(value, 4)],
    () => ['ARSET', key(), String(4090 + dice.below(5)), ...dice.some(value, 9)],
    () => ['ARMSET', key(), ...dice.some(index, 4).flatMap((at) => [at, value()])],
    () => ['ARINSERT', key(), ...dice.some(value, 4)],
    () => ['ARRING', key(), dice.pick(['1', '2', '3', '5', '8', '0', 'x']), ...dice.some(value, 4)],
    () => ['ARRING', key(), dice.pick(['3', '4']), ...dice.some(value, 6)],
    () => ['ARSEEK', key(), dice.pick(['0', '1', near(), index(), '18446744073709551615'])],
    () => ['ARDEL', key(), ...dice.some(index, 4)],
    () => ['ARDELRANGE', key(), ...dice.some(() => 'range', 2).flatMap(() => [index(), index()])],
    () => ['ARGET', key(), index()],
    () => ['ARMGET', key(), ...dice.some(index, 4)],
    () => ['ARGETRANGE', key(), near(), near()],
    () => ['ARSCAN', key(), index(), index(), ...limit()],
    () => ['ARGREP', key(), dice.pick(['-', '+', near()]), dice.pick(['+', '-', index()]), ...predicate(), ...limit()],
    () => ['AROP', key(), index(), index(), dice.pick(['SUM', 'MIN', 'MAX', 'AND', 'OR', 'XOR', 'USED', 'FOO'])],
    () => ['AROP', key(), index(), index(), 'MATCH', value()],
    () => [dice.pick(['ARLEN', 'ARCOUNT', 'ARNEXT', 'ARINFO', 'DUMP', 'TYPE']), key()],
    () => ['ARLASTITEMS', key(), dice.pick(['1', '3', '9', '0', 'x']), ...dice.maybe(() => ['REV'])],
    () => ['COPY', dice.pick(ARRAY_KEYS), dice.pick(ARRAY_KEYS), 'REPLACE'],
    () => [dice.pick(['DEL', 'PERSIST']), key()],
    () => ['EXPIRE', key(), String(dice.ahead())],
    () => ['SET', 'text', 'a string'],
  ];
};
