/** Streams with repeated messages of producers and with released entries, on few keys. */
import type { Program } from './dice.js';
import { stream } from './stream.js';

/** The keys, groups and consumers of `stream`, so that all stream commands affect each other. */
const KEYS = ['s', 's', 't'];

export const streamMessages: Program = (dice, major) => {
  const key = (): string => dice.pick(KEYS);
  const producer = (): string => dice.pick(['p', 'q', '']);
  const message = (): string[] =>
    dice.chance(0.2) ? ['IDMPAUTO', producer()] : ['IDMP', producer(), dice.pick(['1', '2', '3', '4', '5'])];
  const ids = (): string[] => dice.some(() => `${1 + dice.below(12)}-1`, 3);
  const add = (): string[] => [
    'XADD',
    key(),
    ...message(),
    ...dice.maybe(() => ['MAXLEN', '3']),
    '*',
    'a',
    dice.pick(['1', '2']),
  ];
  const configure = (): string[] => ['XCFGSET', key(), 'IDMP-MAXSIZE', dice.pick(['1', '2', '3', '0'])];
  const release = (): string[] => {
    const given = ids();
    return [
      ...['XNACK', key(), dice.pick(['g', 'h']), dice.pick(['SILENT', 'FAIL', 'FATAL', 'x'])],
      ...['IDS', String(given.length), ...given],
      ...dice.maybe(() => ['RETRYCOUNT', '3']),
      ...dice.maybe(() => ['FORCE']),
    ];
  };
  return [
    ...stream(dice, major),
    add,
    add,
    add,
    configure,
    release,
    release,
    release,
    () => ['COPY', 's', 't', 'REPLACE'],
  ];
};
