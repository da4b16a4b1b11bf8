/**
 * Requests per second compared with a bare Koa and with webdis, all within one run: every round measures each alternative
 * once, so that other load of the machine affects all. The figure is the ratio of medians.
 */
import { Child } from './child.js';
import { atLeast, atMost, type Bench, type Figure, median } from './figures.js';
import { Millrace, TOKEN } from './millrace.js';
import { ranMs } from './redis.js';
import { sized } from './sizes.js';
import { Webdis } from './webdis.js';
import { isWrkMissing, type LoadResult, wrk } from './wrk.js';

const ROUNDS = sized(5, 1);
const SECONDS = sized(3, 1);
const CONNECTIONS = 64;
const BATCH = 100;
const BARE_KOA = new URL('./bare-koa.js', import.meta.url).pathname;

const HEADERS = `{ ["Authorization"] = "Bearer ${TOKEN}" }`;
const VALUE = 'v'.repeat(64);

/** Lua for 1000 requests, one for each of as many keys of 16 bytes. */
function eachKey(format: string): string {
  return `local all = {}
for i = 1, 1000 do
  local key = string.format("key:%012d", i)
  all[i] = ${format}
end
return all`;
}

const OURS_GET = eachKey(`wrk.format("GET", "/get/" .. key, ${HEADERS})`);
const OURS_SET = eachKey(`wrk.format("POST", "/set/" .. key, ${HEADERS}, "${VALUE}")`);
const WEBDIS_SET = eachKey(`wrk.format("GET", "/SET/" .. key .. "/${VALUE}")`);
const KOA = eachKey('wrk.format("GET", "/get/" .. key)');
const PIPELINE = `local all = {}
for i = 1, 50 do
  local commands = {}
  for j = 1, ${BATCH} do
    commands[j] = string.format('["SET","key:%012d","${VALUE}"]', i * ${BATCH} + j)
  end
  all[i] = wrk.format("POST", "/pipeline", ${HEADERS}, "[" .. table.concat(commands, ",") .. "]")
end
return all`;

interface Alternative {
  readonly name: string;
  readonly connections: number;
  readonly url: string;
  readonly requests: string;
  /** The process with the main thread that does the work; webdis has several. */
  readonly pid?: number | undefined;
}

interface Round extends LoadResult {
  /** Processor time of the main thread for a request, microseconds. Other load of the machine hardly changes it. */
  readonly cpuMicros: number | undefined;
}

export const throughput: Bench = {
  name: 'throughput',
  summary: 'GET, SET with fsync and pipelines, beside a bare Koa and webdis',
  async run(progress) {
    if (isWrkMissing()) return { figures: [], skipped: ['throughput: wrk is not installed'] };
    const missing = Webdis.missing();
    const skipped = missing.length === 0 ? [] : [`webdis: ${missing.join(' and ')} not installed`];
    const millrace = await Millrace.create();
    const koa = await Child.start(process.execPath, [BARE_KOA], { readyWhen: /^ready (\S+)/ });
    const webdis = missing.length === 0 ? await Webdis.start() : undefined;
    try {
      await millrace.start({ isWatched: false });
      const alternatives = alternativesOf(millrace, koa, webdis?.url);
      const results = await measure(alternatives, progress);
      return { figures: figuresOf(results), skipped };
    } finally {
      await Promise.all([millrace.dispose(), koa.stop(), webdis?.dispose()]);
    }
  },
};

function alternativesOf(millrace: Millrace, bareKoa: Child, webdisUrl: string | undefined): readonly Alternative[] {
  const many = { connections: CONNECTIONS };
  const { url, pid } = millrace;
  const ours = [
    { ...many, name: 'SET', url, pid, requests: OURS_SET },
    { ...many, name: 'GET', url, pid, requests: OURS_GET },
    { ...many, name: 'pipeline', url, pid, requests: PIPELINE },
    { name: 'SET, one connection', connections: 1, url, pid, requests: OURS_SET },
  ];
  const koa = { ...many, name: 'koa', url: bareKoa.ready?.[1] as string, pid: bareKoa.process.pid, requests: KOA };
  if (webdisUrl === undefined) return [koa, ...ours];
  return [
    koa,
    ...ours,
    { ...many, name: 'webdis SET', url: webdisUrl, requests: WEBDIS_SET },
    { name: 'webdis SET, one connection', connections: 1, url: webdisUrl, requests: WEBDIS_SET },
  ];
}

async function measure(
  alternatives: readonly Alternative[],
  progress: (line: string) => void,
): Promise<ReadonlyMap<string, readonly Round[]>> {
  const results = new Map<string, Round[]>(alternatives.map(({ name }) => [name, []]));
  // The first round warms up compilers, stores and the disk, and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const line: string[] = [];
    for (const { name, connections, url, pid, requests } of alternatives) {
      const seconds = round === 0 ? 1 : SECONDS;
      const ranBeforeMs = await ranMs(pid);
      const load = await wrk({ url, requests, connections, seconds });
      const cpuMs = (await ranMs(pid)) - ranBeforeMs;
      const cpuMicros = pid === undefined ? undefined : (cpuMs * 1000) / (load.requestsPerSecond * seconds);
      const result = { ...load, cpuMicros };
      if (round > 0) results.get(name)?.push(result);
      line.push(
        `${name} ${Math.round(result.requestsPerSecond)}/s${result.errors > 0 ? ` (${result.errors} errors)` : ''}`,
      );
    }
    progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${line.join(', ')}`);
  }
  return results;
}

function figuresOf(results: ReadonlyMap<string, readonly Round[]>): readonly Figure[] {
  const medianOf = (name: string, field: 'requestsPerSecond' | 'p50Ms' | 'p99Ms') =>
    median((results.get(name) ?? []).map((result) => result[field]));
  const ratio = (name: string, to: string) => medianOf(name, 'requestsPerSecond') / medianOf(to, 'requestsPerSecond');
  const figures: Figure[] = [
    { name: 'GET / bare Koa', value: ratio('GET', 'koa'), unit: 'ratio', target: atLeast(0.8) },
    { name: 'SET / bare Koa', value: ratio('SET', 'koa'), unit: 'ratio', target: atLeast(0.85) },
    {
      name: `pipeline of ${BATCH} SETs / bare Koa`,
      value: ratio('pipeline', 'koa'),
      unit: 'ratio',
      target: atLeast(0.18),
    },
  ];
  if (results.has('webdis SET')) {
    const oneByOne = medianOf('SET, one connection', 'p50Ms') / medianOf('webdis SET, one connection', 'p50Ms');
    figures.push(
      { name: 'SET / webdis', value: ratio('SET', 'webdis SET'), unit: 'ratio', target: atLeast(1) },
      { name: 'SET p50, one connection / webdis', value: oneByOne, unit: 'ratio', target: atMost(2) },
    );
  }
  for (const name of results.keys()) {
    const errors = (results.get(name) ?? []).reduce((sum, result) => sum + result.errors, 0);
    const cpu = (results.get(name) ?? []).flatMap(({ cpuMicros }) => cpuMicros ?? []);
    const cpuNote = cpu.length === 0 ? '' : `, ${median(cpu).toFixed(0)} µs of the main thread each`;
    const note = `p50 ${medianOf(name, 'p50Ms').toFixed(2)} ms, p99 ${medianOf(name, 'p99Ms').toFixed(2)} ms${cpuNote}`;
    figures.push({
      name: `  ${name}`,
      value: medianOf(name, 'requestsPerSecond'),
      unit: 'req/s',
      note: errors > 0 ? `${note}, ${errors} errors` : note,
    });
  }
  return figures;
}
