/** The measured Millrace process, started as `make run` starts it, in its own directory. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { jobProcessesOf } from '../test/support/job-processes.js';
import { residentOfAllMib } from '../test/support/process-memory.js';
import { Child, freePort } from './child.js';
import type { ProbeAnswer } from './probe.js';
import { ADDED_US, slowNatsServer } from './slow-syncs.js';

/** Our command line in this build. */
export const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
/** The build under measurement; another one's in every other turn of a comparison, see against.ts. */
let main = MAIN;

/** @param directory of another built checkout; undefined for this one */
export function measureBuild(directory?: string): void {
  main = directory === undefined ? MAIN : join(directory, 'dist/src/cli/main.js');
}

const PROBE = new URL('./probe.js', import.meta.url).href;
const MB = 1024 * 1024;
/** The status for a management key that asks too often; the bench then asks again later. */
const TOO_OFTEN = 429;
const LATER_MS = 1000;
export const EMAIL = 'benches@example.com';
export const MANAGEMENT_KEY = 'mrk_key-of-the-benches-only-0123456789';
export const TOKEN = 'token-of-the-benches-only';
export const PASSWORD = 'password-of-the-benches-only';

export interface MillraceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Further flags of node: `--cpu-prof` … */
  readonly nodeFlags?: readonly string[];
  /** False where only speed is measured: watching costs about two percent. Then `probe` is not answered. */
  readonly isWatched?: boolean;
  /** Added to the time of each sync of its nats-server, in microseconds. */
  readonly addedUs?: number;
}

export class Millrace {
  /** Log lines of the current run, parsed. */
  readonly log: { readonly event: string; readonly [field: string]: unknown }[] = [];
  #child: Child | undefined;
  /** Chosen beforehand, because port 0 turns the endpoint off. */
  #respPort = 0;

  private constructor(readonly directory: string) {}

  static async create(): Promise<Millrace> {
    return new Millrace(await mkdtemp(join(tmpdir(), 'millrace-bench-')));
  }

  /** @returns milliseconds until the ready line */
  async start({ env, nodeFlags = [], isWatched = true, addedUs = ADDED_US }: MillraceOptions = {}): Promise<number> {
    this.log.length = 0;
    this.#respPort = await freePort();
    const startedAtMs = performance.now();
    const heapMb = process.env.MILLRACE_HEAP_MB ?? '1024';
    const probe = isWatched ? [`--import=${PROBE}`] : [];
    const flags = [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=8', ...probe, ...nodeFlags];
    this.#child = await Child.start(process.execPath, [...flags, main, 'serve'], {
      env: {
        MILLRACE_DATA_DIR: this.directory,
        MILLRACE_KV_PORT: '0',
        MILLRACE_QUEUE_PORT: '0',
        MILLRACE_MGMT_PORT: '0',
        MILLRACE_RESP_PORT: `${this.#respPort}`,
        MILLRACE_METRICS_PORT: '0',
        MILLRACE_KV_TOKEN: TOKEN,
        MILLRACE_KV_PASSWORD: PASSWORD,
        MILLRACE_QUEUE_TOKEN: TOKEN,
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: MANAGEMENT_KEY,
        ...(addedUs > 0 && { MILLRACE_NATS_SERVER: await slowNatsServer(addedUs, this.directory) }),
        ...env,
      },
      readyWhen: /^ready .*\bkv=(http:\S+) .*\bqueue=(http:\S+) .*\bmgmt=(http:\S+)/,
      withChannel: isWatched,
      onLogLine: (line) => this.#noteLog(line),
    });
    return performance.now() - startedAtMs;
  }

  get url(): string {
    return this.#running.ready?.[1] as string;
  }

  /** The URL of the message queue. */
  get queueUrl(): string {
    return this.#running.ready?.[2] as string;
  }

  get managementUrl(): string {
    return this.#running.ready?.[3] as string;
  }

  /** A call of the management API. @throws Error unless it is answered 200 */
  async manage(method: string, path: string, body?: object): Promise<unknown> {
    const credentials = Buffer.from(`${EMAIL}:${MANAGEMENT_KEY}`).toString('base64');
    const response = await fetch(`${this.managementUrl}${path}`, {
      method,
      headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === TOO_OFTEN) {
      await delay(LATER_MS);
      return this.manage(method, path, body);
    }
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text);
  }

  get respPort(): number {
    return this.#respPort;
  }

  get pid(): number {
    return this.#running.process.pid as number;
  }

  /**
   * Work of the main thread and memory since the last question; see probe.ts. While a compactor runs, its memory is added,
   * and pages that both share count once.
   */
  async probe(question: 'report' | 'collect' = 'report'): Promise<ProbeAnswer> {
    const { process: own } = this.#running;
    own.send(question);
    const [answer] = await once(own, 'message');
    const { rssBytes, rssMaxBytes, ...rest } = answer as ProbeAnswer;
    const withJobs = (await this.#bytesWithJobs()) ?? rssBytes;
    return { ...rest, rssBytes: withJobs, rssMaxBytes: Math.max(rssMaxBytes, withJobs) };
  }

  /** Whether a compactor runs. */
  async isCompacting(): Promise<boolean> {
    return (await jobProcessesOf(this.pid)).length > 0;
  }

  /** One command as a JSON array. @throws on any answer but 200 */
  async command(...words: string[]): Promise<unknown> {
    const answer = (await this.post('/', words)) as { result: unknown };
    return answer.result;
  }

  async post(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text);
  }

  async stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#child?.stop(signal);
    this.#child = undefined;
  }

  /** Stops it and removes its data. */
  async dispose(): Promise<void> {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Memory of the process and its job processes; undefined if there is none, or if one ends during the measurement. */
  async #bytesWithJobs(): Promise<number | undefined> {
    const jobs = await jobProcessesOf(this.pid);
    if (jobs.length === 0) return undefined;
    const mib = await residentOfAllMib([this.pid, ...jobs]).catch(() => Number.NaN);
    return Number.isNaN(mib) ? undefined : mib * MB;
  }

  get #running(): Child {
    if (this.#child === undefined) throw new Error('not started');
    return this.#child;
  }

  #noteLog(line: string): void {
    try {
      this.log.push(JSON.parse(line));
    } catch {
      // Warnings of Node.js are not log lines.
    }
  }
}
