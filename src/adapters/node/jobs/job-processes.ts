/** Processes that do a job each (job-process.ts), as many at once as are asked for. */
import type { Log, LogFields } from '../../../ports/index.js';
import { runInProcess } from './job-process.js';

/** What it is started with: its job, and whatever its entry needs to reach the installation that it works for. */
export interface JobTask<Installation, Job> {
  readonly job: Job;
  readonly installation: Installation;
}

export interface JobProcessesOptions<Installation, Job> {
  /** The entry of each process: a file. */
  readonly entry: URL;
  /** Cloned into the process: plain data. */
  readonly installation: Installation;
  readonly log: Log;
  /** The beginning of what is said of a job without an outcome: `nothing was kept`. */
  readonly lost: string;
  /** The details of errors that are made here. */
  readonly detailsOf: (job: Job) => LogFields;
  /** Heap of a process; the largest partition has to fit about twice. */
  readonly maxHeapMb?: number | undefined;
  /** A job that takes longer is ended. */
  readonly timeLimitMs?: number | undefined;
}

/** Twice what a million short keys take folded, with room for the garbage of a step. */
const DEFAULT_MAX_HEAP_MB = 1024;
const DEFAULT_TIME_LIMIT_MS = 15 * 60_000;

export class JobProcesses<Installation, Job, Result> {
  readonly #ended = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(private readonly options: JobProcessesOptions<Installation, Job>) {}

  /** @throws MillraceError: what the process met, TIMED_OUT when nothing came of it, or SHUTTING_DOWN */
  async run(job: Job): Promise<Result> {
    const { entry, installation, log, lost, detailsOf, maxHeapMb, timeLimitMs } = this.options;
    const result = runInProcess<Result>({
      entry,
      task: { job, installation } satisfies JobTask<Installation, Job>,
      log,
      maxHeapMb: maxHeapMb ?? DEFAULT_MAX_HEAP_MB,
      timeLimitMs: timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
      signal: this.#ended.signal,
      lost,
      details: detailsOf(job),
    });
    this.#running.add(result);
    try {
      return await result;
    } finally {
      this.#running.delete(result);
    }
  }

  /** Ends what is running: it fails with SHUTTING_DOWN, as every later job does. */
  async close(): Promise<void> {
    this.#ended.abort();
    await Promise.allSettled(this.#running);
  }
}
