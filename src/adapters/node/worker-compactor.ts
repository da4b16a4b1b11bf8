/**
 * The compactor in a thread of its own: one thread for each job, so that its memory goes back whole when
 * the job is done, and one job at a time in a process, so that there is only ever one such thread.
 *
 *  W1 a thread that dies, runs out of memory or takes too long fails its job and nothing else: what it
 *     had written is not named by any manifest
 *  W2 the thread is gone before the job is answered
 */
import { Worker } from 'node:worker_threads';
import { type ErrorCode, MillraceError } from '../../kernel/index.js';
import type { CompactionJob, CompactionResult, Compactor, Log, LogFields } from '../../ports/index.js';

/** What the thread is started with: the job, and whatever its entry needs to reach the world. */
export interface CompactorTask<World> {
  readonly job: CompactionJob;
  readonly world: World;
}

/** What comes back from the thread. */
export type CompactorMessage =
  | { readonly kind: 'done'; readonly result: CompactionResult }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string; readonly details: LogFields }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly event: string; readonly fields: LogFields };

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface WorkerCompactorOptions<World> {
  /** The entry of the thread. */
  readonly entry: URL;
  /** Cloned into the thread: plain data. */
  readonly world: World;
  readonly log: Log;
  /** Heap of the thread; the largest partition has to fit about twice. */
  readonly maxHeapMb?: number;
  /** A job that takes longer is ended. */
  readonly timeLimitMs?: number;
}

/** Twice what a million short keys take folded, with room for the garbage of a step. */
const DEFAULT_MAX_HEAP_MB = 1024;
const DEFAULT_TIME_LIMIT_MS = 15 * 60_000;
/** New objects die young here; a larger nursery only costs memory. */
const YOUNG_GENERATION_MB = 16;

export class WorkerCompactor<World> implements Compactor {
  /** Settles when the job before has ended, well or not. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #ended = new AbortController();

  constructor(private readonly options: WorkerCompactorOptions<World>) {}

  compact(job: CompactionJob): Promise<CompactionResult> {
    const result = this.#last.then(() => this.#run(job));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Ends the thread that is running; its job and those that wait fail with SHUTTING_DOWN. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#last;
  }

  async #run(job: CompactionJob): Promise<CompactionResult> {
    if (this.#ended.signal.aborted) throw shuttingDown(job);
    const { entry, world, maxHeapMb = DEFAULT_MAX_HEAP_MB } = this.options;
    const task: CompactorTask<World> = { job, world };
    const worker = new Worker(entry, {
      name: `compactor ${job.shard}`,
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    try {
      return await this.#outcome(worker, job);
    } finally {
      await worker.terminate();
    }
  }

  #outcome(worker: Worker, job: CompactionJob): Promise<CompactionResult> {
    const { log, timeLimitMs = DEFAULT_TIME_LIMIT_MS } = this.options;
    const { signal } = this.#ended;
    return new Promise((resolve, reject) => {
      const onEnded = () => reject(shuttingDown(job));
      const timer = setTimeout(() => reject(lost(job, `it took longer than ${timeLimitMs} ms`)), timeLimitMs);
      const settled = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onEnded);
      };
      signal.addEventListener('abort', onEnded);
      worker.on('message', (message: CompactorMessage) => {
        if (message.kind === 'log') return log[message.level](message.event, message.fields);
        settled();
        if (message.kind === 'done') resolve(message.result);
        else reject(new MillraceError(message.code, message.message, message.details));
      });
      worker.on('error', (cause) => reject(lost(job, 'it failed', cause)));
      worker.on('exit', (code) => {
        settled();
        // Without effect after a message.
        reject(lost(job, `it ended with code ${code}`));
      });
    });
  }
}

function lost(job: CompactionJob, why: string, cause?: unknown): MillraceError {
  return new MillraceError('TIMED_OUT', `the compactor gave no snapshot: ${why}`, { shard: job.shard }, cause);
}

function shuttingDown(job: CompactionJob): MillraceError {
  return new MillraceError('SHUTTING_DOWN', 'the compactor was stopped', { shard: job.shard });
}
