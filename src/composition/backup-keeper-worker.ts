/** Entry of the process that keeps a moment of a database: one request. Started by JobProcesses, ended by it. */
import { doJob, type JobTask } from '../adapters/node/index.js';
import { type KeepRequest, type KeptState, keepStates } from '../journal/backup/index.js';
import { BACKUP_PLANES } from '../replay/index.js';
import { openThread, type ThreadTask } from './thread-container.js';

/** Live commands go first. */
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
