/** Entry of the compactor's thread: one job. Started by WorkerCompactor, told of nothing, ended by it. */
import { ControlFold } from '../actors/control/index.js';
import { replayFold } from '../actors/kv-shard/index.js';
import { QueueFold } from '../actors/queue/index.js';
import { doJob, type JobTask } from '../adapters/node/index.js';
import { type CompactionLimits, compactShard, type PartitionFold } from '../journal/index.js';
import { MillraceError, type PartitionName } from '../kernel/index.js';
import { CONTROL_PARTITION } from '../messages/index.js';
import type { CompactionJob, CompactionResult } from '../ports/index.js';
import { type ThreadWorld, threadParts } from './thread-parts.js';

/** What this thread needs beside its job. */
export interface CompactorWorld extends ThreadWorld {
  readonly limits: CompactionLimits;
}

/** Live commands go first. */
const NICENESS = 10;

await doJob<JobTask<CompactorWorld, CompactionJob>, CompactionResult>(
  'the compactor',
  NICENESS,
  async ({ job, world }, log) => {
    const { close, ...parts } = await threadParts(world, `compactor ${job.shard}`, log);
    try {
      return await compactShard(parts, job, foldOf, world.limits);
    } finally {
      await close();
    }
  },
);

function foldOf(partition: PartitionName): PartitionFold {
  if (partition.startsWith('kv:')) return replayFold();
  if (partition.startsWith('queue:')) return new QueueFold();
  if (partition === CONTROL_PARTITION) return new ControlFold();
  throw new MillraceError('DEFECT', 'a partition of a plane that is not folded here', { partition });
}
