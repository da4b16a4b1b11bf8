/**
 * Ten thousand flow-control keys with a hundred waiting messages each: all of them are delivered, and at every tenth of the
 * way no key that still has ten waiting has got more than twice as far as another. The sink holds its answers back while
 * they are published, key by key, so that all but the first few wait. Bodies are short, so that all are in memory and only
 * the order is compared.
 */
import { atLeast, atMost, type Bench, type Figure } from './figures.js';
import { Millrace } from './millrace.js';
import { publishAll, WITH_ROOM } from './queue-load.js';
import { rateOf, Sink } from './sink.js';
import { sized } from './sizes.js';

const KEYS = sized(10_000, 1000);
const PER_KEY = sized(100, 40);
/** The parallelism of a key: it could take ten places at a time. */
const PARALLELISM = 10;
const TIMEOUT_MS = 480_000;
const PROGRESS_STEP = (KEYS * PER_KEY) / 4;

export const queueFair: Bench = {
  name: 'queue-fair',
  summary: `${KEYS} flow-control keys with ${PER_KEY} waiting messages each`,
  async run(progress) {
    const [millrace, sink] = [await Millrace.create(), await Sink.start()];
    try {
      await millrace.start(WITH_ROOM);
      await sink.begin({ kind: 'keys', keys: KEYS, perKey: PER_KEY });
      await sink.hold();
      const itemAt = (i: number) => {
        const key = Math.floor(i / PER_KEY);
        const flow = { 'Svc-Flow-Control-Key': `key-${key}`, 'Svc-Flow-Control-Value': `parallelism=${PARALLELISM}` };
        return { destination: sink.url, headers: flow, body: `${key} ` };
      };
      for (let done = 0; done < KEYS * PER_KEY; done += PROGRESS_STEP) {
        await publishAll(millrace, PROGRESS_STEP, (i) => itemAt(done + i));
        progress(`${done + PROGRESS_STEP} published, ${(await sink.report()).count} under way`);
      }
      await sink.release();
      const report = await sink.received(KEYS * PER_KEY, TIMEOUT_MS);
      const figures: Figure[] = report.tenths.flatMap(({ most, least, keys }, i) => {
        if (keys === 0) return [];
        const name = `most / least progress at ${(i + 1) * 10} %`;
        const note = `${most} and ${least}, over ${keys} keys`;
        return { name, value: most / least, unit: 'ratio', target: atMost(2), note };
      });
      const all = { name: 'delivered / published', value: report.count / (KEYS * PER_KEY), unit: 'ratio' };
      figures.push({ ...all, target: atLeast(1) }, { name: '  drain', value: rateOf(report), unit: 'msg/s' });
      return { figures, skipped: [] };
    } finally {
      await Promise.all([millrace.dispose(), sink.stop()]);
    }
  },
};
