/**
 * The cost of a request for a shard that another process owns: two processes on one nats-server, one that owns every shard
 * and one that is only an edge. The same load is sent to each in turn; the figure is the processor time of both together.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type NatsFacts, startPlainNats } from '../test/support/millrace-cluster.js';
import { atMost, type Bench, type Figure, median } from './figures.js';
import { MAIN, Millrace, TOKEN } from './millrace.js';
import { ranOfThreadsMs } from './processor-time.js';
import { ranMs } from './redis.js';
import { sized } from './sizes.js';
import { isWrkMissing, wrk } from './wrk.js';

const ROUNDS = sized(5, 1);
const SECONDS = sized(3, 1);
const CONNECTIONS = 64;
const HEADERS = `{ ["Authorization"] = "Bearer ${TOKEN}" }`;
const REQUESTS = {
  GET: `return { wrk.format("GET", "/get/key", ${HEADERS}) }`,
  SET: `return { wrk.format("POST", "/set/key", ${HEADERS}, "${'v'.repeat(64)}") }`,
} as const;

/** Processor time of both processes for a request, in microseconds. */
interface Cost {
  readonly perSecond: number;
  readonly mainMicros: number;
  readonly allMicros: number;
}

export const clusterForwarded: Bench = {
  name: 'cluster-forwarded',
  summary: 'a GET and a SET at an edge that owns nothing, beside the same at the owner',
  async run(progress) {
    if (isWrkMissing()) return { figures: [], skipped: ['cluster-forwarded: wrk is not installed'] };
    let figures: readonly Figure[] = [];
    await withOwnerAndEdge(async (owner, edge) => {
      figures = figuresOf(await measure(owner, edge, progress));
    });
    return { figures, skipped: [] };
  },
};

/** Two processes on one nats-server: one owns every shard, one is only an edge. */
export async function withOwnerAndEdge(use: (owner: Millrace, edge: Millrace) => Promise<void>): Promise<void> {
  const nats = await startPlainNats();
  const [owner, edge] = [await Millrace.create(), await Millrace.create()];
  try {
    const env = preparedCluster(nats, owner);
    await owner.start({ isWatched: false, env });
    await edge.start({ isWatched: false, env: { ...env, MILLRACE_ROLES: 'edge' } });
    await edge.command('SET', 'key', 'value');
    await use(owner, edge);
  } finally {
    await Promise.all([owner.dispose(), edge.dispose()]);
    await nats.stop();
  }
}

/** Initialises a cluster on nats-servers. @returns the settings of its processes */
export function preparedCluster(
  nats: Omit<NatsFacts, 'stop'>,
  { directory }: Millrace,
  replicas = 1,
): Readonly<Record<string, string>> {
  const env = {
    MILLRACE_NATS_URL: nats.url,
    MILLRACE_NATS_USER: nats.user,
    MILLRACE_NATS_PASSWORD: nats.password,
    MILLRACE_NATS_SYS_USER: nats.sysUser,
    MILLRACE_NATS_SYS_PASSWORD: nats.sysPassword,
    MILLRACE_REPLICAS: `${replicas}`,
    MILLRACE_SEAL_KEY_FILE: join(directory, 'seal.key'),
    MILLRACE_SECRET_MIN_CHARACTERS: '1',
  };
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'cluster', 'init'], {
    env: { ...process.env, ...env, MILLRACE_DATA_DIR: directory },
  });
  if (status !== 0) throw new Error(`cluster init ended with ${status}: ${stderr}`);
  return env;
}

type Costs = ReadonlyMap<string, readonly Cost[]>;

async function measure(owner: Millrace, edge: Millrace, progress: (line: string) => void): Promise<Costs> {
  const costs = new Map<string, Cost[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    const line: string[] = [];
    for (const [verb, requests] of Object.entries(REQUESTS)) {
      for (const [where, { url }] of Object.entries({ local: owner, forwarded: edge })) {
        const before = await ranBoth(owner, edge);
        const seconds = round === 0 ? 1 : SECONDS;
        const { requestsPerSecond } = await wrk({ url, requests, connections: CONNECTIONS, seconds });
        const after = await ranBoth(owner, edge);
        const micros = (field: 'mainMs' | 'allMs') =>
          ((after[field] - before[field]) * 1000) / (requestsPerSecond * seconds);
        const cost = { perSecond: requestsPerSecond, mainMicros: micros('mainMs'), allMicros: micros('allMs') };
        const name = `${verb}, ${where}`;
        if (round > 0) costs.set(name, [...(costs.get(name) ?? []), cost]);
        line.push(`${name} ${Math.round(cost.perSecond)}/s at ${cost.mainMicros.toFixed(0)} µs`);
      }
    }
    progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${line.join(', ')}`);
  }
  return costs;
}

async function ranBoth(owner: Millrace, edge: Millrace): Promise<{ readonly mainMs: number; readonly allMs: number }> {
  const [a, b] = [owner.pid, edge.pid];
  return {
    mainMs: (await ranMs(a)) + (await ranMs(b)),
    allMs: await ranOfThreadsMs(a, b),
  };
}

function figuresOf(costs: Costs): readonly Figure[] {
  const of = (name: string, field: keyof Cost) => median((costs.get(name) ?? []).map((cost) => cost[field]));
  const goals = { GET: atMost(1.5), SET: atMost(1.3) };
  return Object.keys(REQUESTS).flatMap((verb): Figure[] => {
    const [near, far] = [`${verb}, local`, `${verb}, forwarded`];
    const more = of(far, 'mainMicros') - of(near, 'mainMicros');
    return [
      {
        name: `${verb} forwarded / local, processor time`,
        value: of(far, 'allMicros') / of(near, 'allMicros'),
        unit: 'ratio',
        target: goals[verb as keyof typeof goals],
      },
      { name: `  ${verb}: forwarding, both main threads`, value: more, unit: 'µs', target: atMost(60) },
      ...[near, far].flatMap((name): Figure[] => [
        { name: `  ${name}`, value: of(name, 'perSecond'), unit: 'req/s' },
        { name: `  ${name}, all threads`, value: of(name, 'allMicros'), unit: 'µs' },
      ]),
    ];
  });
}
