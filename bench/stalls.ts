/**
 * How long one command about very many keys holds the loop, in a database of a million: what everybody else
 * waits for while it runs. Collections are apart.
 */
import { KEYS, keyAt, load } from './data-set.js';
import { atMost, type Bench, type Figure } from './figures.js';
import { Millrace } from './millrace.js';

const OWN_WORK_MS = 20;
const MANY_KEYS = 50_000;
const REPEATS = 3;

export const stalls: Bench = {
  name: 'stalls',
  summary: `the loop while one command is about very many of ${KEYS} keys`,
  async run(progress) {
    const millrace = await Millrace.create();
    try {
      // A reply of every key is larger than the documented size of a command.
      await millrace.start({ env: { MILLRACE_FSYNC: 'interval', MILLRACE_MAX_COMMAND_BYTES: '64MiB' } });
      await load(millrace, KEYS, progress);
      const figures: Figure[] = [];
      for (const [name, words] of COMMANDS) figures.push(await longest(millrace, name, words, progress));
      return { figures, skipped: [] };
    } finally {
      await millrace.dispose();
    }
  },
};

const many = Array.from({ length: MANY_KEYS }, (_, i) => keyAt(i * 7));

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ['KEYS with a pattern that few match', ['KEYS', 'key:00000000001*']],
  ['KEYS *', ['KEYS', '*']],
  ['SCAN 0 COUNT 1000000', ['SCAN', '0', 'COUNT', '1000000']],
  ['RANDOMKEY', ['RANDOMKEY']],
  ['DBSIZE', ['DBSIZE']],
  [`MGET of ${MANY_KEYS} keys`, ['MGET', ...many]],
  [`DEL of ${MANY_KEYS} keys`, ['DEL', ...many]],
  ['FLUSHALL', ['FLUSHALL']],
];

async function longest(
  millrace: Millrace,
  name: string,
  words: readonly string[],
  progress: (line: string) => void,
): Promise<Figure> {
  let ownMs = 0;
  let tookMs = 0;
  for (let i = 0; i < REPEATS; i += 1) {
    await millrace.probe();
    const startedAtMs = performance.now();
    await millrace.command(...words).catch((error: unknown) => progress(String(error).slice(0, 120)));
    tookMs = Math.max(tookMs, performance.now() - startedAtMs);
    ownMs = Math.max(ownMs, (await millrace.probe()).ownWorkMaxMs);
  }
  progress(`${name}: the loop was held ${ownMs.toFixed(1)} ms, answered in ${tookMs.toFixed(0)} ms`);
  return { name, value: ownMs, unit: 'ms', target: atMost(OWN_WORK_MS), note: `answered in ${tookMs.toFixed(0)} ms` };
}
