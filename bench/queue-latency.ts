/**
 * Time from the publishing call to the arrival at the sink, at 500 messages a second in an otherwise idle system; compared
 * with Koa that calls the sink itself and stores no message, and with the disk's time for a sync.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from './child.js';
import { atMost, type Bench, type Figure } from './figures.js';
import { Millrace } from './millrace.js';
import { publishSteadily } from './queue-load.js';
import { Sink } from './sink.js';
import { sized } from './sizes.js';

const PER_SECOND = 500;
const SECONDS = sized(30, 5);
const WARM_UP_SECONDS = sized(5, 2);
const ARRIVAL_TIMEOUT_MS = 30_000;
const SYNCS = 1000;
const RELAY = new URL('./koa-relay.js', import.meta.url).pathname;

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const queueLatency: Bench = {
  name: 'queue-latency',
  summary: `from publishing to delivery at ${PER_SECOND} messages a second`,
  async run(progress) {
    const [millrace, sink] = [await Millrace.create(), await Sink.start()];
    const relay = await Child.start(process.execPath, [RELAY, sink.url], { readyWhen: /^ready (\S+)/ });
    try {
      await millrace.start({ isWatched: false });
      const disk = await syncing(millrace.directory);
      const bare = await measured(sink, relay.ready?.[1] as string);
      progress(`Koa to undici: p50 ${bare.p50Ms.toFixed(2)} ms, p99 ${bare.p99Ms.toFixed(2)} ms`);
      const ours = await measured(sink, `${millrace.queueUrl}/v2/publish/${sink.url}`);
      return { figures: figuresOf(ours, bare, disk), skipped: [] };
    } finally {
      await Promise.all([millrace.dispose(), sink.stop(), relay.stop()]);
    }
  },
};

async function measured(sink: Sink, url: string): Promise<Latency> {
  await sink.begin({ kind: 'latency' });
  const { published } = await publishSteadily(url, PER_SECOND, WARM_UP_SECONDS);
  await sink.received(published, ARRIVAL_TIMEOUT_MS);
  await sink.begin({ kind: 'latency' });
  const run = await publishSteadily(url, PER_SECOND, SECONDS);
  const { latenciesMs } = await sink.received(run.published, ARRIVAL_TIMEOUT_MS);
  if (run.failed > 0) throw new Error(`${run.failed} were not published`);
  return percentilesOf(latenciesMs);
}

/** The time of one small write and its sync in the directory. */
async function syncing(directory: string): Promise<Latency> {
  const own = await mkdtemp(join(directory, 'sync-')).catch(() => mkdtemp(join(tmpdir(), 'sync-')));
  const file = await open(join(own, 'file'), 'w');
  const block = Buffer.alloc(1024);
  const tookMs: number[] = [];
  for (let i = 0; i < SYNCS; i += 1) {
    const startedAtMs = performance.now();
    await file.write(block);
    await file.datasync();
    tookMs.push(performance.now() - startedAtMs);
  }
  await file.close();
  await rm(own, { recursive: true });
  return percentilesOf(tookMs.sort((a, b) => a - b));
}

function percentilesOf(sorted: readonly number[]): Latency {
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

function figuresOf(ours: Latency, bare: Latency, disk: Latency): readonly Figure[] {
  const beside = ({ p50Ms, p99Ms }: Latency) => `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
  return [
    { name: 'publish to delivery, p50', value: ours.p50Ms, unit: 'ms', target: atMost(10) },
    { name: 'publish to delivery, p99', value: ours.p99Ms, unit: 'ms', target: atMost(50) },
    { name: '  Koa to undici, nothing stored, p99', value: bare.p99Ms, unit: 'ms', note: beside(bare) },
    { name: '  write and sync of 1 KiB, p99', value: disk.p99Ms, unit: 'ms', note: beside(disk) },
  ];
}
