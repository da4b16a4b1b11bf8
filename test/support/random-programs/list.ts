/** Every list command, with few keys and elements, so that commands affect each other. */
import type { Program } from './dice.js';

export const LIST_PROGRAM: Program = (dice, major) => {
  const key = () => dice.pick(['l1', 'l2', 'l3', 'l4', 'text', 'none']);
  const item = () => dice.pick(['a', 'b', 'c', '', '1', '-7', '123456', '99999999999', '\xff\x00', 'x'.repeat(70)]);
  const items = () => dice.some(item, 5);
  const index = () => dice.pick(['0', '1', '2', '5', '-1', '-2', '-9', '40', '1000', 'x', '2147483647']);
  const end = () => dice.pick(['LEFT', 'RIGHT', 'left', 'UP']);
  const count = () => dice.pick(['0', '1', '2', '7', '-1', '-3', '1000', 'y']);
  const bad = (word: string) => (dice.chance(0.05) ? 'nonsense' : word);
  // Redis 7.0 accepts the smallest integer, and checks the key before it parses numbers.
  const oldest = major > 7 ? ['-9223372036854775808'] : [];
  return [
    () => ['RPUSH', key(), ...items()],
    () => ['RPUSH', key(), ...items()],
    () => ['LPUSH', key(), ...items()],
    () => ['LPUSHX', key(), ...items()],
    () => ['RPUSHX', key(), ...items()],
    () => ['RPUSH', 'l1', ...Array.from({ length: 200 }, item)],
    () => ['LPOP', key(), ...dice.maybe(() => [count()])],
    () => ['RPOP', key(), ...dice.maybe(() => [count()])],
    () => ['LPOP', key(), '1', '2'],
    () => ['LLEN', key()],
    () => ['LINDEX', key(), index()],
    () => ['LSET', key(), index(), item()],
    () => ['LINSERT', key(), bad(dice.pick(['BEFORE', 'AFTER', 'after'])), item(), item()],
    () => ['LRANGE', key(), index(), index()],
    () => ['LTRIM', dice.pick(['l1', 'l2', 'l3', 'none', 'text']), index(), dice.pick(['-1', '-2', '30', index()])],
    () => ['LREM', key(), dice.pick([...oldest, count()]), item()],
    () => [
      'LPOS',
      key(),
      item(),
      ...dice.maybe(() => ['RANK', dice.pick([...oldest, '1', '2', '-1', '-2', '0', 'x'])]),
      ...dice.maybe(() => ['COUNT', count()]),
      ...dice.maybe(() => ['MAXLEN', count()]),
      ...dice.maybe(() => ['RANK'], 0.05),
    ],
    () => ['LMOVE', key(), key(), end(), end()],
    () => ['RPOPLPUSH', key(), key()],
    () => ['LMPOP', dice.pick(['1', '2', '0', '3', 'x']), key(), key(), end(), ...dice.maybe(() => ['COUNT', count()])],
    () => ['LMPOP', '1', key(), end(), ...dice.maybe(() => ['COUNT', count()])],
    // Rarely, and on keys that usually have elements, because a server checks timeouts only ten times a second.
    () =>
      dice.pick([
        ['BLPOP', 'l1', key(), bad('0.001')],
        ['BRPOP', 'l2', 'l1', dice.pick(['-1', 'x', '0.001'])],
        ['BLMOVE', dice.pick(['l1', 'text']), key(), end(), end(), bad('0.001')],
        ['BRPOPLPUSH', 'l1', key(), '0.001'],
        ['BLMPOP', '0.001', '2', 'l1', key(), end(), ...dice.maybe(() => ['COUNT', count()])],
      ]),
    () => ['SET', 'text', 'x'],
    () => ['PEXPIRE', key(), String(dice.ahead() * 1000)],
    () => ['DEL', dice.pick(['l1', 'l2', 'l4'])],
    () => ['TYPE', key()],
  ];
};
