/**
 * The compactor in a thread of its own (thread-job.ts): one thread for each job, and one job at a time in a process,
 * so that there is only ever one such thread. What a thread that dies had written is not named by any manifest.
 */
import type { CompactionJob, CompactionResult, Compactor, Log } from '../../ports/index.js';
import { runInThread } from './thread-job.js';

/** What the thread is started with: the job, and whatever its entry needs to reach the world. */
export interface CompactorTask<World> {
  readonly job: CompactionJob;
  readonly world: World;
}

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

  #run(job: CompactionJob): Promise<CompactionResult> {
    const { entry, world, log, maxHeapMb, timeLimitMs } = this.options;
    return runInThread<CompactionResult>({
      entry,
      name: `compactor ${job.shard}`,
      data: { job, world } satisfies CompactorTask<World>,
      log,
      maxHeapMb: maxHeapMb ?? DEFAULT_MAX_HEAP_MB,
      timeLimitMs: timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
      signal: this.#ended.signal,
      lost: 'the compactor gave no snapshot',
      details: { shard: job.shard },
    });
  }
}
