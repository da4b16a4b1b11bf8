/**
 * Memory of a million short keys: loaded through pipelines, then read and overwritten for a minute by 64 connections, with
 * the snapshots that this causes. Resident memory is that of the whole process, including the compactor's process. The
 * figures separate the heap, memory outside of it, and the rest.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { KEYS, load } from './data-set.js';
import { atMost, type Bench, type Figure } from './figures.js';
import { Millrace, TOKEN } from './millrace.js';
import type { ProbeAnswer } from './probe.js';
import { sized } from './sizes.js';
import { isWrkMissing, wrk } from './wrk.js';

const SECONDS = sized(60, 3);
const CONNECTIONS = 64;
const SAMPLE_MS = 500;
const MB = 1024 * 1024;
/** The targets: resident, and how much more while a snapshot is made. */
const RESIDENT_MB = 300;
const COMPACTING_TIMES = 2.2;
const OWN_WORK_MS = 20;
const COLLECTION_MS = 150;

/** Random keys out of all. Each request is built when it is sent, because 1000 prepared ones would use only 1000 keys. */
const HALF_READS_HALF_WRITES = `local headers = { ["Authorization"] = "Bearer ${TOKEN}" }
local all = {}
for i = 1, 60000 do
  local key = string.format("key:%012d", math.random(0, ${KEYS - 1}))
  if i % 2 == 0 then all[i] = wrk.format("GET", "/get/" .. key, headers)
  else all[i] = wrk.format("POST", "/set/" .. key, headers, string.format("%064d", i)) end
end
return all`;

interface Sample {
  readonly answer: ProbeAnswer;
  readonly isCompacting: boolean;
}

export const memory: Bench = {
  name: 'memory',
  summary: `resident memory of ${KEYS} keys under half reads, half overwrites, and the pauses`,
  async run(progress) {
    if (isWrkMissing()) return { figures: [], skipped: ['memory: wrk is not installed'] };
    const millrace = await Millrace.create();
    try {
      // Below the default, so that a snapshot falls into the minute.
      await millrace.start({ nodeFlags: ['--expose-gc'], env: { MILLRACE_SNAPSHOT_BYTES: '64MiB' } });
      const before = await millrace.probe('collect');
      const loadMs = await load(millrace, KEYS, progress);
      const loaded = await millrace.probe();
      progress(`loaded in ${(loadMs / 1000).toFixed(1)} s, resident ${megabytes(loaded.rssBytes)}`);
      const samples = await underLoad(millrace, progress);
      await untilQuiet(millrace, samples);
      const live = await millrace.probe('collect');
      return { figures: figuresOf(before, loaded, samples, live, millrace), skipped: [] };
    } finally {
      await millrace.dispose();
    }
  },
};

async function underLoad(millrace: Millrace, progress: (line: string) => void): Promise<Sample[]> {
  const samples: Sample[] = [];
  let isDone = false;
  const sampling = (async () => {
    while (!isDone) {
      await delay(SAMPLE_MS);
      samples.push(await sample(millrace));
      if (samples.length % 20 === 0) progress(lineOfSample(samples.at(-1) as Sample, samples.length));
    }
  })();
  const { url } = millrace;
  const result = await wrk({ url, requests: HALF_READS_HALF_WRITES, connections: CONNECTIONS, seconds: SECONDS });
  isDone = true;
  await sampling;
  progress(
    `${Math.round(result.requestsPerSecond)} requests/s, ${result.errors} errors, p99 ${result.p99Ms.toFixed(1)} ms`,
  );
  return samples;
}

/** Waits for a snapshot that may still be running. */
async function untilQuiet(millrace: Millrace, samples: Sample[]): Promise<void> {
  for (let i = 0; i < 60 && (await millrace.isCompacting()); i += 1) {
    await delay(SAMPLE_MS);
    samples.push(await sample(millrace));
  }
}

async function sample(millrace: Millrace): Promise<Sample> {
  const wasCompacting = await millrace.isCompacting();
  const answer = await millrace.probe();
  return { answer, isCompacting: wasCompacting || (await millrace.isCompacting()) };
}

