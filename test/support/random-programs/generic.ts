/** Commands about keys, on values of every kind. */
import type { Program } from './dice.js';

const KEYS = ['s', 'l', 'h', 'set', 'z', 'x', 'a', 'b'];

export const genericProgram: Program = (dice) => {
  const key = () => dice.pick(KEYS);
  const word = () => dice.pick(['1', '2', '3', '10', 'a', 'b', '-5', '2.5', 'x y', '']);
  const number = () => dice.pick(['1', '2', '3', '10', '-5', '2.5', '7']);
  const by = () =>
    dice.pick([
      ['BY', 'w_*'],
      ['BY', 'nosort'],
      ['BY', 'h_*->f'],
      ['BY', '*'],
    ]);
  const get = () =>
    dice.pick([
      ['GET', '#'],
      ['GET', 'w_*'],
      ['GET', 'h_*->f'],
      ['GET', 'none'],
    ]);
  const sortOptions = () => [
    // Not both options, because texts of equal weight have no defined order.
    ...(dice.chance(0.4) ? by() : dice.maybe(() => ['ALPHA'], 0.7)),
    ...dice.maybe(() => ['LIMIT', dice.pick(['0', '1', '-1', '5']), dice.pick(['2', '-1', '0', '10'])]),
    ...dice.maybe(get),
    ...dice.maybe(get, 0.2),
    ...dice.maybe(() => [dice.pick(['ASC', 'DESC'])]),
  ];
  const ahead = () => String(dice.ahead() * 1000);
  return [
    () => ['SET', key(), word()],
    () => ['RPUSH', key(), ...dice.some(word, 5)],
    () => ['RPUSH', key(), ...dice.some(number, 6)],
    () => ['HSET', key(), 'f', word(), 'g', word()],
    () => ['SADD', key(), ...dice.some(number, 5)],
    () => ['ZADD', key(), number(), word(), number(), word()],
    () => ['XADD', key(), `${1 + dice.below(30)}-1`, 'f', word()],
    () => ['SET', `w_${word()}`, number()],
    () => ['HSET', `h_${word()}`, 'f', word()],
    () => ['SORT', key(), ...sortOptions()],
    () => ['SORT', key(), ...sortOptions(), 'STORE', key()],
    () => ['SORT_RO', key(), ...sortOptions()],
    () => ['COPY', key(), key(), ...dice.maybe(() => ['REPLACE'])],
    () => [dice.pick(['RENAME', 'RENAMENX']), key(), key()],
    () => [dice.pick(['DEL', 'UNLINK', 'EXISTS', 'TOUCH']), key(), key()],
    () => [dice.pick(['TYPE', 'PERSIST', 'PTTL', 'PEXPIRETIME']), key()],
    () => ['PEXPIRE', key(), ahead(), ...dice.maybe(() => [dice.pick(['NX', 'XX', 'GT', 'LT'])])],
    () => ['SCAN', '0', 'COUNT', '1000', ...dice.maybe(() => ['TYPE', dice.pick(['list', 'hash', 'zset', 'no'])])],
    () => ['KEYS', dice.pick(['*', '?', 'w_*', '[a-h]'])],
    () => ['DBSIZE'],
    () => ['OBJECT', 'REFCOUNT', dice.pick(['l', 'h', 'none'])],
  ];
};
