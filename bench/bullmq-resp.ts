/**
 * BullMQ on our native protocol, compared with BullMQ on a redis-server that stores before it answers: the same client and
 * the same scripts, in turn. Adding jobs one after the other waits for one entry per job; processing shares entries between
 * the jobs that are under way.
 */
import { Queue, Worker } from 'bullmq';
import { atLeast, type Bench, type Figure, median, type Target } from './figures.js';
import { Millrace, PASSWORD } from './millrace.js';
import { RedisServer, ranMs } from './redis.js';

const ROUNDS = 5;
const QUICK_ROUNDS = 1;
/** A message of a few fields, as jobs commonly are. */
const DATA = { to: 'somebody@example.com', subject: 'a word', body: 'b'.repeat(200) };
const JOB_OPTIONS = { removeOnComplete: true };
const CHUNK = 1_000;

interface Side {
  readonly name: 'ours' | 'redis';
  readonly connection: { readonly host: string; readonly port: number; readonly password?: string };
  readonly pid: number;
}

interface Round {
  readonly perSecond: number;
  /** Processor time of the server's main thread for a job. Other load of the machine hardly changes it. */
  readonly cpuMicros: number;
}

interface Workload {
  readonly name: string;
  readonly jobs: number;
  readonly target: Target;
  /** Measured from `begin` on, until the jobs are done. */
  run(side: Side, queue: Queue, jobs: number, begin: () => Promise<void>): Promise<void>;
}

const WORKLOADS: readonly Workload[] = [
  { name: 'add, one by one', jobs: 2_000, target: atLeast(0.6), run: addOneByOne },
  { name: 'process, concurrency 50', jobs: 8_000, target: atLeast(0.6), run: (...given) => processAll(50, ...given) },
  { name: 'process, concurrency 1', jobs: 2_000, target: atLeast(0.6), run: (...given) => processAll(1, ...given) },
];

export const bullmqResp: Bench = {
  name: 'bullmq-resp',
  summary: 'BullMQ on our native protocol beside BullMQ on a redis-server with appendfsync always',
  async run(progress) {
    if (RedisServer.isMissing()) return { figures: [], skipped: ['bullmq-resp: redis-server is not installed'] };
    const millrace = await Millrace.create();
    const redis = await RedisServer.start();
    try {
      await millrace.start({ isWatched: false });
      const sides: readonly Side[] = [
        {
          name: 'ours',
          connection: { host: '127.0.0.1', port: millrace.respPort, password: PASSWORD },
          pid: millrace.pid,
        },
        { name: 'redis', connection: { host: '127.0.0.1', port: redis.port }, pid: redis.pid },
      ];
      const figures: Figure[] = [];
      for (const workload of WORKLOADS) figures.push(await compare(workload, sides, progress));
      return { figures, skipped: [] };
    } finally {
      await Promise.all([millrace.dispose(), redis.dispose()]);
    }
  },
};

async function compare(workload: Workload, sides: readonly Side[], progress: (line: string) => void): Promise<Figure> {
  const isQuick = process.env.QUICK === '1';
  const rounds: Record<Side['name'], Round[]> = { ours: [], redis: [] };
  // The first round warms up and does not count.
  for (let round = 0; round <= (isQuick ? QUICK_ROUNDS : ROUNDS); round += 1) {
    for (const side of sides) {
      const result = await measure(workload, side, round === 0 || isQuick ? 0.2 : 1);
      if (round > 0) rounds[side.name].push(result);
    }
  }
  const of = (side: Side['name'], field: keyof Round) => median(rounds[side].map((round) => round[field]));
  const figure: Figure = {
    name: `${workload.name} / BullMQ on redis-server`,
    value: of('ours', 'perSecond') / of('redis', 'perSecond'),
    unit: 'ratio',
    target: workload.target,
    note:
      `${Math.round(of('ours', 'perSecond'))} jobs/s beside ${Math.round(of('redis', 'perSecond'))}, main thread ` +
      `${of('ours', 'cpuMicros').toFixed(0)} µs beside ${of('redis', 'cpuMicros').toFixed(0)}`,
  };
  progress(`${figure.name}: ${figure.value.toFixed(2)} (${figure.note})`);
  return figure;
}

async function measure({ jobs, run }: Workload, side: Side, share: number): Promise<Round> {
  const count = Math.round(jobs * share);
  const queue = new Queue('letters', { connection: side.connection });
  try {
    let beganAtMs = 0;
    let ranBeforeMs = 0;
    await queue.waitUntilReady();
    const begin = async () => {
      ranBeforeMs = await ranMs(side.pid);
      beganAtMs = performance.now();
    };
    await run(side, queue, count, begin);
    const tookMs = performance.now() - beganAtMs;
    const ranForMs = (await ranMs(side.pid)) - ranBeforeMs;
    return { perSecond: (count * 1000) / tookMs, cpuMicros: (ranForMs * 1000) / count };
  } finally {
    await queue.obliterate({ force: true });
    await queue.close();
  }
}

async function addOneByOne(_: Side, queue: Queue, jobs: number, begin: () => Promise<void>): Promise<void> {
  await begin();
  for (let i = 0; i < jobs; i += 1) await queue.add('letter', DATA, JOB_OPTIONS);
}

async function processAll(
  concurrency: number,
  { connection }: Side,
  queue: Queue,
  jobs: number,
  begin: () => Promise<void>,
): Promise<void> {
  for (let from = 0; from < jobs; from += CHUNK) {
    const length = Math.min(CHUNK, jobs - from);
    await queue.addBulk(Array.from({ length }, () => ({ name: 'letter', data: DATA, opts: JOB_OPTIONS })));
  }
  const worker = new Worker(queue.name, async () => undefined, { connection, concurrency, autorun: false });
  await worker.waitUntilReady();
  const drained = new Promise<void>((resolve) => {
    let done = 0;
    worker.on('completed', () => {
      done += 1;
      if (done === jobs) resolve();
    });
  });
  await begin();
  void worker.run();
  await drained;
  await worker.close();
}
