/**
 * The compactor in a thread of its own: one thread for each job, and one job at a time in a process, so that there is
 * only ever one such thread. What a thread that dies had written is not named by any manifest.
 */
import type { CompactionJob, CompactionResult, Compactor } from '../../../ports/index.js';
import { JobThreads, type JobThreadsOptions } from './job-threads.js';

export type WorkerCompactorOptions<Installation> = Omit<
  JobThreadsOptions<Installation, CompactionJob>,
  'nameOf' | 'lost' | 'detailsOf'
>;

export class WorkerCompactor<Installation> implements Compactor {
  readonly #threads: JobThreads<Installation, CompactionJob, CompactionResult>;
  /** Settles when the job before has ended, well or not. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: WorkerCompactorOptions<Installation>) {
    this.#threads = new JobThreads({
      ...options,
      nameOf: ({ shard }) => `compactor ${shard}`,
      lost: 'the compactor gave no snapshot',
      detailsOf: ({ shard }) => ({ shard }),
    });
  }

  compact(job: CompactionJob): Promise<CompactionResult> {
    const result = this.#last.then(() => this.#threads.run(job));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Ends the thread that is running; its job and those that wait fail with SHUTTING_DOWN. */
  async close(): Promise<void> {
    await this.#threads.close();
    await this.#last;
  }
}
