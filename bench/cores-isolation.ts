/**
 * Requests of a worker while the other worker of the installation is killed, and while one database takes all of it. The
 * requests come at a fixed and low rate over connections of the first worker, to a database that it owns. On two cores
 * the first worker shares its core with the load, the nats-server and the bench: the ratios are upper limits there.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, type Bench, type Figure, median, percentile } from './figures.js';
import { paced, type Timed } from './paced.js';
import { ranMs } from './redis.js';
import { isRedisBenchmarkMissing, loadUntil } from './redis-benchmark.js';
import type { RespLink } from './resp-link.js';
import { sized } from './sizes.js';
import { TwoWorkers, type WorkerNumber } from './two-workers.js';

const ROUNDS = sized(3, 1);
const WINDOW_MS = sized(4000, 1000);
/** Requests a second, GETs and SETs in turn: a few percent of a core. */
const PER_SECOND = 400;
const LINKS = 4;
const AROUND_KILL_MS = 2000;
/** The same ones in all rounds, so that the code of the survivor is compiled. */
const [VICTIM, SURVIVOR] = [1, 2] as const;
const AGAIN_AFTER_MS = 5;
const LOAD_STARTS_MS = 500;
const VERBS = ['GET', 'SET'] as const;
type Verb = (typeof VERBS)[number];
const VALUE = 'v'.repeat(64);
/** Commands that need much of the worker and little of the program that sends them, which has no core for itself. */
const LOADS = {
  reads: { pipeline: 1, requests: 4_000, randomBelow: 1, command: ['LPOS', 'list', 'missing'] },
  SETs: { pipeline: 64, requests: 60_000, randomBelow: 10_000, command: { test: 'set' } },
} as const;
const LIST_LENGTH = 50_000;

type Progress = (line: string) => void;

export const coresIsolation: Bench = {
  name: 'cores-isolation',
  summary: 'requests of a worker while the other one is killed, and while one database takes all of the other one',
  async run(progress) {
    const stand = await TwoWorkers.start();
    try {
      const prober = new Prober(stand);
      const figures = await killed(stand, prober, progress);
      if (isRedisBenchmarkMissing()) {
        return { figures, skipped: ['cores-isolation, a busy database: redis-benchmark is not installed'] };
      }
      return { figures: [...figures, ...(await crowded(stand, prober, progress))], skipped: [] };
    } finally {
      await stand.dispose();
    }
  },
};

/** Sends the requests whose times are measured. */
class Prober {
  failed = 0;

  constructor(private readonly stand: TwoWorkers) {}

  /** Connections of a worker to a database that it owns. */
  async open(worker: WorkerNumber): Promise<readonly RespLink[]> {
    const [first] = this.stand.databases;
    // The database of the first start is the load's.
    const own = (await this.stand.databasesOf(worker)).find((database) => database !== first);
    if (own === undefined) throw new Error(`worker ${worker} owns no database`);
    return Promise.all(Array.from({ length: LINKS }, () => this.stand.link(worker, own)));
  }

  async times(links: readonly RespLink[], durationMs: number): Promise<Readonly<Record<Verb, readonly Timed[]>>> {
    const all = await paced({ perSecond: PER_SECOND, durationMs }, async (number) => {
      const words = verbOf(number) === 'GET' ? ['GET', `key:${number}`] : ['SET', `key:${number}`, VALUE];
      const asked = links[number % LINKS]?.ask(...words);
      await asked?.catch(() => {
        this.failed += 1;
      });
    });
    const of = (verb: Verb) => all.filter((_, number) => verbOf(number) === verb);
    return { GET: of('GET'), SET: of('SET') };
  }
}

/** Each link has requests of both verbs. */
function verbOf(number: number): Verb {
  return Math.floor(number / LINKS) % 2 === 0 ? 'SET' : 'GET';
}

function p99(times: readonly Timed[]): number {
  return percentile(
    times.map(({ tookMs }) => tookMs),
    99,
  );
}

// --- A worker is killed

