/**
 * The compactor in separate processes, one job at a time. Objects written by a process that dies are named by no
 * manifest.
 */
import type { CompactionJob, CompactionResult, Compactor } from '../../../ports/index.js';
import { JobProcesses, type JobProcessesOptions } from './job-processes.js';

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
