/**
 * How well the cores of a machine are used: the cost of a forwarded command, and the processor time of an operation with
 * several workers compared with one. With more workers than cores the throughput shows
 * little, so ratios are of processor time.
 */
import { cpus } from 'node:os';
import { makeDatabases, requestsOver } from './cluster-databases.js';
import { withOwnerAndEdge } from './cluster-forwarded.js';
import { atLeast, atMost, type Bench, type Figure, median } from './figures.js';
import { Millrace, PASSWORD, TOKEN } from './millrace.js';
import { ranOfThreadsMs, serversOf, workersOf } from './processor-time.js';
import { publishRequests } from './queue-load.js';
import { isRedisBenchmarkMissing, redisBenchmark } from './redis-benchmark.js';
import { Sink } from './sink.js';
import { sized } from './sizes.js';
import { isWrkMissing, wrk } from './wrk.js';

const ROUNDS = sized(3, 1);
const SECONDS = sized(3, 1);
const CONNECTIONS = 64;
const DATABASES = 16;
const RESP_REQUESTS = sized(100_000, 5_000);
/** The cores for which a ratio is computed. */
const COMPUTED_CORES = 8;
const DELIVERED_TIMEOUT_MS = 120_000;
/** As many shards with one worker as with several, which is the default of those. */
const ENV = { MILLRACE_SECRET_MIN_CHARACTERS: '1', MILLRACE_KV_SHARDS: '16' };

const VERBS = {
  GET: 'wrk.format("GET", path("get"), headers)',
  SET: 'wrk.format("POST", path("set"), headers, value)',
} as const;
type Verb = keyof typeof VERBS;
const VERB_NAMES = Object.keys(VERBS) as Verb[];

/** Processor time of an operation, in microseconds: all processes of Millrace, and its nats-server. */
interface Cost {
  readonly ours: number;
  readonly nats: number;
}

type Progress = (line: string) => void;

export const cores: Bench = {
  name: 'cores',
  summary: 'forwarded commands and several workers, in processor time',
  async run(progress) {
    const missing = [isWrkMissing() && 'wrk', isRedisBenchmarkMissing() && 'redis-benchmark'].filter(Boolean);
    if (missing.length > 0) return { figures: [], skipped: [`cores: ${missing.join(' and ')} is not installed`] };
    const forwarded = await forwardedCosts(progress);
    const byWorkers = new Map<number, WorkerCosts>();
    for (const workers of workerCounts()) byWorkers.set(workers, await costsWith(workers, progress));
    return { figures: [...figuresOfForwarding(forwarded), ...figuresOfWorkers(byWorkers, forwarded)], skipped: [] };
  },
};

/** 1, 2, 4 … as far as there are cores, and at least two. */
function workerCounts(): readonly number[] {
  const most = Math.max(2, cpus().length);
  return [1, 2, 4, 8, 16, 32].filter((workers) => workers <= most);
}

// --- The cost of a forwarded command

/** Microseconds of all threads of both processes, by `GET over REST, local` … */
type Forwarded = ReadonlyMap<string, number>;

async function forwardedCosts(progress: Progress): Promise<Forwarded> {
  const costs = new Map<string, number[]>();
  await withOwnerAndEdge(async (owner, edge) => {
    const ran = () => ranOfThreadsMs(owner.pid, edge.pid);
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const verb of VERB_NAMES) {
        for (const [where, process] of Object.entries({ local: owner, forwarded: edge })) {
          for (const [protocol, load] of [
            ['REST', () => restLoad(process, [TOKEN], verb)],
            ['RESP', () => respLoad(process, verb)],
          ] as const) {
            const beforeMs = await ran();
            const count = await load();
            const name = `${verb} over ${protocol}, ${where}`;
            const micros = (((await ran()) - beforeMs) * 1000) / count;
            if (round > 0) costs.set(name, [...(costs.get(name) ?? []), micros]);
          }
        }
      }
      progress(`forwarding, ${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}`);
    }
  });
  return new Map([...costs].map(([name, all]) => [name, median(all)]));
}

/** @param by how the databases alternate: each thread has connections of its own. @returns the number of requests */
async function restLoad(
  { url }: Millrace,
  tokens: readonly string[],
  verb: Verb,
  by: 'request' | 'thread' = 'request',
): Promise<number> {
  const requests = requestsOver(tokens, VERBS[verb], 1024, by);
  const threads = by === 'thread' ? tokens.length : 1;
  const load = { url, requests, connections: CONNECTIONS, seconds: SECONDS, threads };
  const { requestsPerSecond, errors } = await wrk(load);
  if (errors > 0) throw new Error(`${verb}: ${errors} errors`);
  return requestsPerSecond * SECONDS;
}

async function respLoad({ respPort }: Millrace, verb: Verb): Promise<number> {
  const load = { port: respPort, password: PASSWORD, pipeline: 1, requests: RESP_REQUESTS, randomBelow: 10_000 };
  await redisBenchmark({ ...load, command: { test: verb.toLowerCase() } });
  return RESP_REQUESTS;
}

// --- Several workers

type WorkerCosts = ReadonlyMap<string, Cost>;

