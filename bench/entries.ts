/**
 * The cost of a journal entry for the main thread: SETs one at a time, so that each has one entry, and GETs in turn, which
 * differ by the entry. The difference is the cost of the entry, with the additional work of a SET over a GET. A SET waits
 * for the disk. The work of the idle process during that wait is measured without requests and subtracted in proportion to
 * the time.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { inFlight } from './entries-in-flight.js';
import { atMost, type Bench, median } from './figures.js';
import { Millrace, PASSWORD } from './millrace.js';
import { ranMs } from './redis.js';
import { RespLink } from './resp-link.js';
import { sized } from './sizes.js';

const ROUNDS = sized(5, 1);
const COMMANDS = sized(4000, 500);
const IDLE_MS = 2000;
const KEYS = 1000;
const VALUE = 'v'.repeat(64);
/** Field of /proc/<pid>/task/<tid>/stat, counted from the state: hundredths of a second outside the kernel. */
const USER_FIELD = 11;
const MS_PER_TICK = 10;

interface Cost {
  readonly all: number;
  readonly user: number;
}

interface Spent extends Cost {
  readonly passedMs: number;
}

export const entries: Bench = {
  name: 'entries',
  summary: 'what an entry of one SET costs the main thread, and the gain of a second entry in flight',
  async run(progress) {
    const millrace = await Millrace.create();
    try {
      await millrace.start({ isWatched: false });
      const link = await RespLink.open(millrace.respPort, PASSWORD);
      const sets: Cost[] = [];
      const gets: Cost[] = [];
      // The first round warms up, and does not count.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const idle = await spent(millrace.pid, () => delay(IDLE_MS));
        const set = await cost(millrace.pid, idle, (key) => link.ask('SET', key, VALUE));
        const get = await cost(millrace.pid, idle, (key) => link.ask('GET', key));
        progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: SET ${shown(set)}, GET ${shown(get)}`);
        if (round === 0) continue;
        sets.push(set);
        gets.push(get);
      }
      link.close();
      const of = (part: keyof Cost) => median(sets.map((set, at) => set[part] - (gets[at] as Cost)[part]));
      const note = `SET ${shown(middle(sets))}, GET ${shown(middle(gets))}`;
      return {
        figures: [
          { name: 'an entry, kernel calls apart', value: of('user'), unit: 'µs', target: atMost(100) },
          { name: 'an entry with them', value: of('all'), unit: 'µs', note },
          ...(await inFlight(progress)),
        ],
        skipped: [],
      };
    } finally {
      await millrace.dispose();
    }
  },
};

/** Processor time of the main thread for each command, microseconds. */
async function cost(pid: number, idle: Spent, ask: (key: string) => Promise<unknown>): Promise<Cost> {
  const busy = await spent(pid, async () => {
    for (let i = 0; i < COMMANDS; i += 1) await ask(`key:${String(i % KEYS).padStart(12, '0')}`);
  });
  const idleParts = busy.passedMs / idle.passedMs;
  const perCommand = 1000 / COMMANDS;
  return {
    all: (busy.all - idle.all * idleParts) * perCommand,
    user: (busy.user - idle.user * idleParts) * perCommand,
  };
}

/** Processor time of the main thread, milliseconds. */
async function spent(pid: number, action: () => Promise<unknown>): Promise<Spent> {
  const [atMs, all, user] = [performance.now(), await ranMs(pid), await ranOutsideKernelMs(pid)];
  await action();
  return {
    passedMs: performance.now() - atMs,
    all: (await ranMs(pid)) - all,
    user: (await ranOutsideKernelMs(pid)) - user,
  };
}

async function ranOutsideKernelMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/task/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[USER_FIELD]) * MS_PER_TICK;
}

function middle(costs: readonly Cost[]): Cost {
  return { all: median(costs.map(({ all }) => all)), user: median(costs.map(({ user }) => user)) };
}

function shown({ all, user }: Cost): string {
  return `${all.toFixed(0)} µs (${user.toFixed(0)} without the kernel)`;
}
