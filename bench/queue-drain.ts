/**
 * How fast waiting messages are delivered: 20,000 of 200 bytes to a sink in another process, at most 100 at a time, compared
 * with a process that only makes calls, and with BullMQ making the same call for each job. Every round measures each once;
 * the sink counts from the first arrival to the last. Before the rounds, the first 10,000 deliveries of a newly started
 * process are compared with the first of a BullMQ worker.
 */
import { BullQueue } from './bullmq-queue.js';
import { Child } from './child.js';
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace } from './millrace.js';
import { ranMsOf, withServer } from './processor-time.js';
import { BODY, ownFlags, publishAll, queueCall } from './queue-load.js';
import { ranMs } from './redis.js';
import { rateOf, Sink } from './sink.js';
import { sized } from './sizes.js';

const MESSAGES = sized(20_000, 4000);
const ROUNDS = sized(5, 2);
/** Delivered by a process that has just started, and how often that is measured. */
const FIRST_MESSAGES = sized(10_000, 2000);
const STARTS = sized(3, 1);
const CONCURRENCY = 100;
const TIMEOUT_MS = 120_000;
const BARE = new URL('./bare-undici.js', import.meta.url).pathname;

/** Messages per second; the cost of one for the main thread, and for all threads including the nats-server's. */
export interface Drain {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly allMicros: number;
}

export const queueDrain: Bench = {
  name: 'queue-drain',
  summary: `${MESSAGES} waiting messages delivered, beside bare undici and BullMQ`,
  async run(progress) {
    const skipped = BullQueue.isMissing() ? ['BullMQ: redis-server is not installed'] : [];
    const [millrace, sink] = [await Millrace.create(), await Sink.start()];
    const bull = skipped.length === 0 ? await BullQueue.start() : undefined;
    try {
      const first = await firstDrains(sink, bull, progress);
      await millrace.start({ isWatched: false, nodeFlags: ownFlags() });
      const alternatives: Record<string, () => Promise<Drain>> = {
        bare: () => bareDrain(sink),
        ours: () => drainOnce(millrace, sink),
        ...(bull === undefined ? {} : { BullMQ: () => bullDrain(bull, sink, MESSAGES) }),
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
      return { figures: [...figuresOf(results), ...firstFigures(first)], skipped };
    } finally {
      await Promise.all([millrace.dispose(), sink.stop(), bull?.dispose()]);
    }
  },
};

/** Releases the waiting messages, which are then delivered to the sink. */
export async function drainOnce(millrace: Millrace, sink: Sink): Promise<Drain> {
  await fill(millrace, sink, MESSAGES);
  return letGo(millrace, sink, MESSAGES);
}

async function fill(millrace: Millrace, sink: Sink, messages: number): Promise<void> {
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
  await publishAll(millrace, messages, () => item);
}

async function letGo(millrace: Millrace, sink: Sink, messages: number): Promise<Drain> {
  await sink.begin({ kind: 'count' });
  return counted(millrace.pid, sink, messages, () => queueCall(millrace, 'POST', '/v2/flowControl/drain/resume'));
}

/** The first drains of restarted Millrace processes with waiting messages, and of BullMQ workers, in turn. */
async function firstDrains(
  sink: Sink,
  bull: BullQueue | undefined,
  progress: (line: string) => void,
): Promise<{ readonly ours: readonly Drain[]; readonly theirs: readonly Drain[] }> {
  const ours: Drain[] = [];
  const theirs: Drain[] = [];
  for (let start = 1; start <= STARTS; start += 1) {
    ours.push(await firstDrain(sink));
    if (bull !== undefined) theirs.push(await bullDrain(bull, sink, FIRST_MESSAGES));
    const [own, other] = [ours.at(-1), theirs.at(-1)].map((drain) => Math.round(drain?.perSecond ?? 0));
    progress(`start ${start} of ${STARTS}: ours ${own}/s, BullMQ ${other}/s`);
  }
  return { ours, theirs };
}

async function firstDrain(sink: Sink): Promise<Drain> {
  const millrace = await Millrace.create();
  try {
    await millrace.start({ isWatched: false });
    await fill(millrace, sink, FIRST_MESSAGES);
    await millrace.stop();
    await millrace.start({ isWatched: false });
    return await letGo(millrace, sink, FIRST_MESSAGES);
  } finally {
    await millrace.dispose();
  }
}

async function bareDrain(sink: Sink): Promise<Drain> {
  const args = [BARE, sink.url, `${MESSAGES}`, `${CONCURRENCY}`];
  const driver = await Child.start(process.execPath, args, { readyWhen: /^ready/, withChannel: true });
  try {
    return await calledBy(driver, sink, MESSAGES);
  } finally {
    await driver.stop();
  }
}

async function bullDrain(bull: BullQueue, sink: Sink, messages: number): Promise<Drain> {
  await bull.fill({ url: sink.url, body: BODY }, messages);
  const worker = await bull.worker(CONCURRENCY);
  try {
    return await calledBy(worker, sink, messages);
  } finally {
    await worker.stop();
  }
}

async function calledBy({ process: own }: Child, sink: Sink, messages: number): Promise<Drain> {
  await sink.begin({ kind: 'count' });
  return counted(own.pid as number, sink, messages, async () => own.send('begin'));
}

async function counted(pid: number, sink: Sink, messages: number, begin: () => Promise<unknown>): Promise<Drain> {
  const all = await withServer(pid);
  const [mainBeforeMs, allBeforeMs] = [await ranMs(pid), await ranMsOf(all)];
  await begin();
  const report = await sink.received(messages, TIMEOUT_MS);
  const [mainMs, allMs] = [(await ranMs(pid)) - mainBeforeMs, (await ranMsOf(all)) - allBeforeMs];
  return { perSecond: rateOf(report), cpuMicros: (mainMs * 1000) / messages, allMicros: (allMs * 1000) / messages };
}

function firstFigures({ ours, theirs }: Awaited<ReturnType<typeof firstDrains>>): readonly Figure[] {
  const medianOf = (drains: readonly Drain[], field: keyof Drain) => median(drains.map((drain) => drain[field]));
  const value = medianOf(ours, 'perSecond');
  const note = `${medianOf(ours, 'cpuMicros').toFixed(0)} µs of the main thread each`;
  const own: Figure = { name: '  ours, first after a start', value, unit: 'msg/s', note };
  if (theirs.length === 0) return [own];
  const ratio = value / medianOf(theirs, 'perSecond');
  return [{ name: 'first drain after a start / BullMQ', value: ratio, unit: 'ratio', target: atLeast(1.5) }, own];
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
    { name: 'drain / bare undici', value: ratio('bare'), unit: 'ratio', target: atLeast(0.7), note: spread('bare') },
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
