/**
 * Runs one job in a separate process that ends with it, so that its heap and its allocator's memory are returned
 * completely.
 *
 *  JP1 a process that dies, runs out of memory or takes too long fails only its job
 *  JP2 the process has ended before the job is answered
 *  JP3 it ends with the process that started it, in any kind of end
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../kernel/index.js';
import type { Log, LogFields } from '../../../ports/index.js';
import type { LogMessage, PlainFailure } from '../worker-support.js';

/** A message from the process; an outcome is the last one. */
export type JobMessage<Result> = JobOutcome<Result> | LogMessage | { readonly kind: 'news'; readonly news: unknown };

export type JobOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | ({ readonly kind: 'failed' } & PlainFailure);

export interface ProcessJob {
  /** A file. */
  readonly entry: URL;
  /** Cloned into the process: plain data. */
  readonly task: unknown;
  readonly log: Log;
  readonly maxHeapMb: number;
  /** A job that takes longer is ended; undefined: a job that runs until its signal. */
  readonly timeLimitMs: number | undefined;
  /** Ends the job, with SHUTTING_DOWN. */
  readonly signal: AbortSignal;
  /** The beginning of the error of a job without an outcome: `nothing was kept`. */
  readonly lost: string;
  /** The details of errors made here. */
  readonly details: LogFields;
  /** Receives messages of the job before its end: plain data. */
  readonly onNews?: ((news: unknown) => void) | undefined;
}

/** New objects are short-lived here; a larger nursery only costs memory. */
const SEMI_SPACE_MB = 4;
/** The reason of the runtime's failure comes before two screens of addresses, so only the beginning is kept. */
const KEPT_OUTPUT_BYTES = 16 * 1024;

/** @throws MillraceError: the error in the process, TIMED_OUT when it had no outcome in time, or SHUTTING_DOWN */
export async function runInProcess<Result>(job: ProcessJob): Promise<Result> {
  if (job.signal.aborted) throw shuttingDown(job);
  const child = fork(fileURLToPath(job.entry), [], {
    execArgv: flagsOf(job),
    serialization: 'advanced',
    // Detached from the terminal: Ctrl-C is for the main process, which ends this one in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const ended = endOf(child);
  try {
    return await outcomeOf<Result>(child, ended, job);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** The flags of this process, with a separate heap limit; a debugger's port is in use already. */
function flagsOf({ maxHeapMb }: ProcessJob): string[] {
  const inherited = process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  return [...inherited, `--max-old-space-size=${maxHeapMb}`, `--max-semi-space-size=${SEMI_SPACE_MB}`];
}

function outcomeOf<Result>(child: ChildProcess, ended: Promise<string>, job: ProcessJob): Promise<Result> {
  const { task, log, timeLimitMs, signal, lost, details } = job;
  return new Promise((resolve, reject) => {
    const onEnded = () => reject(shuttingDown(job));
    const fail = (reason: string) => reject(new MillraceError('TIMED_OUT', `${lost}: ${reason}`, details));
    const timer =
      timeLimitMs === undefined
        ? undefined
        : setTimeout(() => fail(`it took longer than ${timeLimitMs} ms`), timeLimitMs);
    const settled = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onEnded);
    };
    signal.addEventListener('abort', onEnded);
    child.on('message', (message: JobMessage<Result>) => {
      if (message.kind === 'log') return log[message.level](message.event, message.fields);
      if (message.kind === 'news') return job.onNews?.(message.news);
      settled();
      if (message.kind === 'done') resolve(message.result);
      else reject(new MillraceError(message.code, message.message, message.details));
    });
    void ended.then((how) => {
      settled();
      // Without effect after a message.
      fail(how);
    });
    // When the process could not start or has ended, its end gives the reason.
    child.send(task as object, () => undefined);
  });
}

/** Settles with a description when the process has ended. */
function endOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(0, KEPT_OUTPUT_BYTES);
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`its process could not be started: ${error.message}`));
    // Its last output may come after its end.
    child.once('close', (code, signal) => {
      const how = `its process ended with ${signal ?? `code ${code}`}`;
      const reason = /^FATAL ERROR: .*$|^\w*Error: .*$/m.exec(output)?.[0];
      resolve(reason === undefined ? how : `${how}: ${reason}`);
    });
  });
}

function shuttingDown({ lost, details }: ProcessJob): MillraceError {
  return new MillraceError('SHUTTING_DOWN', `${lost}: the process is stopping`, details);
}
