/**
 * Entry of the process that stores the state of a database at a moment, as a copy or by reference, for one request, or that
 * copies the installation continuously. JobProcesses starts and ends it.
 */
import { doJob, type JobTask } from '../adapters/node/index.js';
import { type KeepRequest, type KeptState, keepStates } from '../journal/backup/index.js';
import { type BranchRequest, type ReferredState, referState } from '../journal/index.js';
import { BACKUP_PLANES } from '../replay/index.js';
import { type CopyJob, copyInstallation } from './copy-installation.js';
import { openThread } from './thread-container.js';
import type { ThreadTask } from './thread-tasks.js';

/** Live commands have priority. */
const NICENESS = 10;

/** One of three jobs, told apart by a field. */
export type KeeperJob = KeepRequest | BranchRequest | CopyJob;

await doJob<JobTask<ThreadTask, KeeperJob>, KeptState | ReferredState | undefined>(
  'a keeper of moments',
  NICENESS,
  async ({ job, installation }, log, tell) => {
    const { close, connections, ...parts } = await openThread(installation, nameOf(job), log);
    try {
      if ('place' in job) return await copyInstallation(job, parts, { connections, prefix: installation.prefix }, tell);
      return 'branch' in job ? await referState(parts, job) : await keepStates(parts, job, BACKUP_PLANES.fold);
    } finally {
      await close();
    }
  },
);

function nameOf(job: KeeperJob): string {
  if ('place' in job) return 'backups';
  return 'branch' in job ? `branch ${job.branch}` : `backup ${job.backup}`;
}
