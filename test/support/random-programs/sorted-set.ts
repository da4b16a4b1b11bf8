/** Sorted sets: few keys, colliding members, every option, wrong types and bad numbers. */
import type { Program } from './dice.js';

/** Keys with different scores. */
const SCORED = ['za', 'zb', 'zc', 'zd'];
/** Keys with equal scores (0), so that ranges by member are defined. */
const LEXICAL = ['la', 'lb'];
const MEMBERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'aa', 'ab', 'B', '', '\xff', '\x00x', '10', 'long'.repeat(20)];
const SCORES = ['0', '1', '2', '-1', '1.5', '3', '2.25', '1e3', '+inf', '-inf', '10', '0.1', '1e17', '123456789'];
const BAD_SCORES = ['nan', 'x', '', ' 1', '1 ', '1e400', '1e-400', '0x10', 'infinity', '1.', '.5', '(1', '--1'];
const BOUNDS = ['-inf', '+inf', '0', '(0', '1', '(1', '2', '(2', '3', '(3', '10', '1.5', '(1.5', '-1', 'inf'];
const BAD_BOUNDS = ['x', '(x', 'nan', '', '(', '1 ', '((1', '1e400'];
const LEX_BOUNDS = ['-', '+', '[a', '(a', '[b', '(c', '[aa', '(ab', '[f', '[', '(', '[\xff'];
const BAD_LEX_BOUNDS = ['a', '', '++', '-x', '1'];
const INTEGERS = ['0', '1', '2', '3', '5', '-1', '-2', '-5', '100'];
const BAD_INTEGERS = ['x', '', '1.5', '9223372036854775808', ' 1', '9223372036854775807', '-9223372036854775808'];

