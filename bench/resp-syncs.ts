/**
 * SETs, and GETs during SETs, compared with a redis-server that syncs before it answers, on disks whose syncs take longer and
 * longer. A redis-server reads, executes, syncs and answers in turn, so its GETs wait for the syncs of SETs.
 */
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace, PASSWORD } from './millrace.js';
import { RedisServer } from './redis.js';
import { isRedisBenchmarkMissing, loadUntil, type RespLoad, redisBenchmark } from './redis-benchmark.js';
import { sized } from './sizes.js';
import { isStraceMissing } from './slow-syncs.js';

const ADDED_MS = [0, 1, 2, 5].slice(0, sized(4, 2));
const ROUNDS = sized(3, 1);
const REQUESTS = sized(30_000, 2_000);
const WRITERS = 8;
/** So few that the SETs end soon after the GETs, and so many that the pauses between such runs are short. */
const REQUESTS_OF_WRITERS = sized(1_000, 200);

interface Side {
  readonly name: 'ours' | 'redis';
  readonly port: number;
  readonly password: string | undefined;
}

export const respSyncs: Bench = {
  name: 'resp-syncs',
  summary: 'SETs and GETs during SETs beside redis-server with appendfsync always, on disks with slower syncs',
  async run(progress) {
    const missing = [
      RedisServer.isMissing() && 'redis-server',
      isRedisBenchmarkMissing() && 'redis-benchmark',
      isStraceMissing() && 'strace',
    ].filter(Boolean);
    if (missing.length > 0) return { figures: [], skipped: [`resp-syncs: ${missing.join(', ')} not installed`] };
    const figures: Figure[] = [];
    for (const addedMs of ADDED_MS) figures.push(...(await comparedWith(addedMs, progress)));
    return { figures, skipped: [] };
  },
};

async function comparedWith(addedMs: number, progress: (line: string) => void): Promise<readonly Figure[]> {
  const addedUs = addedMs * 1000;
  const [millrace, redis] = [await Millrace.create(), await RedisServer.start('always', addedUs)];
  const rates = new Map<string, number[]>();
  try {
    await millrace.start({ isWatched: false, addedUs });
    const sides: readonly Side[] = [
      { name: 'ours', port: millrace.respPort, password: PASSWORD },
      { name: 'redis', port: redis.port, password: undefined },
    ];
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const { name, port, password } of sides) {
        const load = { port, password, pipeline: 1, requests: REQUESTS, randomBelow: 10_000 };
        const sets = await redisBenchmark({ ...load, command: { test: 'set' } });
        const gets = await getsDuringSets(load);
        if (round === 0) continue;
        rates.set(`SET ${name}`, [...(rates.get(`SET ${name}`) ?? []), sets]);
        rates.set(`GET ${name}`, [...(rates.get(`GET ${name}`) ?? []), gets]);
      }
      progress(`syncs of ${addedMs} ms more, ${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}`);
    }
  } finally {
    await Promise.all([millrace.dispose(), redis.dispose()]);
  }
  const ratio = (verb: 'SET' | 'GET') =>
    median(rates.get(`${verb} ours`) ?? []) / median(rates.get(`${verb} redis`) ?? []);
  const perSecond = (verb: 'SET' | 'GET') =>
    `${['ours', 'redis'].map((name) => Math.round(median(rates.get(`${verb} ${name}`) ?? []))).join(' and ')} a second`;
  const disk = addedMs === 0 ? 'this disk' : `syncs ${addedMs} ms slower`;
  return [
    {
      name: `SET, ${disk} / redis-server`,
      value: ratio('SET'),
      unit: 'ratio',
      target: atLeast(0.8),
      note: perSecond('SET'),
    },
    {
      name: `GET during SETs at ${WRITERS}, ${disk} / redis-server`,
      value: ratio('GET'),
      unit: 'ratio',
      target: atLeast(5),
      note: perSecond('GET'),
    },
  ];
}

/** @returns GETs a second */
async function getsDuringSets(load: Omit<RespLoad, 'command'>): Promise<number> {
  const over = { isOver: false };
  const few = { ...load, requests: REQUESTS_OF_WRITERS, connections: WRITERS };
  const writing = loadUntil(over, { ...few, command: { test: 'set' } });
  try {
    return await redisBenchmark({ ...load, command: { test: 'get' } });
  } finally {
    over.isOver = true;
    await writing;
  }
}
