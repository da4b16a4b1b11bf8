/**
 * SETs with three replicas, on three nats-servers of this machine, compared with SETs with one on one nats-server, in
 * turn: how many a second, and the processor time of a SET. All nats-servers sync each write. The four nats-servers and
 * the load share the machine.
 */
import { startPlainNats } from '../test/support/millrace-cluster.js';
import { startNatsCluster } from '../test/support/nats-cluster.js';
import { findNatsServer } from '../test/support/nats-server.js';
import { preparedCluster } from './cluster-forwarded.js';
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace, PASSWORD } from './millrace.js';
import { ranOfThreadsMs, serversOf } from './processor-time.js';
import { isRedisBenchmarkMissing, redisBenchmark } from './redis-benchmark.js';
import { sized } from './sizes.js';

const ROUNDS = sized(3, 1);
const REQUESTS = sized(30_000, 2_000);
const KEYS = 10_000;

interface Side {
  readonly name: string;
  readonly millrace: Millrace;
  readonly servers: readonly number[];
}

interface Cost {
  readonly perSecond: number;
  readonly ours: number;
  readonly nats: number;
}

export const clusterReplicas: Bench = {
  name: 'cluster-replicas',
  summary: 'SETs over RESP with three replicas on three nats-servers, compared with one on one',
  async run(progress) {
    if (isRedisBenchmarkMissing()) {
      return { figures: [], skipped: ['cluster-replicas: redis-benchmark is not installed'] };
    }
    const one = await startPlainNats();
    const ofOne = await serversOf(process.pid);
    const three = await startNatsCluster(findNatsServer());
    const ofThree = (await serversOf(process.pid)).filter((pid) => !ofOne.includes(pid));
    const [single, replicated] = [await Millrace.create(), await Millrace.create()];
    try {
      const settings = preparedCluster({ ...three, url: three.urls.join(',') }, replicated, 3);
      await single.start({ isWatched: false, env: preparedCluster(one, single) });
      await replicated.start({ isWatched: false, env: settings });
      const sides = [
        { name: 'one replica', millrace: single, servers: ofOne },
        { name: 'three replicas', millrace: replicated, servers: ofThree },
      ];
      return { figures: figuresOf(await measure(sides, progress)), skipped: [] };
    } finally {
      await Promise.all([single.dispose(), replicated.dispose()]);
      await Promise.all([one.stop(), three.stop()]);
    }
  },
};

async function measure(sides: readonly Side[], progress: (line: string) => void): Promise<readonly Cost[][]> {
  const costs = sides.map((): Cost[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [at, { name, millrace, servers }] of sides.entries()) {
      const load = { port: millrace.respPort, password: PASSWORD, pipeline: 1, requests: REQUESTS, randomBelow: KEYS };
      const before = { ours: await ranOfThreadsMs(millrace.pid), nats: await ranOfThreadsMs(...servers) };
      const perSecond = await redisBenchmark({ ...load, command: { test: 'set' } });
      const [ours, nats] = [await ranOfThreadsMs(millrace.pid), await ranOfThreadsMs(...servers)];
      const micros = (ms: number) => (ms * 1000) / REQUESTS;
      progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}, ${name}: ${perSecond.toFixed(0)} SETs/s`);
      // The first round warms up.
      if (round > 0) costs[at]?.push({ perSecond, ours: micros(ours - before.ours), nats: micros(nats - before.nats) });
    }
  }
  return costs;
}

function figuresOf([one = [], three = []]: readonly Cost[][]): readonly Figure[] {
  const of = (costs: readonly Cost[], field: keyof Cost) => median(costs.map((cost) => cost[field]));
  const all = (costs: readonly Cost[]) => of(costs, 'ours') + of(costs, 'nats');
  return [
    {
      name: 'SET, three replicas / one, SETs a second',
      value: of(three, 'perSecond') / of(one, 'perSecond'),
      unit: 'ratio',
      target: atLeast(0.5),
      note: `${of(three, 'perSecond').toFixed(0)} and ${of(one, 'perSecond').toFixed(0)} a second, 50 connections`,
    },
    { name: 'SET, three replicas / one, processor time', value: all(three) / all(one), unit: 'ratio' },
    ...Object.entries({ 'one replica': one, 'three replicas': three }).flatMap(([name, costs]): Figure[] => [
      { name: `  ${name}, process`, value: of(costs, 'ours'), unit: 'µs' },
      { name: `  ${name}, nats-servers`, value: of(costs, 'nats'), unit: 'µs' },
    ]),
  ];
}
