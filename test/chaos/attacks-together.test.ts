/** Attacks by three tenants at the same time, and an attack during the operator's commands. */
import { OF_THE_IMAGE } from '../support/attacks/attack-stand.js';
import { judgedAttacks } from '../support/attacks/judged.js';
import { MANY_CONNECTIONS, PASSWORD_GUESSES } from '../support/attacks/on-connections.js';
import { ENDLESS_VALUES, LARGE_VALUES, UNREAD_PIPELINES } from '../support/attacks/on-memory.js';
import { ENDLESS_SCRIPTS, MANY_SOURCES } from '../support/attacks/on-the-loop.js';
import { SILENT_HOST } from '../support/attacks/on-the-queue.js';
import { operatorsWork } from '../support/attacks/operator.js';

/** Two cores have three attackers to serve here, and a command line of the operator's; singly each is judged as it should be. */
const TOGETHER = { p99Ms: 1000, reason: 'what each costs adds up' };

describe('a process of 512 MB and its second tenant withstand simultaneous attacks', function () {
  this.timeout(240_000);
  const { judge, judgeDeliveries } = judgedAttacks(OF_THE_IMAGE, 3);

  judge({
    title: 'on memory: unread pipelines, large values and endless values',
    exception: TOGETHER,
    attacks: [UNREAD_PIPELINES, LARGE_VALUES, ENDLESS_VALUES],
  });
  judge({
    title: 'on the event loop and the queue: endless scripts, a flood of messages, and SINTER with a thousand sources',
    exception: TOGETHER,
    attacks: [ENDLESS_SCRIPTS, SILENT_HOST, MANY_SOURCES],
  });
  judge({
    title: 'on connections: 10,000 connections and 100,000 wrong passwords',
    exception: TOGETHER,
    attacks: [MANY_CONNECTIONS, PASSWORD_GUESSES],
  });
  judge({
    title: 'on memory during an export, a verify, a backup and the rebuild of a read model',
    exception: TOGETHER,
    attacks: [UNREAD_PIPELINES],
    otherWork: operatorsWork,
  });
  describe('the process after the attacks', () => judgeDeliveries());
});