async function costsWith(workers: number, progress: Progress): Promise<WorkerCosts> {
  const [millrace, sink] = [await Millrace.create(), await Sink.start()];
  const costs = new Map<string, Cost[]>();
  try {
    await millrace.start({ isWatched: false, env: { ...ENV, MILLRACE_WORKERS: `${workers}` } });
    const tokens = (await makeDatabases(millrace, DATABASES)).map(({ token }) => token);
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, load] of [
        ['GET', () => restLoad(millrace, tokens, 'GET', 'thread')],
        ['SET', () => restLoad(millrace, tokens, 'SET', 'thread')],
        ['GET over RESP', () => respLoad(millrace, 'GET')],
        ['GET, another database at each request', () => restLoad(millrace, tokens, 'GET')],
        ['publish and delivery', () => deliveries(millrace, sink)],
      ] as const) {
        const before = await ranOfAll(millrace.pid);
        const count = await load();
        const after = await ranOfAll(millrace.pid);
        const micros = (of: keyof Cost) => ((after[of] - before[of]) * 1000) / count;
        if (round > 0) costs.set(name, [...(costs.get(name) ?? []), { ours: micros('ours'), nats: micros('nats') }]);
      }
      progress(`${workers} workers, ${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}`);
    }
  } finally {
    await Promise.all([millrace.dispose(), sink.stop()]);
  }
  const middle = (all: readonly Cost[], of: keyof Cost) => median(all.map((cost) => cost[of]));
  return new Map([...costs].map(([name, all]) => [name, { ours: middle(all, 'ours'), nats: middle(all, 'nats') }]));
}

/** Publishes for a while. @returns the number of messages, after all of them were delivered */
async function deliveries({ queueUrl: url }: Millrace, sink: Sink): Promise<number> {
  await sink.begin({ kind: 'count' });
  const load = { url, requests: publishRequests(sink.url), connections: CONNECTIONS, seconds: SECONDS };
  const { requestsPerSecond } = await wrk(load);
  const published = Math.floor(requestsPerSecond * SECONDS);
  await sink.received(published, DELIVERED_TIMEOUT_MS);
  return published;
}

/** Milliseconds of processor of a process and its workers, and of their nats-server. */
async function ranOfAll(pid: number): Promise<Cost> {
  const [workers, servers] = [await workersOf(pid), await serversOf(pid)];
  return { ours: await ranOfThreadsMs(pid, ...workers), nats: await ranOfThreadsMs(...servers) };
}

// --- Figures

function figuresOfForwarding(forwarded: Forwarded): readonly Figure[] {
  return ['REST', 'RESP'].flatMap((protocol) =>
    VERB_NAMES.flatMap((verb): Figure[] => {
      const of = (where: string) => forwarded.get(`${verb} over ${protocol}, ${where}`) ?? Number.NaN;
      return [
        {
          name: `${verb} over ${protocol}, forwarded / local`,
          value: of('forwarded') / of('local'),
          unit: 'ratio',
          target: atMost(1.6),
        },
        { name: '  added by forwarding', value: of('forwarded') - of('local'), unit: 'µs' },
      ];
    }),
  );
}

/** Connections go to the owner of the database of their first request. */
const TARGETS: Readonly<Record<string, number>> = {
  GET: 1.1,
  SET: 1.1,
  'GET over RESP': 1.1,
  'GET, another database at each request': 1.35,
  'publish and delivery': 1.25,
};

function figuresOfWorkers(byWorkers: ReadonlyMap<number, WorkerCosts>, forwarded: Forwarded): readonly Figure[] {
  const one = byWorkers.get(1);
  const figures: Figure[] = [];
  for (const [workers, costs] of byWorkers) {
    for (const [name, { ours, nats }] of costs) {
      const base = one?.get(name)?.ours ?? Number.NaN;
      const target = workers === 2 ? { target: atMost(TARGETS[name] ?? Number.NaN) } : {};
      if (workers > 1)
        figures.push({ name: `${name}, ${workers} workers / 1`, value: ours / base, unit: 'ratio', ...target });
      figures.push({ name: `  ${name}, ${workers} workers, nats-server`, value: nats, unit: 'µs' });
    }
  }
  for (const verb of VERB_NAMES) {
    const nats = one?.get(verb)?.nats ?? Number.NaN;
    figures.push(computed(verb, forwarded, nats, 0), computed(verb, forwarded, nats, 1 - 1 / COMPUTED_CORES));
  }
  return figures;
}

/**
 * One worker keeps one core busy, and the nats-server uses the same cores.
 * @param share of the commands that are forwarded: none if each connection has one database, all but those of the own
 * shards if each request has another one
 */
function computed(verb: Verb, forwarded: Forwarded, nats: number, share: number): Figure {
  const local = forwarded.get(`${verb} over REST, local`) ?? Number.NaN;
  const added = (forwarded.get(`${verb} over REST, forwarded`) ?? Number.NaN) - local;
  return {
    name: `${verb}, ${COMPUTED_CORES} cores / one, computed, ${share === 0 ? 'a' : 'changing'} database`,
    value: (COMPUTED_CORES * local) / (local + share * added + nats),
    unit: 'ratio',
    target: atLeast(share === 0 ? 6 : 4.5),
  };
}
