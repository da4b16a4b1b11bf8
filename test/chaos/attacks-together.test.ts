/** Attacks of three tenants at once, and attacks while the operator of the process works. */
import { OF_THE_IMAGE } from '../support/attacks/attack-stand.js';
import { judgedAttacks } from '../support/attacks/judged.js';
import { CROWD, GUESSES_OF_SECRETS } from '../support/attacks/on-connections.js';
import { ENDLESS_VALUES, LARGE_VALUES, UNREAD_PIPELINES } from '../support/attacks/on-memory.js';
import { ENDLESS_SCRIPTS, MANY_SOURCES } from '../support/attacks/on-the-loop.js';
import { SILENT_HOST } from '../support/attacks/on-the-queue.js';
import { operatorsWork } from '../support/attacks/operator.js';

/** Two cores have three attackers to serve here, and a command line of the operator's; singly each is judged as it should be. */
const TOGETHER = { p99Ms: 1000, reason: 'what each costs adds up' };

describe('attacks at once on a process of 512 MB', function () {
  this.timeout(120_000);
  const { judge, judgeTheEnd } = judgedAttacks(OF_THE_IMAGE, 3);

  judge({
    title: 'on memory: unread pipelines, large values, and values that never end',
    exception: TOGETHER,
    attacks: [UNREAD_PIPELINES, LARGE_VALUES, ENDLESS_VALUES],
  });
  judge({
    title: 'on everything: endless scripts, a flood of messages, and SINTERs of a thousand sources',
    exception: TOGETHER,
    attacks: [ENDLESS_SCRIPTS, SILENT_HOST, MANY_SOURCES],
  });
  judge({
    title: 'by number: 10,000 connections, and 100,000 wrong passwords',
    exception: TOGETHER,
    attacks: [CROWD, GUESSES_OF_SECRETS],
  });
  judge({
    title: 'leave an export, a verify, a backup and a read model that is built again their way',
    exception: TOGETHER,
    attacks: [UNREAD_PIPELINES],
    meanwhile: operatorsWork,
  });
  describe('and when they are over, the process', () => judgeTheEnd());
});
