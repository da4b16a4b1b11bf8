/**
 * Attacks with the credentials of an ordinary tenant, or without credentials, on a process with the heap of the image,
 * while a second tenant works. Each file in test/support/attacks holds one group of attacks; judged.ts there holds the
 * criteria.
 */
import type { Attack } from '../support/attacks/attack.js';
import { OF_THE_IMAGE } from '../support/attacks/attack-stand.js';
import { type Exception, judgedAttacks } from '../support/attacks/judged.js';
import { MANY_CONNECTIONS, ON_CONNECTIONS, PASSWORD_GUESSES } from '../support/attacks/on-connections.js';
import { ENDLESS_VALUES, LARGE_TRANSACTIONS, ON_MEMORY } from '../support/attacks/on-memory.js';
import { ON_SEARCH } from '../support/attacks/on-search.js';
import { LONG_COMMANDS, ON_THE_LOOP } from '../support/attacks/on-the-loop.js';
import { DEAD_NAMES, ENDLESS_ANSWERS, ON_THE_QUEUE } from '../support/attacks/on-the-queue.js';

/** Attacks that currently slow the second tenant beyond the bound, by title: the bound of its p99, and the reason. */
const SLOWER: Readonly<Record<string, Exception>> = {
  [LARGE_TRANSACTIONS.title]: {
    p99Ms: 500,
    reason: '150–180 ms measured; collections of half a gigabyte that is queued',
  },
  [ENDLESS_VALUES.title]: {
    p99Ms: 250,
    reason: '59–112 ms measured; 900 MB come within two seconds, and are read until they are refused',
  },
  [LONG_COMMANDS.title]: { p99Ms: 500, reason: 'some of what is read and answered is not done in slices yet' },
  [DEAD_NAMES.title]: { p99Ms: 500, reason: '75 ms measured on a quiet machine; two questions a try of each message' },
  [ENDLESS_ANSWERS.title]: {
    p99Ms: 2000,
    reason: '750 ms measured; two cores are busy with reading and storing answers',
  },
  [MANY_CONNECTIONS.title]: {
    p99Ms: 750,
    reason: '240 ms measured; so many connections begin and talk within a second or two',
  },
  [PASSWORD_GUESSES.title]: { p99Ms: 750, reason: '210–310 ms measured; fifty addresses guess as fast as they can' },
};

describe('a process of 512 MB and its second tenant withstand an attack', function () {
  this.timeout(240_000);
  const { judge, judgeDeliveries } = judgedAttacks(OF_THE_IMAGE);
  const each = (attacks: readonly Attack[]) => {
    for (const attack of attacks) judge({ title: attack.title, attacks: [attack], exception: SLOWER[attack.title] });
  };

  describe('on memory,', () => each(ON_MEMORY));
  describe('on the event loop,', () => each(ON_THE_LOOP));
  describe('on search and vectors,', () => each(ON_SEARCH));
  describe('on the queue,', () => each(ON_THE_QUEUE));
  describe('on connections,', () => each(ON_CONNECTIONS));
  describe('the process after the attacks', () => judgeDeliveries());
});
