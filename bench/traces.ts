/**
 * The cost of traces for a request: processor time of the main thread with traces off, for one request in a hundred, and for
 * each request, in turn in every round. With AGAINST, their cost when off: `GET, off` of both builds.
 */
import { createServer, type Server } from 'node:http';
import { type Bench, type Figure, median } from './figures.js';
import { Millrace, TOKEN } from './millrace.js';
import { ranMs } from './redis.js';
import { sized } from './sizes.js';
import { isWrkMissing, wrk } from './wrk.js';

const ROUNDS = sized(5, 1);
const SECONDS = sized(3, 1);
const CONNECTIONS = 64;
const KINDS = ['GET', 'SET'] as const;
type Kind = (typeof KINDS)[number];

const HEADERS = `{ ["Authorization"] = "Bearer ${TOKEN}" }`;
const REQUESTS: Readonly<Record<Kind, string>> = {
  GET: eachKey(`wrk.format("GET", "/get/" .. key, ${HEADERS})`),
  SET: eachKey(`wrk.format("POST", "/set/" .. key, ${HEADERS}, "${'v'.repeat(64)}")`),
};
const RATIOS = { off: undefined, '1 in 100': '0.01', each: '1' } as const;
type Traced = keyof typeof RATIOS;

function eachKey(format: string): string {
  return `local all = {}
for i = 1, 1000 do
  local key = string.format("key:%012d", i)
  all[i] = ${format}
end
return all`;
}

export const traces: Bench = {
  name: 'traces',
  summary: 'what a traced request costs beside one that is not',
  async run(progress) {
    if (isWrkMissing()) return { figures: [], skipped: ['traces: wrk is not installed'] };
    const collector = await swallowing();
    const processes = new Map<Traced, Millrace>();
    try {
      for (const [traced, ratio] of Object.entries(RATIOS) as [Traced, string | undefined][]) {
        const millrace = await Millrace.create();
        processes.set(traced, millrace);
        const env =
          ratio === undefined ? {} : { MILLRACE_OTLP_ENDPOINT: urlOf(collector), MILLRACE_TRACE_RATIO: ratio };
        await millrace.start({ isWatched: false, env });
      }
      return { figures: figuresOf(await measure(processes, progress)), skipped: [] };
    } finally {
      for (const millrace of processes.values()) await millrace.dispose();
      collector.closeAllConnections();
      collector.close();
    }
  },
};

type Measured = ReadonlyMap<string, readonly number[]>;

async function measure(processes: ReadonlyMap<Traced, Millrace>, progress: (line: string) => void): Promise<Measured> {
  const micros = new Map<string, number[]>();
  // The first round warms up compilers, stores and the disk, and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const line: string[] = [];
    for (const kind of KINDS) {
      for (const [traced, { url, pid }] of processes) {
        const seconds = round === 0 ? 1 : SECONDS;
        const ranBeforeMs = await ranMs(pid);
        const load = await wrk({ url, requests: REQUESTS[kind], connections: CONNECTIONS, seconds });
        const each = (((await ranMs(pid)) - ranBeforeMs) * 1000) / (load.requestsPerSecond * seconds);
        const name = nameOf(kind, traced);
        if (round > 0) micros.set(name, [...(micros.get(name) ?? []), each]);
        line.push(`${name} ${each.toFixed(1)} µs${load.errors > 0 ? ` (${load.errors} errors)` : ''}`);
      }
    }
    progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${line.join('; ')}`);
  }
  return micros;
}

function figuresOf(micros: Measured): Figure[] {
  const of = (kind: Kind, traced: Traced) => micros.get(nameOf(kind, traced)) ?? [];
  return KINDS.flatMap((kind) => {
    const off = of(kind, 'off');
    const beside = (traced: Traced): Figure => {
      const ratios = of(kind, traced).map((value, round) => value / (off[round] ?? Number.NaN));
      const note = `${median(of(kind, traced)).toFixed(1)} µs; rounds ${shown(Math.min(...ratios))}–${shown(Math.max(...ratios))}`;
      return { name: `${nameOf(kind, traced)} / off`, value: median(ratios), unit: 'ratio', note };
    };
    return [{ name: nameOf(kind, 'off'), value: median(off), unit: 'µs' }, beside('1 in 100'), beside('each')];
  });
}

function nameOf(kind: Kind, traced: Traced): string {
  return `${kind}, ${traced}`;
}

function shown(value: number): string {
  return value.toFixed(2);
}

/** A collector that accepts every request and reads none. */
async function swallowing(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}
