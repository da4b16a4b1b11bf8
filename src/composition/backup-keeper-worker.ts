/**
 * Entry of the process that stores the state of a database at a moment, for one request. JobProcesses starts and ends
 * it.
 */
import { doJob, type JobTask } from '../adapters/node/index.js';
import { type KeepRequest, type KeptState, keepStates } from '../journal/backup/index.js';
import { BACKUP_PLANES } from '../replay/index.js';
import { openThread } from './thread-container.js';
import type { ThreadTask } from './thread-tasks.js';

/** Live commands have priority. */
const NICENESS = 10;

await doJob<JobTask<ThreadTask, KeepRequest>, KeptState>(
  'a keeper of moments',
  NICENESS,
  async ({ job, installation }, log) => {
    const { close, ...parts } = await openThread(installation, `backup ${job.backup}`, log);
    try {
      return await keepStates(parts, job, BACKUP_PLANES.fold);
    } finally {
      await close();
    }
  },
);
