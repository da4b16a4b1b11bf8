/**
 * The time of a restart after a `kill -9`, with a snapshot of a million keys and 100,000 later entries of one command each.
 * It is measured from the start of the process to the first answer from that database. A second database is read all the
 * time; the recovery of the first must not delay its answers.
 */

import { until } from './child.js';
import { KEYS, keyAt, load, valueAt } from './data-set.js';
import { atMost, type Bench } from './figures.js';
import { tally } from './memory.js';
import { Millrace } from './millrace.js';
import { sized } from './sizes.js';

const TAIL_ENTRIES = sized(100_000, 2000);
const COMMANDS_PER_PIPELINE = 1000;
const TARGET_MS = 8000;
const OWN_WORK_MS = 20;
const COLLECTION_MS = 150;
/** The lowest bound the setting accepts. */
const FEWEST_ENTRIES = 10;
const SNAPSHOT_TIMEOUT_MS = 120_000;
const SERVING_TIMEOUT_MS = 60_000;

export const restart: Bench = {
  name: 'restart',
  summary: `kill -9 with ${KEYS} keys in a snapshot and ${TAIL_ENTRIES} entries behind it`,
  async run(progress) {
    const millrace = await Millrace.create();
    try {
      await snapshotOfAll(millrace, progress);
      await tailOfSingles(millrace, progress);
      await millrace.stop('SIGKILL');
      progress('killed, starting again');

      const startedAtMs = performance.now();
      const readyMs = await millrace.start();
      await millrace.probe();
      await until(() => isServed(millrace), SERVING_TIMEOUT_MS, 'the recovery');
      const servingMs = performance.now() - startedAtMs;
      const answer = await millrace.probe();
      return {
        skipped: [],
        figures: [
          { name: 'start to the first answer', value: servingMs, unit: 'ms', target: atMost(TARGET_MS) },
          { name: '  to the ready line', value: readyMs, unit: 'ms' },
          {
            name: 'own synchronous work while recovering, longest',
            value: answer.ownWorkMaxMs,
            unit: 'ms',
            target: atMost(OWN_WORK_MS),
            note: tally([answer]),
          },
          {
            name: 'garbage collection while recovering, longest',
            value: answer.collectionMaxMs,
            unit: 'ms',
            target: atMost(COLLECTION_MS),
          },
        ],
      };
    } finally {
      await millrace.dispose();
    }
  },
};

async function snapshotOfAll(millrace: Millrace, progress: (line: string) => void): Promise<void> {
  // Few bytes, so that few of the load's entries follow its last snapshot.
  await millrace.start({ env: { MILLRACE_FSYNC: 'interval' } });
  await load(millrace, KEYS, progress);
  await until(async () => !(await millrace.isCompacting()), SNAPSHOT_TIMEOUT_MS, 'the snapshot');
  await millrace.stop();
  // A start counts the entries that it replays, so with this bound a few more entries cause a full snapshot.
  const env = { MILLRACE_SNAPSHOT_ENTRIES: `${FEWEST_ENTRIES}`, MILLRACE_FSYNC: 'interval' };
  await millrace.start({ env });
  await until(() => isServed(millrace, 0), SERVING_TIMEOUT_MS, 'the start after the load');
  for (let i = 0; i < FEWEST_ENTRIES; i += 1) await millrace.command('SET', keyAt(0), valueAt(0));
  await until(
    async () => millrace.log.some(({ event }) => event === 'shard.snapshotted') && !(await millrace.isCompacting()),
    SNAPSHOT_TIMEOUT_MS,
    'the snapshot',
  );
  await millrace.stop();
  progress('snapshot made');
}

/** Entries hold one command each when a turn may. Syncing none of them only makes this preparation shorter. */
async function tailOfSingles(millrace: Millrace, progress: (line: string) => void): Promise<void> {
  const env = {
    MILLRACE_TURN_COMMANDS: '1',
    MILLRACE_SNAPSHOT_ENTRIES: '10000000',
    MILLRACE_SNAPSHOT_BYTES: '10GiB',
    MILLRACE_FSYNC: 'interval',
  };
  await millrace.start({ env });
  await until(() => isServed(millrace, 0), SERVING_TIMEOUT_MS, 'the start before the tail');
  for (let from = 0; from < TAIL_ENTRIES; from += COMMANDS_PER_PIPELINE) {
    const commands: string[][] = [];
    for (let i = from; i < from + COMMANDS_PER_PIPELINE; i += 1) commands.push(['SET', keyAt(i), valueAt(i, 1)]);
    await millrace.post('/pipeline', commands);
    if ((from + COMMANDS_PER_PIPELINE) % 20_000 === 0)
      progress(`${from + COMMANDS_PER_PIPELINE} entries behind the snapshot`);
  }
  await millrace.command('SET', keyAt(TAIL_ENTRIES - 1), valueAt(TAIL_ENTRIES - 1, 1));
}

/** Whether the last key of the tail has the value that it was given in `round`. */
async function isServed(millrace: Millrace, round = 1): Promise<boolean> {
  return (await millrace.command('GET', keyAt(TAIL_ENTRIES - 1))) === valueAt(TAIL_ENTRIES - 1, round);
}
