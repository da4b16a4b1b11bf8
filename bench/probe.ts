/**
 * Loaded into the measured process (`--import`): watches its main thread from within and answers over the parent's channel.
 *
 *  BP1 the delay of a late tick is reduced by garbage collection and by time in which the thread slept or had no
 *      processor; the rest is our own work. It is an upper bound: a round of the loop runs many callbacks
 *  BP2 memory is that of the whole process, threads included, as the kernel counts it, and that of the main isolate,
 *      as V8 counts it
 */
import { openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** The answer of the process: values since the last answer, except memory. */
export interface ProbeAnswer {
  readonly ownWorkMaxMs: number;
  readonly lateMaxMs: number;
  readonly collectionMaxMs: number;
  readonly collectionTotalMs: number;
  readonly overMs: Readonly<Record<'5' | '10' | '20', number>>;
  readonly rssBytes: number;
  readonly rssMaxBytes: number;
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  readonly externalBytes: number;
  readonly arrayBufferBytes: number;
}

const TICK_MS = 2;

interface Pause {
  readonly startMs: number;
  readonly endMs: number;
}

function watch(): void {
  let pauses: Pause[] = [];
  const ticks: { fromMs: number; toMs: number; ranMs: number }[] = [];
  let collectionMaxMs = 0;
  let collectionTotalMs = 0;
  let rssMaxBytes = 0;
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });

  function note(entries: readonly { startTime: number; duration: number }[]): void {
    for (const { startTime, duration } of entries) {
      pauses.push({ startMs: startTime, endMs: startTime + duration });
      collectionMaxMs = Math.max(collectionMaxMs, duration);
      collectionTotalMs += duration;
    }
  }

  let lastMs = performance.now();
  let lastRanMs = ranMs();
  setInterval(() => {
    const nowMs = performance.now();
    const nowRanMs = ranMs();
    const isLate = nowMs - lastMs > TICK_MS + 1;
    if (isLate) ticks.push({ fromMs: lastMs, toMs: nowMs, ranMs: nowRanMs - lastRanMs });
    lastRanMs = nowRanMs;
    lastMs = nowMs;
  }, TICK_MS).unref();
  setInterval(() => {
    rssMaxBytes = Math.max(rssMaxBytes, process.memoryUsage.rss());
  }, 50).unref();

  process.on('message', (message) => {
    if (message === 'collect') globalThis.gc?.();
    note(observer.takeRecords());
    process.send?.(answer());
  });
  process.channel?.unref();

  function answer(): ProbeAnswer {
    const over = { '5': 0, '10': 0, '20': 0 };
    let ownWorkMaxMs = 0;
    let lateMaxMs = 0;
    for (const { fromMs, toMs, ranMs } of ticks.splice(0)) {
      const lateMs = toMs - fromMs - TICK_MS;
      const collectedMs = pauses.reduce((sum, pause) => sum + overlapMs(pause, fromMs, toMs), 0);
      // The collection's wall time is scaled to its processor time, because other processes may have had the processor.
      const share = Math.min(1, ranMs / (toMs - fromMs));
      const ownMs = Math.max(0, Math.min(lateMs, ranMs) - collectedMs * share);
      lateMaxMs = Math.max(lateMaxMs, lateMs);
      ownWorkMaxMs = Math.max(ownWorkMaxMs, ownMs);
      for (const bound of [5, 10, 20] as const) if (ownMs > bound) over[`${bound}`] += 1;
    }
    const memory = process.memoryUsage();
    const answered: ProbeAnswer = {
      ownWorkMaxMs,
      lateMaxMs,
      collectionMaxMs,
      collectionTotalMs,
      overMs: over,
      rssBytes: memory.rss,
      rssMaxBytes: Math.max(rssMaxBytes, memory.rss),
      heapUsedBytes: memory.heapUsed,
      heapTotalBytes: memory.heapTotal,
      externalBytes: memory.external,
      arrayBufferBytes: memory.arrayBuffers,
    };
    pauses = [];
    collectionMaxMs = 0;
    collectionTotalMs = 0;
    rssMaxBytes = 0;
    return answered;
  }
}

function overlapMs({ startMs, endMs }: Pause, fromMs: number, toMs: number): number {
  return Math.max(0, Math.min(endMs, toMs) - Math.max(startMs, fromMs));
}

/** Bytes of a line of three numbers. */
const statistics = Buffer.alloc(128);
const statisticsFile = openStatistics();

function openStatistics(): number | undefined {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return undefined;
  }
}

/** Processor time of the main thread since it began; where the kernel does not tell, it counts as running always. */
function ranMs(): number {
  if (statisticsFile === undefined) return performance.now();
  const bytes = readSync(statisticsFile, statistics, 0, statistics.length, 0);
  return Number(statistics.toString('latin1', 0, bytes).split(' ')[0]) / 1e6;
}

// A process that it starts for a job has a channel, too, which is not ours.
if (isMainThread && process.send !== undefined && process.argv.includes('serve')) watch();
