/**
 * One job in a thread of its own, which ends with it: its memory goes back whole.
 *
 *  TJ1 a thread that dies, runs out of memory or takes too long fails its job and nothing else
 *  TJ2 the thread is gone before the job is answered
 */
import { Worker } from 'node:worker_threads';
import { type ErrorCode, MillraceError } from '../../kernel/index.js';
import type { Log, LogFields } from '../../ports/index.js';

/** What comes back from the thread: an outcome is the last of it. */
type JobMessage<Result> = JobOutcome<Result> | LogMessage;

export type JobOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | ({ readonly kind: 'failed' } & PlainFailure);

/** A MillraceError as it is cloned from one thread to another. */
export interface PlainFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: LogFields;
}

/** A record of the log as a thread sends it; the main one writes it. */
export interface LogMessage {
  readonly kind: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

export interface ThreadJob {
  readonly entry: URL;
  /** The name of the thread, for debuggers. */
  readonly name: string;
  /** Cloned into the thread: plain data. */
  readonly data: unknown;
  readonly log: Log;
  readonly maxHeapMb: number;
  /** A job that takes longer is ended. */
  readonly timeLimitMs: number;
  /** Ends the job, with SHUTTING_DOWN. */
  readonly signal: AbortSignal;
  /** The beginning of what is said of a job without an outcome: `nothing was kept`. */
  readonly lost: string;
  /** The details of errors that are made here. */
  readonly details: LogFields;
}

/** New objects die young here; a larger nursery only costs memory. */
const YOUNG_GENERATION_MB = 16;

/** @throws MillraceError: what the thread met, TIMED_OUT when nothing came of it, or SHUTTING_DOWN */
export async function runInThread<Result>(job: ThreadJob): Promise<Result> {
  if (job.signal.aborted) throw shuttingDown(job);
  const worker = new Worker(job.entry, {
    name: job.name,
    workerData: job.data,
    resourceLimits: { maxOldGenerationSizeMb: job.maxHeapMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  try {
    return await outcomeOf<Result>(worker, job);
  } finally {
    await worker.terminate();
  }
}

function outcomeOf<Result>(worker: Worker, job: ThreadJob): Promise<Result> {
  const { log, timeLimitMs, signal, lost, details } = job;
  return new Promise((resolve, reject) => {
    const onEnded = () => reject(shuttingDown(job));
    const fail = (why: string, cause?: unknown) =>
      reject(new MillraceError('TIMED_OUT', `${lost}: ${why}`, details, cause));
    const timer = setTimeout(() => fail(`it took longer than ${timeLimitMs} ms`), timeLimitMs);
    const settled = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onEnded);
    };
    signal.addEventListener('abort', onEnded);
    worker.on('message', (message: JobMessage<Result>) => {
      if (message.kind === 'log') return log[message.level](message.event, message.fields);
      settled();
      if (message.kind === 'done') resolve(message.result);
      else reject(new MillraceError(message.code, message.message, message.details));
    });
    worker.on('error', (cause) => fail('the thread failed', cause));
    worker.on('exit', (code) => {
      settled();
      // Without effect after a message.
      fail(`the thread ended with code ${code}`);
    });
  });
}

function shuttingDown({ lost, details }: ThreadJob): MillraceError {
  return new MillraceError('SHUTTING_DOWN', `${lost}: the process is stopping`, details);
}
