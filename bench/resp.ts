/**
 * The native protocol compared with a redis-server that stores before it answers: redis-benchmark runs the same load on both
 * in turn, so that other load of the machine affects both. The figure is the ratio of medians.
 */
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace, PASSWORD } from './millrace.js';
import { RedisServer, ranMs } from './redis.js';
import { isRedisBenchmarkMissing, type RespLoad, redisBenchmark } from './redis-benchmark.js';
import { RespLink } from './resp-link.js';
import { sized } from './sizes.js';

const ROUNDS = sized(5, 1);
/** With one command at a time the kernel's scheduling dominates, so more rounds are needed for a stable median. */
const ROUNDS_ONE_BY_ONE = sized(9, 1);
const KEYS = 10_000;
/** The part of a workload's requests that a round makes. */
const SHARE = sized(1, 0.05);
const MEMBERS = sized(1_000_000, 20_000);
const MEMBERS_AT_ONCE = 1_000;
const FEW = 16;
const MANY = 100;
/** Two commands, the second with the result of the first. */
const SCRIPT = "local n = redis.call('INCR', KEYS[1]) return redis.call('SET', KEYS[2], n)";

interface Workload extends Pick<RespLoad, 'pipeline' | 'requests' | 'command'> {
  readonly name: string;
  readonly target: number;
  /** Default: KEYS. */
  readonly randomBelow?: number;
}

interface Side {
  readonly name: 'ours' | 'redis';
  readonly port: number;
  readonly password: string | undefined;
  readonly pid: number;
}

interface Round {
  readonly perSecond: number;
  /** Processor time of the main thread for a command. Other load of the machine hardly changes it. */
  readonly cpuMicros: number;
}

export const resp: Bench = {
  name: 'resp',
  summary: 'the native protocol beside redis-server with appendfsync always, by redis-benchmark',
  async run(progress) {
    if (RedisServer.isMissing() || isRedisBenchmarkMissing()) {
      return { figures: [], skipped: ['resp: redis-server or redis-benchmark is not installed'] };
    }
    const millrace = await Millrace.create();
    const redis = await RedisServer.start();
    try {
      await millrace.start({ isWatched: false });
      const sides: readonly Side[] = [
        { name: 'ours', port: millrace.respPort, password: PASSWORD, pid: millrace.pid },
        { name: 'redis', port: redis.port, password: undefined, pid: redis.pid },
      ];
      const sha = await prepare(sides, progress);
      const figures: Figure[] = [];
      for (const workload of workloadsOf(sha)) figures.push(...(await compare(workload, sides, progress)));
      return { figures, skipped: [] };
    } finally {
      await Promise.all([millrace.dispose(), redis.dispose()]);
    }
  },
};

function workloadsOf(sha: string): readonly Workload[] {
  const key = 'key:__rand_int__';
  const ofMillion = { pipeline: FEW, requests: 100_000, target: 0.25, randomBelow: MEMBERS };
  return [
    { name: 'SET', pipeline: 1, requests: 40_000, target: 0.8, command: { test: 'set' } },
    { name: 'GET', pipeline: 1, requests: 60_000, target: 0.65, command: { test: 'get' } },
    { name: 'SET', pipeline: MANY, requests: 500_000, target: 0.4, command: { test: 'set' } },
    { name: 'GET', pipeline: MANY, requests: 1_000_000, target: 0.5, command: { test: 'get' } },
    { name: 'INCR', pipeline: FEW, requests: 200_000, target: 0.35, command: { test: 'incr' } },
    { name: 'LPUSH', pipeline: FEW, requests: 200_000, target: 0.35, command: { test: 'lpush' } },
    { name: 'HSET', pipeline: FEW, requests: 200_000, target: 0.35, command: { test: 'hset' } },
    {
      name: 'ZADD',
      pipeline: FEW,
      requests: 150_000,
      target: 0.35,
      command: ['ZADD', 'scores', '__rand_int__', 'member:__rand_int__'],
    },
    {
      name: 'XADD',
      pipeline: FEW,
      requests: 150_000,
      target: 0.35,
      command: ['XADD', 'events', '*', 'field', 'value:__rand_int__'],
    },
    {
      ...ofMillion,
      name: 'ZADD, a million members',
      command: ['ZADD', 'million', '__rand_int__', 'member:__rand_int__'],
    },
    { ...ofMillion, name: 'ZRANK, a million members', command: ['ZRANK', 'million', 'member:__rand_int__'] },
    {
      ...ofMillion,
      name: 'ZRANGE BYSCORE LIMIT, a million members',
      command: ['ZRANGE', 'million', '__rand_int__', '+inf', 'BYSCORE', 'LIMIT', '0', '10'],
    },
    {
      name: 'EVALSHA of two commands',
      pipeline: FEW,
      requests: 30_000,
      target: 0.15,
      command: ['EVALSHA', sha, '2', `{${key}}:n`, `{${key}}:last`],
    },
  ];
}

