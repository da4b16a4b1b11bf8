/**
 * Requests per second against a bare Koa and against webdis, all within one run: every round measures each
 * alternative once, so that what else the machine does hits all of them, and the ratio of medians is told.
 */
import { Child } from './child.js';
import { atLeast, atMost, type Bench, type Figure, median } from './figures.js';
import { Millrace, TOKEN } from './millrace.js';
import { Webdis } from './webdis.js';
import { isWrkMissing, type LoadResult, wrk } from './wrk.js';

const ROUNDS = 5;
const SECONDS = 3;
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
      await millrace.start();
      const alternatives = alternativesOf(millrace.url, koa.ready?.[1] as string, webdis?.url);
      const results = await measure(alternatives, progress);
      return { figures: figuresOf(results), skipped };
    } finally {
      await Promise.all([millrace.dispose(), koa.stop(), webdis?.dispose()]);
    }
  },
};

function alternativesOf(url: string, koaUrl: string, webdisUrl: string | undefined): readonly Alternative[] {
  const many = { connections: CONNECTIONS };
  const ours = [
    { ...many, name: 'SET', url, requests: OURS_SET },
    { ...many, name: 'GET', url, requests: OURS_GET },
    { ...many, name: 'pipeline', url, requests: PIPELINE },
    { name: 'SET, one connection', connections: 1, url, requests: OURS_SET },
  ];
  const koa = { ...many, name: 'koa', url: koaUrl, requests: KOA };
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
): Promise<ReadonlyMap<string, readonly LoadResult[]>> {
  const results = new Map<string, LoadResult[]>(alternatives.map(({ name }) => [name, []]));
  // The first round warms up compilers, stores and the disk, and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const line: string[] = [];
    for (const { name, connections, url, requests } of alternatives) {
      const result = await wrk({ url, requests, connections, seconds: round === 0 ? 1 : SECONDS });
      if (round > 0) results.get(name)?.push(result);
      line.push(
        `${name} ${Math.round(result.requestsPerSecond)}/s${result.errors > 0 ? ` (${result.errors} errors)` : ''}`,
      );
    }
    progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${line.join(', ')}`);
  }
  return results;
}

function figuresOf(results: ReadonlyMap<string, readonly LoadResult[]>): readonly Figure[] {
  const medianOf = (name: string, field: 'requestsPerSecond' | 'p50Ms' | 'p99Ms') =>
    median((results.get(name) ?? []).map((result) => result[field]));
  const ratio = (name: string, to: string) => medianOf(name, 'requestsPerSecond') / medianOf(to, 'requestsPerSecond');
  const figures: Figure[] = [
    { name: 'GET / bare Koa', value: ratio('GET', 'koa'), unit: 'ratio', target: atLeast(0.8) },
    { name: 'SET / bare Koa', value: ratio('SET', 'koa'), unit: 'ratio', target: atLeast(0.65) },
    {
      name: `pipeline of ${BATCH} SETs / bare Koa`,
      value: ratio('pipeline', 'koa'),
      unit: 'ratio',
      target: atLeast(0.13),
    },
  ];
  if (results.has('webdis SET')) {
    const oneByOne = medianOf('SET, one connection', 'p50Ms') / medianOf('webdis SET, one connection', 'p50Ms');
    figures.push(
      { name: 'SET / webdis', value: ratio('SET', 'webdis SET'), unit: 'ratio', target: atLeast(0.8) },
      { name: 'SET p50, one connection / webdis', value: oneByOne, unit: 'ratio', target: atMost(2) },
    );
  }
  for (const name of results.keys()) {
    const errors = (results.get(name) ?? []).reduce((sum, result) => sum + result.errors, 0);
    const note = `p50 ${medianOf(name, 'p50Ms').toFixed(2)} ms, p99 ${medianOf(name, 'p99Ms').toFixed(2)} ms`;
    figures.push({
      name: `  ${name}`,
      value: medianOf(name, 'requestsPerSecond'),
      unit: 'req/s',
      note: errors > 0 ? `${note}, ${errors} errors` : note,
    });
  }
  return figures;
}
