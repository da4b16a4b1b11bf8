/** Runs jobs in processes (job-process.ts), any number in parallel. */
import type { Log, LogFields } from '../../../ports/index.js';
import { runInProcess } from './job-process.js';

/** The start data: the job, and the facts that its entry needs to reach the installation. */
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
  /** The beginning of the error of a job without an outcome: `nothing was kept`. */
  readonly lost: string;
  /** The details of errors made here. */
  readonly detailsOf: (job: Job) => LogFields;
  /** Heap of a process; the largest partition has to fit about twice. */
  readonly maxHeapMb?: number | undefined;
  /** A job that takes longer is ended. */
  readonly timeLimitMs?: number | undefined;
}

/** Twice the memory of a million short keys, with room for a step's garbage. */
const DEFAULT_MAX_HEAP_MB = 1024;
const DEFAULT_TIME_LIMIT_MS = 15 * 60_000;

export class JobProcesses<Installation, Job, Result> {
  readonly #ended = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(private readonly options: JobProcessesOptions<Installation, Job>) {}

  /** @throws MillraceError: the error in the process, TIMED_OUT when it had no outcome in time, or SHUTTING_DOWN */
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

  /** Ends running jobs, which fail with SHUTTING_DOWN like every later one. */
  async close(): Promise<void> {
    this.#ended.abort();
    await Promise.allSettled(this.#running);
  }
}
