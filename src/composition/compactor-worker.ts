/** Entry of the compactor's process, for one job. ProcessCompactor starts and ends it. */
import { doJob, type JobTask } from '../adapters/node/index.js';
import { compactShard } from '../journal/index.js';
import type { CompactionJob, CompactionResult } from '../ports/index.js';
import { foldOfPartition } from '../replay/folds/index.js';
import { openThread } from './thread-container.js';
import type { CompactorTask } from './thread-tasks.js';

/** Live commands have priority. */
const NICENESS = 10;

await doJob<JobTask<CompactorTask, CompactionJob>, CompactionResult>(
  'the compactor',
  NICENESS,
  async ({ job, installation }, log) => {
    const { close, ...parts } = await openThread(installation, `compactor ${job.shard}`, log);
    try {
      return await compactShard(parts, job, foldOfPartition, installation.limits);
    } finally {
      await close();
    }
  },
);
