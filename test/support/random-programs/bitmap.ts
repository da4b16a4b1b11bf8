/** Every bitmap command, on short strings and one long string. */
import type { Program } from './dice.js';

export const BITMAP_PROGRAM: Program = (dice, major) => {
  const key = () => dice.pick(['b1', 'b2', 'b3', 'long', 'text', 'none', 'list']);
  const offset = () =>
    dice.pick(['0', '1', '7', '8', '9', '63', '100', '-1', 'x', '4294967296', String(dice.below(400))]);
  const far = () => String(dice.below(200_000));
  // Redis 7.0 checks the key before it parses the range.
  const wrong = (word: string) => (major > 7 ? [word] : []);
  const end = () => dice.pick(['0', '1', '2', '-1', '-2', '-5', '3', '7', '13', '100', '1000', ...wrong('x')]);
  const unit = () => dice.maybe(() => [dice.pick(['BIT', 'BYTE', 'bit', ...wrong('foo')])], 0.5);
  const type = () =>
    dice.pick(['u1', 'u8', 'i8', 'i5', 'u4', 'i16', 'u32', 'i64', 'u63', 'i63', 'u64', 'i65', 'x8', 'i1', 'u0', 'i33']);
  const place = () =>
    dice.pick(['0', '3', '#1', '#0', '#5', '17', '64', '-1', '#-1', 'x', '4294967295', String(dice.below(200))]);
  const number = () =>
    dice.pick([
      '0',
      '1',
      '-1',
      '255',
      '127',
      '128',
      '-128',
      '9223372036854775807',
      '-9223372036854775808',
      '65536',
      'x',
    ]);
  const get = () => ['GET', type(), place()];
  const step = () =>
    dice
      .pick([
        get(),
        ['SET', type(), place(), number()],
        ['INCRBY', type(), place(), number()],
        ['OVERFLOW', dice.pick(['WRAP', 'SAT', 'FAIL', 'sat', 'FOO'])],
        ['OVERFLOW', dice.pick(['SAT', 'FAIL']), 'INCRBY', type(), place(), number()],
        ['INCRBY', 'u2', '100', '1'],
      ])
      .filter((word) => word !== '4294967295');
  const operations = major > 7 ? ['AND', 'OR', 'XOR', 'DIFF', 'DIFF1', 'ANDOR', 'ONE'] : ['AND', 'OR', 'xor'];
  return [
    () => ['SETBIT', key(), offset(), dice.pick(['0', '1', '1', '2', 'x'])],
    () => ['SETBIT', 'b1', String(dice.below(100)), dice.pick(['0', '1'])],
    () => ['SETBIT', 'long', far(), dice.pick(['0', '1'])],
    () => ['GETBIT', 'long', far()],
    () => ['GETBIT', key(), offset()],
    () => ['BITCOUNT', key()],
    () => ['BITCOUNT', key(), end(), end(), ...unit()],
    () => ['BITPOS', key(), dice.pick(['0', '1'])],
    () => ['BITPOS', key(), dice.pick(['0', '1', '2']), end(), ...dice.maybe(() => [end(), ...unit()], 0.7)],
    () => ['BITOP', dice.pick(operations), key(), key(), key(), ...dice.maybe(() => [key()])],
    () => ['BITOP', 'NOT', key(), key()],
    () => ['BITFIELD', key(), ...step(), ...dice.maybe(step), ...dice.maybe(step)],
    () => ['BITFIELD', 'b2', ...step(), ...step(), ...step()],
    () => ['BITFIELD', 'long', 'INCRBY', 'i13', far(), '77', 'GET', 'u9', far()],
    () => ['BITFIELD_RO', key(), ...get(), ...dice.maybe(get)],
    () => ['BITFIELD_RO', 'long', 'GET', 'u17', far()],
    () => ['BITFIELD_RO', key(), ...step()],
    () => ['SET', 'text', dice.pick(['', 'foobar', '\xff\xff\xff', '\x00\x00\x01', '\xff\xf0\x00'])],
    () => ['SETRANGE', 'long', String(20_000 + dice.below(100)), 'y'],
    () => ['GETRANGE', 'long', '19990', '20100'],
    () => ['STRLEN', 'long'],
    () => ['APPEND', 'long', 'z'],
    () => ['RPUSH', 'list', 'x'],
    () => ['PEXPIRE', key(), String(dice.ahead() * 1000)],
    () => ['DEL', dice.pick(['b1', 'b2', 'b3'])],
  ];
};
