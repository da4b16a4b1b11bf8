/**
 * The compactor in a process of its own: one for each job, and one job at a time, so that there is only ever one such
 * process. What one that dies had written is not named by any manifest.
 */
import type { CompactionJob, CompactionResult, Compactor } from '../../../ports/index.js';
import { JobProcesses, type JobProcessesOptions } from './job-processes.js';

export type ProcessCompactorOptions<Installation> = Omit<
  JobProcessesOptions<Installation, CompactionJob>,
  'lost' | 'detailsOf'
>;

export class ProcessCompactor<Installation> implements Compactor {
  readonly #processes: JobProcesses<Installation, CompactionJob, CompactionResult>;
  /** Settles when the job before has ended, well or not. */
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

  /** Ends the process that is running; its job and those that wait fail with SHUTTING_DOWN. */
  async close(): Promise<void> {
    await this.#processes.close();
    await this.#last;
  }
}
