/** The threads that keep moments of databases, one for each request (adapters/node/thread-job.ts). */
import { runInThread } from '../adapters/node/index.js';
import type { KeepRequest, Kept } from '../journal/backup/index.js';
import type { Log } from '../ports/index.js';
import type { KeeperTask } from './backup-keeper-worker.js';

export interface KeeperThreadOptions {
  readonly entry: URL;
  readonly task: Omit<KeeperTask, 'request'>;
  readonly log: Log;
  /** Heap of the thread; the largest partition has to fit about twice. */
  readonly maxHeapMb?: number;
  readonly timeLimitMs?: number;
}

const DEFAULT_MAX_HEAP_MB = 1024;
const DEFAULT_TIME_LIMIT_MS = 15 * 60_000;

export class KeeperThread {
  readonly #ended = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(private readonly options: KeeperThreadOptions) {}

  /** @throws MillraceError: what the thread met, TIMED_OUT when nothing came of it, or SHUTTING_DOWN */
  async keep(request: KeepRequest): Promise<Kept> {
    const { entry, task, log, maxHeapMb, timeLimitMs } = this.options;
    const kept = runInThread<Kept>({
      entry,
      name: `backup ${request.backup}`,
      data: { ...task, request } satisfies KeeperTask,
      log,
      maxHeapMb: maxHeapMb ?? DEFAULT_MAX_HEAP_MB,
      timeLimitMs: timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
      signal: this.#ended.signal,
      lost: 'nothing was kept',
      details: { backup: request.backup },
    });
    this.#running.add(kept);
    try {
      return await kept;
    } finally {
      this.#running.delete(kept);
    }
  }

  /** Ends what is running; its request fails, and every later one. */
  async close(): Promise<void> {
    this.#ended.abort();
    await Promise.allSettled(this.#running);
  }
}
