/** Runs jobs in processes (job-process.ts), any number in parallel. */

import { once } from 'node:events';
import { MillraceError } from '../../../kernel/index.js';
import type { CompactionJob, CompactionResult, Compactor, Log, LogFields } from '../../../ports/index.js';
import { lowerPriorityOfAll, plainFailure, sentLog } from '../worker-support.js';
import { type JobMessage, type JobOutcome, runInProcess } from './job-process.js';

/**
 * The compactor in separate processes, one job at a time. Objects written by a process that dies are named by no
 * manifest.
 */
export type ProcessCompactorOptions<Installation> = Omit<
  JobProcessesOptions<Installation, CompactionJob>,
  'lost' | 'detailsOf'
>;

export class ProcessCompactor<Installation> implements Compactor {
  readonly #processes: JobProcesses<Installation, CompactionJob, CompactionResult>;
  /** Settles when the job before has ended. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ProcessCompactorOptions<Installation>) {
    this.#processes = new JobProcesses({
      ...options,
      lost: 'the compactor gave no snapshot',
      detailsOf: ({ shard }) => ({ shard }),
    });
  }

  compact(job: CompactionJob): Promise<CompactionResult> {
    const result = this.#last.then(() => this.#processes.run(job));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Ends the running process; its job and waiting ones fail with SHUTTING_DOWN. */
  async close(): Promise<void> {
    await this.#processes.close();
    await this.#last;
  }
}

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
  /** A job that takes longer is ended; `none`: a job that runs until its signal. */
  readonly timeLimitMs?: number | 'none' | undefined;
}

export interface JobWatch {
  /** Ends the job, with SHUTTING_DOWN. */
  readonly signal: AbortSignal;
  readonly onNews: (news: unknown) => void;
}

/** Twice the memory of a million short keys, with room for a step's garbage. */
const DEFAULT_MAX_HEAP_MB = 1024;
const DEFAULT_TIME_LIMIT_MS = 15 * 60_000;

export class JobProcesses<Installation, Job, Result> {
  readonly #ended = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(private readonly options: JobProcessesOptions<Installation, Job>) {}

  /** @throws MillraceError: the error in the process, TIMED_OUT when it had no outcome in time, or SHUTTING_DOWN */
  async run(job: Job, watch?: JobWatch): Promise<Result> {
    const { entry, installation, log, lost, detailsOf, maxHeapMb, timeLimitMs } = this.options;
    const result = runInProcess<Result>({
      entry,
      task: { job, installation } satisfies JobTask<Installation, Job>,
      log,
      maxHeapMb: maxHeapMb ?? DEFAULT_MAX_HEAP_MB,
      timeLimitMs: timeLimitMs === 'none' ? undefined : (timeLimitMs ?? DEFAULT_TIME_LIMIT_MS),
      signal: watch === undefined ? this.#ended.signal : AbortSignal.any([this.#ended.signal, watch.signal]),
      onNews: watch?.onNews,
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

/**
 * Runs the job to its outcome; the starting process then ends this one.
 * @param work  `tell` sends plain data to the starting process before the outcome
 * @param name  as in `the compactor`. @throws DEFECT when it was not started for a job
 */
export async function doJob<Task, Result>(
  name: string,
  niceness: number,
  work: (task: Task, log: Log, tell: (news: unknown) => void) => Promise<Result>,
): Promise<void> {
  if (process.send === undefined) throw new MillraceError('DEFECT', `${name} has to be started for a job`);
  // The receiver of the outcome has ended (JP3).
  process.once('disconnect', () => process.exit());
  const send = (message: JobMessage<Result>) => void process.send?.(message);
  const log = sentLog(send);
  lowerPriorityOfAll(niceness, log);
  const [task] = (await once(process, 'message')) as [Task];
  send(await outcomeOf(() => work(task, log, (news) => send({ kind: 'news', news }))));
}

async function outcomeOf<Result>(work: () => Promise<Result>): Promise<JobOutcome<Result>> {
  try {
    return { kind: 'done', result: await work() };
  } catch (error) {
    return { kind: 'failed', ...plainFailure(error) };
  }
}
