/** Load by wrk: requests made before the run and sent round robin, so that every alternative pays the same for them. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Load {
  readonly url: string;
  /**
   * Lua that returns the requests of a thread as a table; it may use `wrk.format(method, path, headers, body)`, and
   * `number`, the number of the thread from 1.
   */
  readonly requests: string;
  readonly connections: number;
  readonly seconds: number;
  /** Each has its part of the connections. Default: 1. */
  readonly threads?: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx or 3xx, requests without an answer in two seconds, and sockets that failed. */
  readonly errors: number;
}

export function isWrkMissing(): boolean {
  return spawnSync('which', ['wrk']).status !== 0;
}

export async function wrk({ url, requests, connections, seconds, threads = 1 }: Load): Promise<LoadResult> {
  const directory = await mkdtemp(join(tmpdir(), 'wrk-bench-'));
  try {
    const script = join(directory, 'load.lua');
    await writeFile(script, scriptOf(requests));
    const args = [`-t${threads}`, `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url];
    const { stdout } = await run('wrk', args);
    return resultOf(stdout);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function scriptOf(requests: string): string {
  return `
local function prepared()
${requests}
end
local all, at
local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end
function init(args)
  all = prepared()
  at = 0
end
function request()
  at = at % #all + 1
  return all[at]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

function resultOf(output: string): LoadResult {
  const match = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output);
  if (match === null) throw new Error(`wrk said something else:\n${output}`);
  const [requests, durationMicros, p50Micros, p99Micros, errors] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return {
    requestsPerSecond: requests / (durationMicros / 1e6),
    p50Ms: p50Micros / 1000,
    p99Ms: p99Micros / 1000,
    errors,
  };
}
