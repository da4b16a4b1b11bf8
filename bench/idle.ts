/**
 * The cost of an empty process: the time from its start to the ready line; then, half a minute later and without requests,
 * its processor time, that of its nats-server, and its memory.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { residentMib } from '../test/support/process-memory.js';
import { atMost, type Bench, median } from './figures.js';
import { Millrace } from './millrace.js';
import { childrenOf, ranMsOf } from './processor-time.js';
import { sized } from './sizes.js';

const STARTS = sized(10, 2);
const SETTLE_MS = sized(30_000, 1000);
const WINDOW_MS = sized(30_000, 2000);

export const idle: Bench = {
  name: 'idle',
  summary: `${STARTS} starts of an empty process, then ${WINDOW_MS / 1000} s of one that nobody asks`,
  async run(progress) {
    const startsMs: number[] = [];
    for (let i = 0; i <= STARTS; i += 1) {
      const millrace = await Millrace.create();
      try {
        const readyMs = await millrace.start({ isWatched: false });
        // The first start reads files from the disk, and later ones find them in memory.
        if (i > 0) startsMs.push(readyMs);
      } finally {
        await millrace.dispose();
      }
    }
    progress(`starts: ${startsMs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
    const spread = `best ${Math.min(...startsMs).toFixed(0)} ms`;
    const start = { name: 'start to ready', value: median(startsMs), unit: 'ms', target: atMost(600), note: spread };
    return { skipped: [], figures: [start, ...(await atRest())] };
  },
};

async function atRest() {
  const millrace = await Millrace.create();
  try {
    await millrace.start({ isWatched: false });
    await delay(SETTLE_MS);
    const own = [millrace.pid];
    const servers = await childrenOf(millrace.pid);
    const before = [await ranMsOf(own), await ranMsOf(servers)] as const;
    await delay(WINDOW_MS);
    const ownShare = ((await ranMsOf(own)) - before[0]) / WINDOW_MS;
    const serverShare = ((await ranMsOf(servers)) - before[1]) / WINDOW_MS;
    const resident = await residentMib(millrace.pid);
    const note = `${(ownShare * 100).toFixed(2)} % of a core, its nats-server ${(serverShare * 100).toFixed(2)} %`;
    return [
      { name: 'processor, idle', value: (ownShare + serverShare) * 100, unit: '%', target: atMost(0.7), note },
      { name: 'resident, idle', value: resident, unit: 'MB', target: atMost(120) },
    ];
  } finally {
    await millrace.dispose();
  }
}
