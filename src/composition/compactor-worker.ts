/** Entry of the compactor's process: one job. Started by ProcessCompactor, ended by it. */
import { doJob, type JobTask } from '../adapters/node/index.js';
import { type CompactionLimits, compactShard } from '../journal/index.js';
import type { CompactionJob, CompactionResult } from '../ports/index.js';
import { foldOfPartition } from '../replay/folds/index.js';
import { openThread, type ThreadTask } from './thread-container.js';

/** What it needs beside its job. */
export interface CompactorTask extends ThreadTask {
  readonly limits: CompactionLimits;
}

/** Live commands go first. */
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
