/**
 * Entry of the process that stores the state of a database at a moment, as a copy or by reference, for one request.
 * JobProcesses starts and ends it.
 */
import { doJob, type JobTask } from '../adapters/node/index.js';
import { type KeepRequest, type KeptState, keepStates } from '../journal/backup/index.js';
import { type BranchRequest, type ReferredState, referState } from '../journal/index.js';
import { BACKUP_PLANES } from '../replay/index.js';
import { openThread } from './thread-container.js';
import type { ThreadTask } from './thread-tasks.js';

/** Live commands have priority. */
const NICENESS = 10;

/** One of two jobs, told apart by a field of the second. */
export type KeeperJob = KeepRequest | BranchRequest;

await doJob<JobTask<ThreadTask, KeeperJob>, KeptState | ReferredState>(
  'a keeper of moments',
  NICENESS,
  async ({ job, installation }, log) => {
    const { close, ...parts } = await openThread(
      installation,
      'branch' in job ? `branch ${job.branch}` : `backup ${job.backup}`,
      log,
    );
    try {
      return 'branch' in job ? await referState(parts, job) : await keepStates(parts, job, BACKUP_PLANES.fold);
    } finally {
      await close();
    }
  },
);
