/**
 * Publishing from 64 connections, each answered when its message is synced, compared with a bare Koa with a constant answer
 * and with Koa that adds a job of BullMQ. Messages are delayed, so that none is delivered during the measurement; publishing
 * with immediate delivery is measured too.
 */
import { BullQueue } from './bullmq-queue.js';
import { Child } from './child.js';
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace } from './millrace.js';
import { ownFlags, publishRequests } from './queue-load.js';
import { ranMs } from './redis.js';
import { Sink } from './sink.js';
import { sized } from './sizes.js';
import { isWrkMissing, type LoadResult, wrk } from './wrk.js';

const ROUNDS = sized(5, 2);
const SECONDS = sized(3, 1);
const CONNECTIONS = 64;
const AT_ONCE = 'ours, delivered at once';
const BARE_KOA = new URL('./bare-koa.js', import.meta.url).pathname;

interface Alternative {
  readonly name: string;
  readonly url: string;
  readonly pid: number | undefined;
  readonly requests: string;
  readonly after?: () => Promise<void>;
}

interface Round extends LoadResult {
  readonly cpuMicros: number;
}

export const queuePublish: Bench = {
  name: 'queue-publish',
  summary: `publishing from ${CONNECTIONS} connections, beside a bare Koa and Koa with BullMQ`,
  async run(progress) {
    if (isWrkMissing()) return { figures: [], skipped: ['queue-publish: wrk is not installed'] };
    const skipped = BullQueue.isMissing() ? ['BullMQ: redis-server is not installed'] : [];
    const [millrace, sink] = [await Millrace.create(), await Sink.start()];
    const koa = await Child.start(process.execPath, [BARE_KOA], { readyWhen: /^ready (\S+)/ });
    const bull = skipped.length === 0 ? await BullQueue.start() : undefined;
    const bullKoa = await bull?.koa();
    try {
      await millrace.start({ isWatched: false, nodeFlags: ownFlags() });
      const delayed = publishRequests(sink.url, { 'Svc-Delay': '1d' });
      const ours = { url: millrace.queueUrl, pid: millrace.pid };
      const all: Alternative[] = [
        { name: 'koa', url: koa.ready?.[1] as string, pid: koa.process.pid, requests: delayed },
        { name: 'ours', ...ours, requests: delayed },
        { name: AT_ONCE, ...ours, requests: publishRequests(sink.url), after: () => quiet(sink) },
      ];
      if (bull !== undefined && bullKoa !== undefined) {
        const { process: own, ready } = bullKoa;
        const after = () => bull.empty();
        all.push({ name: 'koa with BullMQ', url: ready?.[1] as string, pid: own.pid, requests: delayed, after });
      }
      return { figures: figuresOf(await measure(all, progress)), skipped };
    } finally {
      await Promise.all([millrace.dispose(), sink.stop(), koa.stop(), bullKoa?.stop()]);
      await bull?.dispose();
    }
  },
};

async function measure(
  alternatives: readonly Alternative[],
  progress: (line: string) => void,
): Promise<ReadonlyMap<string, readonly Round[]>> {
  const results = new Map<string, Round[]>(alternatives.map(({ name }) => [name, []]));
  // The first round warms up compilers, stores and the disk, and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const line: string[] = [];
    for (const { name, url, pid, requests, after } of alternatives) {
      const seconds = round === 0 ? 1 : SECONDS;
      const ranBeforeMs = await ranMs(pid);
      const load = await wrk({ url, requests, connections: CONNECTIONS, seconds });
      const cpuMicros = (((await ranMs(pid)) - ranBeforeMs) * 1000) / (load.requestsPerSecond * seconds);
      if (round > 0) results.get(name)?.push({ ...load, cpuMicros });
      line.push(`${name} ${Math.round(load.requestsPerSecond)}/s${load.errors > 0 ? ` (${load.errors} errors)` : ''}`);
      await after?.();
    }
    progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${line.join(', ')}`);
  }
  return results;
}

/** Waits for the delivery of published messages before the next measurement. */
async function quiet(sink: Sink): Promise<void> {
  for (let before = -1; ; ) {
    const { count } = await sink.report();
    if (count === before) return;
    before = count;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function figuresOf(results: ReadonlyMap<string, readonly Round[]>): readonly Figure[] {
  const medianOf = (name: string, field: keyof Round) =>
    median((results.get(name) ?? []).map((result) => result[field]));
  const ratio = (to: string, of = 'ours') => medianOf(of, 'requestsPerSecond') / medianOf(to, 'requestsPerSecond');
  const atOnce = ratio('ours', AT_ONCE);
  const figures: Figure[] = [
    { name: 'publish / bare Koa', value: ratio('koa'), unit: 'ratio', target: atLeast(0.6) },
    { name: 'publish, delivered at once / publish', value: atOnce, unit: 'ratio', target: atLeast(0.7) },
  ];
  if (results.has('koa with BullMQ')) {
    figures.push({
      name: 'publish / Koa with BullMQ',
      value: ratio('koa with BullMQ'),
      unit: 'ratio',
      target: atLeast(1.5),
    });
  }
  for (const [name, rounds] of results) {
    const errors = rounds.reduce((sum, round) => sum + round.errors, 0);
    const times = `p50 ${medianOf(name, 'p50Ms').toFixed(2)} ms, p99 ${medianOf(name, 'p99Ms').toFixed(2)} ms`;
    const note = `${times}, ${medianOf(name, 'cpuMicros').toFixed(0)} µs of the main thread each`;
    figures.push({
      name: `  ${name}`,
      value: medianOf(name, 'requestsPerSecond'),
      unit: 'req/s',
      note: errors > 0 ? `${note}, ${errors} errors` : note,
    });
  }
  return figures;
}