export const SORTED_SET_PROGRAM: Program = (dice, major) => {
  const key = (): string => (dice.chance(0.03) ? 'text' : dice.chance(0.05) ? 'missing' : dice.pick(SCORED));
  const destination = (): string => dice.pick(['zd', 'ze', 'zc', 'text2']);
  const member = (): string => dice.pick(MEMBERS);
  const score = (): string => (dice.chance(0.04) ? dice.pick(BAD_SCORES) : dice.pick(SCORES));
  const bound = (): string => (dice.chance(0.05) ? dice.pick(BAD_BOUNDS) : dice.pick(BOUNDS));
  const lexBound = (): string => (dice.chance(0.05) ? dice.pick(BAD_LEX_BOUNDS) : dice.pick(LEX_BOUNDS));
  const integer = (): string => (dice.chance(0.05) ? dice.pick(BAD_INTEGERS) : dice.pick(INTEGERS));
  const lexical = (): string => (dice.chance(0.03) ? 'never a set' : dice.pick(LEXICAL));
  const limit = (): string[] => dice.maybe(() => ['LIMIT', integer(), integer()]);
  const withScores = (): string[] => dice.maybe(() => [dice.pick(['WITHSCORES', 'withscores'])]);
  const rubbish = (): string[] => dice.maybe(() => [dice.pick(['FOO', 'NX', 'LIMIT', 'WITHSCORES'])], 0.02);
  const source = (): string => (dice.chance(0.15) ? 'plain' : key());
  const sources = (): string[] => {
    const keys = dice.some(source, 3);
    return [dice.chance(0.03) ? integer() : String(keys.length), ...keys];
  };
  const weights = (count: number): string[] =>
    dice.maybe(() => ['WEIGHTS', ...Array.from({ length: count }, () => dice.pick(['1', '2', '0.5', '-1', '0', 'x']))]);
  const aggregate = (): string[] => dice.maybe(() => ['AGGREGATE', dice.pick(['SUM', 'min', 'MAX', 'MAX', 'AVG'])]);
  const combined = (): string[] => {
    const words = sources();
    return [...words, ...weights(words.length - 1), ...aggregate()];
  };
  const popped = (): string[] => [dice.pick(['MIN', 'MAX', 'min', 'MID']), ...dice.maybe(() => ['COUNT', integer()])];
  const range = (): string[] =>
    dice.pick([
      () => [integer(), integer(), ...dice.maybe(() => ['REV'])],
      () => [bound(), bound(), 'BYSCORE', ...limit()],
      () => [bound(), bound(), 'BYSCORE', 'REV', ...limit()],
      () => [integer(), integer(), ...dice.maybe(() => ['LIMIT', '0', '-1'], 0.1), ...dice.maybe(limit, 0.05)],
    ])();
  return [
    ...Array.from({ length: 6 }, () => () => [
      'ZADD',
      key(),
      ...dice.some(() => '', 5).flatMap(() => [score(), member()]),
    ]),
    () => [
      'ZADD',
      key(),
      ...dice.maybe(() => [dice.pick(['NX', 'XX', 'nx'])]),
      ...dice.maybe(() => [dice.pick(['GT', 'LT', 'gt'])]),
      ...dice.maybe(() => ['CH']),
      ...dice.maybe(() => ['INCR'], 0.2),
      ...dice.some(() => '', 2).flatMap(() => [score(), member()]),
      ...rubbish(),
    ],
    () => ['ZADD', dice.pick(LEXICAL), ...dice.some(() => '', 5).flatMap(() => ['0', member()])],
    () => ['ZADD', key(), ...Array.from({ length: 70 }, (_, i) => [String(i % 20), `m${i + dice.below(3)}`]).flat()],
    () => ['SADD', 'plain', ...dice.some(member, 4)],
    () => ['SREM', 'plain', ...dice.some(member, 2)],
    () => ['SET', dice.pick(['text', 'text2', 'never a set']), '1'],
    () => ['DEL', key()],
    () => ['ZREM', key(), ...dice.some(member, 3)],
    () => ['ZINCRBY', key(), score(), member()],
    () => ['ZCARD', key()],
    () => ['ZSCORE', key(), member()],
    () => ['ZMSCORE', key(), ...dice.some(member, 3)],
    () => ['ZCOUNT', key(), bound(), bound()],
    () => ['ZLEXCOUNT', lexical(), lexBound(), lexBound()],
    () => [dice.pick(['ZRANK', 'ZREVRANK']), key(), member(), ...(major >= 8 ? dice.maybe(() => ['WITHSCORE']) : [])],
    () => ['ZRANGE', key(), ...range(), ...withScores(), ...rubbish()],
    () => [
      'ZRANGE',
      lexical(),
      lexBound(),
      lexBound(),
      'BYLEX',
      ...dice.maybe(() => ['REV']),
      ...limit(),
      ...rubbish(),
    ],
    () => ['ZRANGESTORE', destination(), key(), ...range(), ...rubbish()],
    () => ['ZRANGESTORE', destination(), lexical(), lexBound(), lexBound(), 'BYLEX', ...limit()],
    () => [dice.pick(['ZRANGEBYSCORE', 'ZREVRANGEBYSCORE']), key(), bound(), bound(), ...withScores(), ...limit()],
    () => [dice.pick(['ZRANGEBYLEX', 'ZREVRANGEBYLEX']), lexical(), lexBound(), lexBound(), ...limit(), ...rubbish()],
    () => ['ZREVRANGE', key(), integer(), integer(), ...withScores(), ...rubbish()],
    () => ['ZREMRANGEBYRANK', key(), integer(), integer()],
    () => ['ZREMRANGEBYSCORE', key(), bound(), bound()],
    () => ['ZREMRANGEBYLEX', lexical(), lexBound(), lexBound()],
    () => [dice.pick(['ZPOPMIN', 'ZPOPMAX']), key(), ...dice.maybe(() => [integer()]), ...rubbish()],
    () => ['ZMPOP', ...sources().filter((word) => word !== 'plain'), ...popped(), ...rubbish()],
    () => ['ZMPOP', '2', 'missing', key(), ...popped()],
    () => ['ZRANDMEMBER', key(), ...dice.maybe(() => [integer(), ...withScores()]), ...rubbish()],
    () => [
      'ZSCAN',
      key(),
      '0',
      'COUNT',
      '1000',
      ...dice.maybe(() => ['MATCH', dice.pick(['a*', '*', 'm1?'])]),
      ...rubbish(),
    ],
    () => [dice.pick(['ZUNION', 'ZINTER']), ...combined(), ...withScores(), ...rubbish()],
    () => ['ZDIFF', ...sources(), ...withScores(), ...rubbish()],
    () => [dice.pick(['ZUNIONSTORE', 'ZINTERSTORE']), destination(), ...combined(), ...rubbish()],
    () => ['ZDIFFSTORE', destination(), ...sources(), ...rubbish()],
    () => ['ZINTERCARD', ...sources(), ...dice.maybe(() => ['LIMIT', integer()])],
    // A real server waits for the whole timeout if the keys are empty.
    () => [dice.pick(['BZPOPMIN', 'BZPOPMAX']), ...dice.some(key, 3), dice.pick(['0.001', '0.01', 'x', '-1'])],
    () => ['BZMPOP', dice.pick(['0.001', '-1', 'x']), '2', key(), key(), ...popped()],
    () => ['OBJECT', 'ENCODING', key()],
    () => ['TYPE', key()],
    () => ['PEXPIRE', key(), String(dice.ahead() * 1000)],
  ];
};
