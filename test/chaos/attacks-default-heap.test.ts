/** The attacks that take most, at the heap that `make run` gives where nobody sets one: what is bounded follows the heap. */
import { OF_MAKE_RUN } from '../support/attacks/attack-stand.js';
import { judgedAttacks } from '../support/attacks/judged.js';
import { CROWD } from '../support/attacks/on-connections.js';
import { ENDLESS_VALUES, LARGE_VALUES, UNREAD_PIPELINES } from '../support/attacks/on-memory.js';

const TOGETHER = { p99Ms: 1000, reason: 'what each costs adds up' };
const CROWDED = { p99Ms: 500, reason: 'so many connections begin and talk within a second or two' };

describe('an attack on a process as `make run` starts it', function () {
  this.timeout(120_000);
  const { judge, judgeTheEnd } = judgedAttacks(OF_MAKE_RUN, 3);

  judge({
    title: 'of unread pipelines, large values, and values that never end, at once',
    exception: TOGETHER,
    attacks: [UNREAD_PIPELINES, LARGE_VALUES, ENDLESS_VALUES],
  });
  judge({ title: CROWD.title, attacks: [CROWD], exception: CROWDED });
  describe('and when it is over, the process', () => judgeTheEnd());
});
