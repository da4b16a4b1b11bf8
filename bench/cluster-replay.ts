/**
 * The cost of a takeover for each entry that it reads: a process that owns a shard is killed, and the processor time of the
 * others is counted until the shard is served. The cost of the same takeovers before any write is subtracted: checks, claims
 * and connections for every shard of that process. No client sends requests during a takeover.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ClusterStand, DEFAULT_TIMES } from '../test/support/cluster-load/cluster-stand.js';
import { eventually } from '../test/support/eventually.js';
import { KvClient } from '../test/support/kv-client.js';
import { logOf } from '../test/support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../test/support/millrace-process.js';
import { atMost, type Bench, type Figure, median } from './figures.js';
import { ranOfThreadsMs } from './processor-time.js';
import { sized } from './sizes.js';

/** A few, while the code that replays them is not compiled yet; and the most that follow a snapshot by default. */
const ENTRIES = [sized(5000, 300), sized(50_000, 600)] as const;
const ROUNDS = sized(3, 1);
const COMMANDS_PER_PIPELINE = 100;
const IDLE_MS = 2000;
const SERVED = { timeoutMs: 60_000, everyMs: 20 };
/** An entry for each command, and no snapshot in front of them. */
const SETTINGS = { MILLRACE_TURN_COMMANDS: '1', MILLRACE_SNAPSHOT_ENTRIES: '10000000' };

export const clusterReplay: Bench = {
  name: 'cluster-replay',
  summary: `processor time of a takeover, for each of ${ENTRIES.join(' and of ')} entries`,
  async run(progress) {
    const stand = await ClusterStand.start({ ...DEFAULT_TIMES, ...SETTINGS });
    try {
      const { token, shard } = stand.databases[0] as { token: string; shard: string };
      const empty = await takeovers(stand, shard, progress);
      const figures: Figure[] = [
        { name: 'a takeover with nothing to replay, processor', value: empty.ranMs, unit: 'ms' },
      ];
      let written = 0;
      for (const entries of ENTRIES) {
        await write(stand, token, { from: written, to: entries });
        written = entries;
        progress(`${entries} entries in ${shard}`);
        const { ranMs, replayMs } = await takeovers(stand, shard, progress);
        const value = ((ranMs - empty.ranMs) * 1000) / entries;
        figures.push(
          { name: `replay of ${entries} at a takeover, processor`, value, unit: 'µs/entry', target: atMost(25) },
          { name: '  from the claim until it is replayed', value: replayMs, unit: 'ms' },
        );
      }
      return { figures, skipped: [] };
    } finally {
      await stand.stop();
      await endEverything();
    }
  },
};

async function write(stand: ClusterStand, token: string, { from, to }: { from: number; to: number }): Promise<void> {
  const client = new KvClient({ url: (stand.processes.get('a') as MillraceProcess).kvUrl, token });
  const value = 'v'.repeat(64);
  for (let first = from; first < to; first += COMMANDS_PER_PIPELINE) {
    const commands = Array.from({ length: COMMANDS_PER_PIPELINE }, (_, at) => ['SET', `key:${first + at}`, value]);
    const outcome = await eventually(() => client.pipeline(commands), SERVED);
    if (outcome.kind !== 'done') throw new Error(outcome.why);
  }
  client.close();
}

interface Takeover {
  /** Sum for all surviving processes, without their time when idle. */
  readonly ranMs: number;
  readonly replayMs: number;
}

/** @returns the medians of several measurements, made one after the other */
async function takeovers(stand: ClusterStand, shard: string, progress: (line: string) => void): Promise<Takeover> {
  const all: Takeover[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const taken = await takeover(stand, shard);
    all.push(taken);
    progress(`${round} of ${ROUNDS}: ${taken.ranMs.toFixed(0)} ms of processor, replayed in ${taken.replayMs} ms`);
  }
  return { ranMs: median(all.map(({ ranMs }) => ranMs)), replayMs: median(all.map(({ replayMs }) => replayMs)) };
}

async function takeover(stand: ClusterStand, shard: string): Promise<Takeover> {
  const { name, epoch } = stand.owners().get(shard) as { name: string; epoch: number };
  const survivors = [...stand.processes].filter(([other]) => other !== name).map(([, process]) => process);
  const ran = () => ranOfThreadsMs(...survivors.map(({ pid }) => pid));
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
