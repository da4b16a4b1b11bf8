/**
 * Branches of a database with a million keys: the time to make one, its memory compared with its origin's, the time of its
 * first use, and the latency of the origin's SETs while ten are made one after the other.
 *
 * SETs come at a fixed rate, so that both windows have the same load. Windows without and with branches alternate.
 */
import { readFile } from 'node:fs/promises';
import { until } from './child.js';
import { KEYS, keyAt, load, valueAt } from './data-set.js';
import { atMost, type Bench, median, percentile } from './figures.js';
import { Millrace, PASSWORD } from './millrace.js';
import { paced } from './paced.js';
import { RespLink } from './resp-link.js';
import { sized } from './sizes.js';

const BRANCHES = 10;
const WINDOWS = 5;
const CALLERS = 8;
const RATE = sized(400, 200);
const WINDOW_MS = sized(12_000, 2_000);
const IDLE_TIMEOUT_MS = 300_000;
const MS_PER_TICK = 10;
const MIB = 1024 * 1024;

interface Made {
  readonly ms: number;
  readonly processorMs: number;
  readonly token: string;
  readonly copiedBytes: number;
  readonly retainedBytes: number;
}

export const branches: Bench = {
  name: 'branches',
  summary: `${BRANCHES} branches of a database with ${KEYS} keys, and the latency of its SETs`,
  async run(progress) {
    const millrace = await Millrace.create();
    try {
      await millrace.start({ env: { MILLRACE_FSYNC: 'interval' } });
      const empty = (await millrace.probe('collect')).rssBytes;
      await load(millrace, KEYS, progress);
      await until(async () => !(await millrace.isCompacting()), IDLE_TIMEOUT_MS, 'the snapshot');
      const before = (await millrace.probe('collect')).rssBytes;
      const { quiet, busy, made } = await windows(millrace, progress);
      const after = (await millrace.probe('collect')).rssBytes;
      const firstUseMs = await firstUse(millrace, made[0] as Made);
      const times = made.map(({ ms }) => ms);
      const first = made[0] as Made;
      const size = `${(first.retainedBytes / MIB).toFixed(0)} MiB referred to, ${(first.copiedBytes / MIB).toFixed(0)} MiB copied`;
      const p99 = { quiet: median(quiet), busy: median(busy) };
      return {
        skipped: [],
        figures: [
          {
            name: 'p99 of SETs while branches are made / without',
            value: p99.busy / p99.quiet,
            unit: 'ratio',
            target: atMost(1.1),
            note: `${p99.busy.toFixed(1)} ms and ${p99.quiet.toFixed(1)} ms, medians of ${WINDOWS} windows`,
          },
          { name: 'a branch is made, median', value: median(times), unit: 'ms', target: atMost(2000), note: size },
          { name: '  longest', value: Math.max(...times), unit: 'ms' },
          { name: '  processor time', value: median(made.map(({ processorMs }) => processorMs)), unit: 'ms' },
          {
            name: 'memory of an unused branch / of its origin',
            value: Math.max(0, after - before) / BRANCHES / (before - empty),
            unit: 'ratio',
            target: atMost(0.05),
            note: `${((before - empty) / MIB).toFixed(0)} MiB of the origin`,
          },
          { name: 'first use of a branch', value: firstUseMs, unit: 'ms' },
        ],
      };
    } finally {
      await millrace.dispose();
    }
  },
};

/** The p99 of each window, in ms. */
async function windows(millrace: Millrace, progress: (line: string) => void) {
  const links = await Promise.all(Array.from({ length: CALLERS }, () => RespLink.open(millrace.respPort, PASSWORD)));
  const origin = (await millrace.manage('GET', '/v2/kv/databases')) as readonly { database_id: string }[];
  const id = origin[0]?.database_id ?? '';
  const [quiet, busy, made]: [number[], number[], Made[]] = [[], [], []];
  for (let round = 0; round < WINDOWS; round += 1) {
    quiet.push(percentile(await latencies(links), 99));
    const each = async () => {
      for (let n = 0; n < BRANCHES / WINDOWS; n += 1) made.push(await make(millrace, id, `b-${round}-${n}`));
    };
    const [during] = await Promise.all([latencies(links), each()]);
    busy.push(percentile(during, 99));
    const times = made.slice(-BRANCHES / WINDOWS).map(({ ms }) => ms.toFixed(0));
    progress(`p99 ${quiet.at(-1)?.toFixed(1)} ms, with branches ${busy.at(-1)?.toFixed(1)} ms, made in ${times} ms`);
  }
  for (const link of links) link.close();
  return { quiet, busy, made };
}

/** SETs at the fixed rate. @returns milliseconds of each */
async function latencies(links: readonly RespLink[]): Promise<number[]> {
  const sets = await paced({ perSecond: RATE, durationMs: WINDOW_MS }, (sent) =>
    (links[sent % links.length] as RespLink).ask('SET', keyAt(Math.floor((sent * 7919) % KEYS)), valueAt(sent, 2)),
  );
  return sets.map(({ tookMs }) => tookMs);
}

async function make(millrace: Millrace, origin: string, name: string): Promise<Made> {
  const before = await jobsRanMs(millrace.pid);
  const startedAtMs = performance.now();
  const body = { name, expires_in: 3600 };
  const answer = (await millrace.manage('POST', `/v2/kv/database/${origin}/branches`, body)) as {
    rest_token: string;
    copied_bytes: number;
    retained_bytes: number;
  };
  const ms = performance.now() - startedAtMs;
  const processorMs = (await jobsRanMs(millrace.pid)) - before;
  return {
    ms,
    processorMs,
    token: answer.rest_token,
    copiedBytes: answer.copied_bytes,
    retainedBytes: answer.retained_bytes,
  };
}

async function firstUse(millrace: Millrace, { token }: Made): Promise<number> {
  const startedAtMs = performance.now();
  const response = await fetch(`${millrace.url}/dbsize`, { headers: { authorization: `Bearer ${token}` } });
  const { result } = (await response.json()) as { result: number };
  if (result !== KEYS) throw new Error(`the branch has ${result} keys`);
  return performance.now() - startedAtMs;
}

/** Processor time of the jobs of a process that have ended. */
async function jobsRanMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK;
}
