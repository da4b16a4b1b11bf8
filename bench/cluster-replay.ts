/**
 * What a takeover costs for each entry that it has to read: a process that owns a shard is killed, and the processor time
 * of the one that takes it over is counted until it serves. Nothing is asked meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ClusterStand, DEFAULT_TIMES } from '../test/support/cluster-load/cluster-stand.js';
import { eventually } from '../test/support/eventually.js';
import { KvClient } from '../test/support/kv-client.js';
import { logOf } from '../test/support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../test/support/millrace-process.js';
import { atMost, type Bench, median } from './figures.js';
import { ranOfThreadsMs } from './forwarded.js';
import { sized } from './sizes.js';

const ENTRIES = sized(5000, 300);
const ROUNDS = sized(3, 1);
const COMMANDS_PER_PIPELINE = 100;
const IDLE_MS = 2000;
const SERVED = { timeoutMs: 60_000, everyMs: 20 };
/** An entry for each command, and no snapshot in front of them. */
const SETTINGS = { MILLRACE_TURN_COMMANDS: '1', MILLRACE_SNAPSHOT_ENTRIES: '10000000' };

export const clusterReplay: Bench = {
  name: 'cluster-replay',
  summary: `processor time of a takeover, for each of ${ENTRIES} entries`,
  async run(progress) {
    const stand = await ClusterStand.start({ ...DEFAULT_TIMES, ...SETTINGS });
    try {
      const { token, shard } = stand.databases[0] as { token: string; shard: string };
      await write(stand, token);
      progress(`${ENTRIES} entries in ${shard}`);
      const micros: number[] = [];
      const replayMs: number[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        const taken = await takeover(stand, shard);
        micros.push((taken.ranMs * 1000) / ENTRIES);
        replayMs.push(taken.replayMs);
        progress(`${round} of ${ROUNDS}: ${micros.at(-1)?.toFixed(0)} µs an entry, replayed in ${taken.replayMs} ms`);
      }
      return {
        skipped: [],
        figures: [
          { name: 'replay at a takeover, processor', value: median(micros), unit: 'µs/entry', target: atMost(50) },
          { name: '  from the claim until it is replayed', value: median(replayMs), unit: 'ms' },
        ],
      };
    } finally {
      await stand.stop();
      await endEverything();
    }
  },
};

async function write(stand: ClusterStand, token: string): Promise<void> {
  const client = new KvClient({ url: (stand.processes.get('a') as MillraceProcess).kvUrl, token });
  const value = 'v'.repeat(64);
  for (let from = 0; from < ENTRIES; from += COMMANDS_PER_PIPELINE) {
    const commands = Array.from({ length: COMMANDS_PER_PIPELINE }, (_, at) => ['SET', `key:${from + at}`, value]);
    const outcome = await eventually(() => client.pipeline(commands), SERVED);
    if (outcome.kind !== 'done') throw new Error(outcome.why);
  }
  client.close();
}

/** Of all processes that live on, without what they need when nothing happens. */
async function takeover(stand: ClusterStand, shard: string): Promise<{ ranMs: number; replayMs: number }> {
  const { name, epoch } = stand.owners().get(shard) as { name: string; epoch: number };
  const survivors = [...stand.processes].filter(([other]) => other !== name).map(([, process]) => process);
  const ran = async () => (await Promise.all(survivors.map(({ pid }) => ranOfThreadsMs(pid)))).reduce((a, b) => a + b);
  const idleFromMs = await ran();
  await delay(IDLE_MS);
  const before = { ranMs: await ran(), atMs: Date.now() };
  const idlePerMs = (before.ranMs - idleFromMs) / IDLE_MS;
  await stand.endProcess(name, 'SIGKILL');
  await eventually(() => {
    if ((stand.owners().get(shard)?.epoch ?? 0) <= epoch) throw new Error(`nobody serves ${shard}`);
  }, SERVED);
  const ranMs = (await ran()) - before.ranMs - idlePerMs * (Date.now() - before.atMs);
  const replayed = survivors
    .flatMap((process) => logOf(process))
    .find((line) => line.event === 'shard.replayed' && line.shard === shard && Number(line.epoch) > epoch);
  await stand.startProcess(name);
  return { ranMs, replayMs: Number(replayed?.durationMs) };
}
