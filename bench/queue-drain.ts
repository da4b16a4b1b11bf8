/**
 * How fast waiting messages are delivered: 20,000 of 200 bytes to a sink in another process, at most 100 at
 * once, beside a process that does nothing but call, and beside BullMQ doing the same call for each job.
 * Every round measures each once; the sink counts from the first arrival to the last.
 */
import { BullQueue } from './bullmq-queue.js';
import { Child } from './child.js';
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace } from './millrace.js';
import { BODY, ownFlags, publishAll, queueCall } from './queue-load.js';
import { ranMs } from './redis.js';
import { rateOf, Sink } from './sink.js';
import { sized } from './sizes.js';

const MESSAGES = sized(20_000, 4000);
const ROUNDS = sized(5, 2);
const CONCURRENCY = 100;
const TIMEOUT_MS = 120_000;
const BARE = new URL('./bare-undici.js', import.meta.url).pathname;

/** Messages a second, and what one costs the main thread. */
interface Drain {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

export const queueDrain: Bench = {
  name: 'queue-drain',
  summary: `${MESSAGES} waiting messages delivered, beside bare undici and BullMQ`,
  async run(progress) {
    const skipped = BullQueue.isMissing() ? ['BullMQ: redis-server is not installed'] : [];
    const [millrace, sink] = [await Millrace.create(), await Sink.start()];
    const bull = skipped.length === 0 ? await BullQueue.start() : undefined;
    try {
      await millrace.start({ isWatched: false, nodeFlags: ownFlags() });
      const alternatives: Record<string, () => Promise<Drain>> = {
        bare: () => bareDrain(sink),
        ours: () => drainOnce(millrace, sink),
        ...(bull === undefined ? {} : { BullMQ: () => bullDrain(bull, sink) }),
      };
      const results = new Map<string, Drain[]>(Object.keys(alternatives).map((name) => [name, []]));
      // The first round warms up compilers and stores, and does not count.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const line: string[] = [];
        for (const [name, drain] of Object.entries(alternatives)) {
          const result = await drain();
          if (round > 0) results.get(name)?.push(result);
          line.push(`${name} ${Math.round(result.perSecond)}/s at ${result.cpuMicros.toFixed(0)} µs`);
        }
        progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${line.join(', ')}`);
      }
      return { figures: figuresOf(results), skipped };
    } finally {
      await Promise.all([millrace.dispose(), sink.stop(), bull?.dispose()]);
    }
  },
};

/** Messages that wait are let go, and delivered to the sink. */
export async function drainOnce(millrace: Millrace, sink: Sink): Promise<Drain> {
  const headers = {
    'Content-Type': 'text/plain',
    'Svc-Flow-Control-Key': 'drain',
    'Svc-Flow-Control-Value': `parallelism=${CONCURRENCY}`,
  };
  const item = { destination: sink.url, headers, body: BODY };
  // The key exists with its first message, and can be paused then.
  await sink.begin({ kind: 'count' });
  await publishAll(millrace, 1, () => item);
  await sink.received(1, TIMEOUT_MS);
  await queueCall(millrace, 'POST', '/v2/flowControl/drain/pause');
  await publishAll(millrace, MESSAGES, () => item);
  await sink.begin({ kind: 'count' });
  const ranBeforeMs = await ranMs(millrace.pid);
  await queueCall(millrace, 'POST', '/v2/flowControl/drain/resume');
  const report = await sink.received(MESSAGES, TIMEOUT_MS);
  return { perSecond: rateOf(report), cpuMicros: (((await ranMs(millrace.pid)) - ranBeforeMs) * 1000) / MESSAGES };
}

async function bareDrain(sink: Sink): Promise<Drain> {
  const args = [BARE, sink.url, `${MESSAGES}`, `${CONCURRENCY}`];
  const driver = await Child.start(process.execPath, args, { readyWhen: /^ready/, withChannel: true });
  try {
    return await calledBy(driver, sink);
  } finally {
    await driver.stop();
  }
}

async function bullDrain(bull: BullQueue, sink: Sink): Promise<Drain> {
  await bull.fill({ url: sink.url, body: BODY }, MESSAGES);
  const worker = await bull.worker(CONCURRENCY);
  try {
    return await calledBy(worker, sink);
  } finally {
    await worker.stop();
  }
}

async function calledBy({ process: own }: Child, sink: Sink): Promise<Drain> {
  await sink.begin({ kind: 'count' });
  const ranBeforeMs = await ranMs(own.pid);
  own.send('begin');
  const report = await sink.received(MESSAGES, TIMEOUT_MS);
  return { perSecond: rateOf(report), cpuMicros: (((await ranMs(own.pid)) - ranBeforeMs) * 1000) / MESSAGES };
}

function figuresOf(results: ReadonlyMap<string, readonly Drain[]>): readonly Figure[] {
  const medianOf = (name: string, field: keyof Drain) =>
    median((results.get(name) ?? []).map((result) => result[field]));
  const ratio = (to: string) => medianOf('ours', 'perSecond') / medianOf(to, 'perSecond');
  const spread = (to: string) => {
    const theirs = results.get(to) ?? [];
    const ratios = (results.get('ours') ?? []).map(({ perSecond }, i) => perSecond / (theirs[i]?.perSecond ?? 1));
    return `rounds ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  };
  const figures: Figure[] = [
    { name: 'drain / bare undici', value: ratio('bare'), unit: 'ratio', target: atLeast(0.5), note: spread('bare') },
  ];
  if (results.has('BullMQ')) {
    const [value, note] = [ratio('BullMQ'), spread('BullMQ')];
    figures.push({ name: 'drain / BullMQ', value, unit: 'ratio', target: atLeast(2), note });
  }
  for (const name of results.keys()) {
    const note = `${medianOf(name, 'cpuMicros').toFixed(0)} µs of the main thread each`;
    figures.push({ name: `  ${name}`, value: medianOf(name, 'perSecond'), unit: 'msg/s', note });
  }
  return figures;
}
