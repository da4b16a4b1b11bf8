/** Stream commands with few keys, groups, consumers and ids, so that they affect each other. */
import type { Dice, Program } from './dice.js';

const KEYS = ['s', 's', 's', 't', 'u', 'w'];
const GROUPS = ['g', 'g', 'h', 'i'];
const CONSUMERS = ['c', 'd', 'e'];
const NUMBERS = ['0', '1', '2', '3', '-1', '7', 'x', '1.5'];
/** Idle times that differ much from the duration of a run. */
const IDLE_TIMES = ['0', '0', '0', '50000', '-5', 'x'];

export const stream: Program = (dice, major) => {
  const word = words(dice);
  const { key, group, consumer, id, plainId, start, stop } = word;
  let next = 1;
  const count = (): string[] => dice.maybe(() => ['COUNT', dice.pick(NUMBERS)]);
  const references = (): string[] =>
    major < 8 ? [] : dice.maybe(() => [dice.pick(['KEEPREF', 'DELREF', 'ACKED'])], 0.5);
  const trim = (): string[] =>
    dice.pick([
      () => ['MAXLEN', ...dice.maybe(() => ['=']), dice.pick(['0', '2', '3', '5', '-1', 'x'])],
      () => ['MINID', ...dice.maybe(() => ['=']), plainId()],
      () => ['MAXLEN', '3', 'LIMIT', '2'],
      () => ['MAXLEN', '3', 'MINID', '2'],
      () => ['LIMIT', '2'],
      () => ['MAXLEN', '~'],
      () => ['MAXLEN', '~', '0', ...dice.maybe(() => ['LIMIT', dice.pick(['0', '2', '100', '-1', 'x'])])],
      () => ['MINID', '~', plainId(), ...dice.maybe(() => ['LIMIT', '100'])],
    ])();
  const rising = (): string => {
    next += dice.below(3);
    return dice.pick([`${next}-1`, `${next}-*`, `${next}-${dice.below(5)}`, `${next}`]);
  };
  const fields = (): string[] => dice.pick([['a', '1'], ['a', '2', 'b', '3'], ['a', ''], ['b', 'x', 'a', 'y'], ['a']]);
  const add = (): string[] => [
    ...['XADD', key(), ...dice.maybe(() => ['NOMKSTREAM'], 0.1), ...dice.maybe(trimReferences, 0.2)],
    ...[...dice.maybe(trim, 0.15), dice.chance(0.85) ? rising() : id(), ...fields()],
  ];
  const readGroup = (): string[] => {
    const keys = dice.some(key, 2);
    const ids = keys.map(() => dice.pick(['>', '>', '>', '0', plainId(), '$', 'x']));
    const noAck = dice.maybe(() => ['NOACK'], 0.15);
    return ['XREADGROUP', 'GROUP', group(), consumer(), ...count(), ...noAck, 'STREAMS', ...keys, ...ids];
  };
  const claim = (): string[] => [
    ...['XCLAIM', key(), group(), consumer(), dice.pick(IDLE_TIMES), ...dice.some(plainId, 3)],
    ...dice.maybe(() => ['IDLE', dice.pick(['100000', '-1', 'x'])], 0.2),
    ...dice.maybe(() => ['TIME', dice.pick(['1000000000000', '99999999999999', 'x'])], 0.2),
    ...dice.maybe(() => ['RETRYCOUNT', dice.pick(NUMBERS)], 0.2),
    ...dice.maybe(() => ['FORCE']),
    ...dice.maybe(() => ['JUSTID']),
    ...dice.maybe(() => ['LASTID', plainId()], 0.1),
    ...dice.maybe(() => [dice.pick(['FOO', 'TIME', 'LASTID'])], 0.05),
  ];
  // ACKED may leave gaps that Redis would count as deletions in a replay of our effects, so the cases cover it.
  const trimReferences = (): string[] => (major < 8 ? [] : dice.maybe(() => [dice.pick(['KEEPREF', 'DELREF'])], 0.5));
  const several = (): string[] => {
    const ids = dice.some(plainId, 3);
    return ['IDS', dice.chance(0.1) ? dice.pick(NUMBERS) : String(ids.length), ...ids];
  };
  const shapes: (() => string[])[] = [
    ...[add, add, add, add, add, readGroup, readGroup, readGroup, claim, claim],
    () => ['XLEN', key()],
    () => ['XRANGE', key(), start(), stop(), ...count()],
    () => ['XREVRANGE', key(), stop(), start(), ...count()],
    () => {
      const keys = dice.some(key, 2);
      return [
        'XREAD',
        ...count(),
        'STREAMS',
        ...keys,
        ...keys.map(() => dice.pick(['$', '0', '>', plainId(), plainId()])),
      ];
    },
    () => ['XDEL', key(), ...dice.some(plainId, 2)],
    () => ['XTRIM', key(), ...trim(), ...dice.maybe(trimReferences, 0.4)],
    () => [
      'XSETID',
      key(),
      // Redis 7.0 ignores deleted entries.
      major < 8 ? `${next + 1}-9` : id(),
      ...dice.maybe(() => ['ENTRIESADDED', dice.pick([...NUMBERS, '50'])]),
      ...dice.maybe(() => ['MAXDELETEDID', plainId()]),
    ],
    () => [
      'XGROUP',
      'CREATE',
      key(),
      group(),
      dice.pick(['0', '0', '$', id()]),
      ...dice.maybe(() => ['MKSTREAM']),
      ...dice.maybe(() => ['ENTRIESREAD', dice.pick(NUMBERS)], 0.2),
    ],
    () => ['XGROUP', 'CREATE', key(), group(), '0'],
    () => [
      'XGROUP',
      'SETID',
      key(),
      group(),
      dice.pick(['0', '$', id()]),
      ...dice.maybe(() => ['ENTRIESREAD', dice.pick(NUMBERS)]),
    ],
    () => (dice.chance(0.2) ? ['XGROUP', 'DESTROY', key(), group()] : ['XLEN', key()]),
    () => ['XGROUP', 'CREATECONSUMER', key(), group(), consumer()],
    () => (dice.chance(0.4) ? ['XGROUP', 'DELCONSUMER', key(), group(), consumer()] : ['XLEN', key()]),
    () => ['XACK', key(), group(), ...dice.some(plainId, 2)],
    () => ['XPENDING', key(), group()],
    () => [
      'XPENDING',
      key(),
      group(),
      ...dice.maybe(() => ['IDLE', dice.pick(IDLE_TIMES)]),
      start(),
      stop(),
      dice.pick(NUMBERS),
      ...dice.maybe(() => [consumer()]),
    ],
    () => [
      'XAUTOCLAIM',
      key(),
      group(),
      consumer(),
      dice.pick(IDLE_TIMES),
      start(),
      ...count(),
      ...dice.maybe(() => ['JUSTID']),
    ],
    () => ['XINFO', 'STREAM', key()],
    () => ['XINFO', 'STREAM', key(), 'FULL', ...dice.maybe(() => ['COUNT', dice.pick(NUMBERS)])],
    () => ['XINFO', 'GROUPS', key()],
    () => ['XINFO', 'CONSUMERS', key(), group()],
    () => (dice.chance(0.1) ? ['DEL', key()] : ['TYPE', key()]),
    () => ['SET', 'w', 'v'],
    () => (dice.chance(0.2) ? ['COPY', key(), key(), 'REPLACE'] : ['OBJECT', 'ENCODING', 's']),
  ];
  if (major >= 8) {
    shapes.push(
      () => ['XDELEX', key(), ...references(), ...several()],
      () => ['XACKDEL', key(), group(), ...references(), ...several()],
      () => ['XREAD', ...count(), 'STREAMS', key(), '+'],
    );
  }
  return shapes;
};

function words(dice: Dice) {
  const plainId = (): string => `${1 + dice.below(60)}-${dice.pick(['1', '1', '0', '2'])}`;
  const strange = [
    '0-0',
    '18446744073709551615-18446744073709551615',
    '5-18446744073709551615',
    '-',
    '+',
    '1-',
    'a-b',
    '007-1',
    '3-*',
    '*x',
    '18446744073709551616-0',
  ];
  const id = (): string => (dice.chance(0.12) ? dice.pick(strange) : dice.pick([plainId(), String(dice.below(60))]));
  return {
    key: () => dice.pick(KEYS),
    group: () => dice.pick(GROUPS),
    consumer: () => dice.pick(CONSUMERS),
    plainId,
    id,
    start: () => dice.pick(['-', '-', `(${plainId()}`, id(), '+']),
    stop: () => dice.pick(['+', '+', `(${plainId()}`, id(), '-']),
  };
}
