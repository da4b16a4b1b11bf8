/**
 * The attacks with the largest demands, at the default heap of `make run`. The process derives its limits from the size
 * of the heap.
 */
import { OF_MAKE_RUN } from '../support/attacks/attack-stand.js';
import { judgedAttacks } from '../support/attacks/judged.js';
import { MANY_CONNECTIONS } from '../support/attacks/on-connections.js';
import { ENDLESS_VALUES, LARGE_VALUES, UNREAD_PIPELINES } from '../support/attacks/on-memory.js';

const TOGETHER = { p99Ms: 1000, reason: 'what each costs adds up' };
const CROWDED = { p99Ms: 500, reason: 'so many connections begin and talk within a second or two' };

describe('a process of `make run` and its second tenant withstand an attack', function () {
  this.timeout(240_000);
  const { judge, judgeDeliveries } = judgedAttacks(OF_MAKE_RUN, 3);

  judge({
    title: 'with unread pipelines, large values and endless values at the same time',
    exception: TOGETHER,
    attacks: [UNREAD_PIPELINES, LARGE_VALUES, ENDLESS_VALUES],
  });
  judge({ title: MANY_CONNECTIONS.title, attacks: [MANY_CONNECTIONS], exception: CROWDED });
  describe('the process after the attacks', () => judgeDeliveries());
});