/** Loads the sorted set and the script into both. @returns the script's name */
async function prepare(sides: readonly Side[], progress: (line: string) => void): Promise<string> {
  let sha = '';
  for (const { name, port, password } of sides) {
    const link = await RespLink.open(port, password);
    const startedAtMs = performance.now();
    for (let from = 0; from < MEMBERS; from += MEMBERS_AT_ONCE) {
      const words = ['ZADD', 'million'];
      for (let i = from; i < from + MEMBERS_AT_ONCE; i += 1)
        words.push(`${i}`, `member:${String(i).padStart(12, '0')}`);
      await link.ask(...words);
    }
    sha = String(await link.ask('SCRIPT', 'LOAD', SCRIPT));
    link.close();
    progress(`${name}: ${MEMBERS} members in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
  }
  return sha;
}

async function compare(
  workload: Workload,
  sides: readonly Side[],
  progress: (line: string) => void,
): Promise<readonly Figure[]> {
  const rounds: Record<Side['name'], Round[]> = { ours: [], redis: [] };
  // The first round warms up and does not count.
  const count = workload.pipeline === 1 ? ROUNDS_ONE_BY_ONE : ROUNDS;
  for (let round = 0; round <= count; round += 1) {
    for (const side of sides) {
      const result = await measure(workload, side, round === 0 ? 0.3 : SHARE);
      if (round > 0) rounds[side.name].push(result);
    }
  }
  const ratios = rounds.ours.map(({ perSecond }, i) => perSecond / (rounds.redis[i] as Round).perSecond);
  const of = (side: Side['name'], field: keyof Round) => median(rounds[side].map((round) => round[field]));
  const figure: Figure = {
    name: `${workload.name}${workload.pipeline > 1 ? `, -P ${workload.pipeline}` : ''} / redis-server`,
    value: of('ours', 'perSecond') / of('redis', 'perSecond'),
    unit: 'ratio',
    target: atLeast(workload.target),
    note:
      `rounds ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}, ` +
      `${Math.round(of('ours', 'perSecond'))}/s, main thread ${of('ours', 'cpuMicros').toFixed(1)} µs ` +
      `beside ${of('redis', 'cpuMicros').toFixed(1)}`,
  };
  progress(`${figure.name}: ${figure.value.toFixed(2)} (${figure.note})`);
  return [figure];
}

async function measure(workload: Workload, { port, password, pid }: Side, share: number): Promise<Round> {
  const requests = Math.round(workload.requests * share);
  const { pipeline, command, randomBelow = KEYS } = workload;
  const ranBeforeMs = await ranMs(pid);
  const perSecond = await redisBenchmark({ port, password, pipeline, requests, randomBelow, command });
  return { perSecond, cpuMicros: (((await ranMs(pid)) - ranBeforeMs) * 1000) / requests };
}