function figuresOf(
  before: ProbeAnswer,
  loaded: ProbeAnswer,
  samples: readonly Sample[],
  live: ProbeAnswer,
  millrace: Millrace,
): readonly Figure[] {
  const quiet = samples.filter(({ isCompacting }) => !isCompacting).map(({ answer }) => answer);
  const compacting = samples.filter(({ isCompacting }) => isCompacting).map(({ answer }) => answer);
  // V8 returns the young generation's memory late: the last quiet sample is the lasting size.
  const resident = quiet.at(-1) ?? live;
  const all = [loaded, ...samples.map(({ answer }) => answer)];
  const most = (field: 'rssMaxBytes' | 'ownWorkMaxMs' | 'collectionMaxMs', of: readonly ProbeAnswer[]) =>
    of.reduce((max, answer) => Math.max(max, answer[field]), 0);
  const snapshots = millrace.log.filter(({ event }) => event === 'shard.snapshotted').length;
  const megabytesFigure = (name: string, bytes: number, note?: string): Figure => ({
    name,
    value: bytes / MB,
    unit: 'MB',
    ...(note === undefined ? {} : { note }),
  });
  const perKey = (live.heapUsedBytes + live.externalBytes - before.heapUsedBytes - before.externalBytes) / KEYS;
  return [
    {
      ...megabytesFigure('resident, serving', resident.rssBytes, `at most ${megabytes(most('rssMaxBytes', quiet))}`),
      target: atMost(RESIDENT_MB),
    },
    megabytesFigure('  heap, reserved', resident.heapTotalBytes),
    megabytesFigure('  heap, used', resident.heapUsedBytes),
    megabytesFigure('  heap, live after a collection', live.heapUsedBytes),
    megabytesFigure('  external, array buffers included', resident.externalBytes),
    megabytesFigure('  array buffers', resident.arrayBufferBytes),
    megabytesFigure('  code, stacks, allocator', resident.rssBytes - resident.heapTotalBytes - resident.externalBytes),
    { name: '  live for one key, heap and external', value: perKey, unit: 'bytes', note: '16 of key, 64 of value' },
    megabytesFigure('resident, empty', before.rssBytes),
    {
      name: 'resident while compacting / serving',
      value: most('rssMaxBytes', compacting) / resident.rssBytes,
      unit: 'ratio',
      target: atMost(COMPACTING_TIMES),
      note: `${snapshots} snapshots, at most ${megabytes(most('rssMaxBytes', compacting))}`,
    },
    {
      name: 'own synchronous work while loading, longest',
      value: loaded.ownWorkMaxMs,
      unit: 'ms',
      target: atMost(OWN_WORK_MS),
      note: tally([loaded]),
    },
    {
      name: 'own synchronous work, serving, longest',
      value: most('ownWorkMaxMs', quiet),
      unit: 'ms',
      target: atMost(OWN_WORK_MS),
      note: tally(quiet),
    },
    {
      name: 'own synchronous work, snapshotting, longest',
      value: most('ownWorkMaxMs', compacting),
      unit: 'ms',
      target: atMost(OWN_WORK_MS),
      note: tally(compacting),
    },
    {
      name: 'garbage collection, longest',
      value: most('collectionMaxMs', all),
      unit: 'ms',
      target: atMost(COLLECTION_MS),
    },
  ];
}

/** The number of times that our own work blocked the event loop. */
export function tally(answers: readonly ProbeAnswer[]): string {
  const count = (bound: '5' | '10' | '20') => answers.reduce((sum, { overMs }) => sum + overMs[bound], 0);
  return `over 5 ms ${count('5')} times, over 10 ms ${count('10')}, over 20 ms ${count('20')}`;
}

function lineOfSample({ answer, isCompacting }: Sample, count: number): string {
  const parts = [
    `${((count * SAMPLE_MS) / 1000).toFixed(0)} s: resident ${megabytes(answer.rssBytes)}`,
    `heap ${megabytes(answer.heapUsedBytes)} of ${megabytes(answer.heapTotalBytes)}`,
    `external ${megabytes(answer.externalBytes)}`,
  ];
  return `${parts.join(', ')}${isCompacting ? ', compacting' : ''}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`;
}