async function killed(stand: TwoWorkers, prober: Prober, progress: Progress): Promise<readonly Figure[]> {
  const before: Record<Verb, Timed[]> = { GET: [], SET: [] };
  const after: Record<Verb, Timed[]> = { GET: [], SET: [] };
  const served: number[] = [];
  const links = await prober.open(SURVIVOR);
  await prober.times(links, WINDOW_MS);
  prober.failed = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const databases = await stand.databasesOf(VICTIM);
    const lost = await Promise.all(databases.map((database) => stand.link(SURVIVOR, database)));
    const probing = prober.times(links, 2 * AROUND_KILL_MS);
    await delay(AROUND_KILL_MS);
    const killedAtMs = performance.now();
    stand.kill(VICTIM);
    const servedAtMs = await Promise.all(lost.map(setUntilStored));
    served.push(Math.max(...servedAtMs) - killedAtMs);
    const times = await probing;
    for (const verb of VERBS) {
      before[verb].push(...times[verb].filter(({ sentAtMs }) => sentAtMs < killedAtMs));
      after[verb].push(...times[verb].filter(({ sentAtMs }) => sentAtMs >= killedAtMs));
    }
    progress(`kill ${round} of ${ROUNDS}: ${lost.length} shards served after ${served.at(-1)?.toFixed(0)} ms`);
    for (const link of lost) link.close();
    await stand.bothServe();
  }
  for (const link of links) link.close();
  return [
    {
      name: 'kill -9 of a worker, until all its databases are served again',
      value: median(served),
      unit: 'ms',
      target: atMost(1000),
      note: `longest ${Math.max(...served).toFixed(0)} ms`,
    },
    ...VERBS.map(
      (verb): Figure => ({
        name: `${verb} at the other worker, 2 s after the kill / before, p99`,
        value: p99(after[verb]) / p99(before[verb]),
        unit: 'ratio',
        note: `${p99(after[verb]).toFixed(2)} and ${p99(before[verb]).toFixed(2)} ms`,
      }),
    ),
    { name: '  failed or unknown', value: prober.failed, unit: 'requests', target: atMost(0) },
  ];
}

/** @returns the time of the first answer that is no error */
async function setUntilStored(link: RespLink): Promise<number> {
  for (;;) {
    const isStored = await link.ask('SET', 'lost', VALUE).then(
      () => true,
      () => false,
    );
    if (isStored) return performance.now();
    await delay(AGAIN_AFTER_MS);
  }
}

// --- A database takes all of a worker

async function crowded(stand: TwoWorkers, prober: Prober, progress: Progress): Promise<readonly Figure[]> {
  const [hot] = stand.databases;
  if (hot === undefined) throw new Error('there is no database');
  const busy = (await stand.databasesOf(1)).some(({ shard }) => shard === hot.shard) ? 1 : 2;
  const links = await prober.open(busy === 1 ? 2 : 1);
  const seed = await stand.link(busy, hot);
  await seed.ask('RPUSH', 'list', ...Array.from({ length: LIST_LENGTH }, (_, at) => `element ${at}`));
  seed.close();
  const windows = new Map<string, readonly number[]>();
  const note = (name: string, value: number) => windows.set(name, [...(windows.get(name) ?? []), value]);
  prober.failed = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const load of [undefined, 'reads', 'SETs'] as const) {
      const end = { isOver: load === undefined };
      const server = { port: stand.portOf(busy), password: hot.password };
      const loading = loadUntil(end, { ...server, ...LOADS[load ?? 'reads'] });
      await delay(LOAD_STARTS_MS);
      const [ranBeforeMs, beganMs] = [await ranMs(stand.pidOf(busy)), performance.now()];
      const times = await prober.times(links, WINDOW_MS);
      const share = ((await ranMs(stand.pidOf(busy))) - ranBeforeMs) / (performance.now() - beganMs);
      end.isOver = true;
      await loading;
      const shown = VERBS.map((verb) => `${verb} ${p99(times[verb]).toFixed(1)} ms`).join(', ');
      progress(`round ${round} of ${ROUNDS}, ${load ?? 'quiet'}: p99 of ${shown}; busy core ${share.toFixed(2)}`);
      // The first round warms up.
      if (round === 0) continue;
      for (const verb of VERBS) note(`${verb}, ${load ?? 'quiet'}`, p99(times[verb]));
      note(`core, ${load ?? 'quiet'}`, share);
    }
  }
  for (const link of links) link.close();
  const of = (name: string) => median(windows.get(name) ?? []);
  return [
    ...(['reads', 'SETs'] as const).flatMap((load): Figure[] => [
      ...VERBS.map(
        (verb): Figure => ({
          name: `${verb} during a neighbour's ${load} / quiet, p99`,
          value: of(`${verb}, ${load}`) / of(`${verb}, quiet`),
          unit: 'ratio',
          target: atMost(1.2),
          note: `${of(`${verb}, ${load}`).toFixed(2)} and ${of(`${verb}, quiet`).toFixed(2)} ms`,
        }),
      ),
      { name: `  core of the neighbour's worker, ${load}`, value: of(`core, ${load}`), unit: 'cores' },
    ]),
    { name: '  failed or unknown', value: prober.failed, unit: 'requests', target: atMost(0) },
  ];
}
