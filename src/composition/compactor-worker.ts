/**
 * Entry of the compactor's thread: one job, with connections to NATS of its own, so that a large snapshot
 * never stands before an append. Started by WorkerCompactor, told of nothing, ended by it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ControlFold } from '../actors/control/index.js';
import { replayFold } from '../actors/kv-shard/index.js';
import { QueueFold } from '../actors/queue/index.js';
import { connect, JetStreamJournal, JetStreamObjectStore, Names, type NatsOptions } from '../adapters/nats/index.js';
import { type CompactorTask, lowerPriority, outcomeOf, SystemClock, threadLog } from '../adapters/node/index.js';
import { type CompactionLimits, compactShard, type PartitionFold } from '../journal/index.js';
import { MillraceError, type PartitionName } from '../kernel/index.js';
import { CONTROL_PARTITION } from '../messages/index.js';
import type { CompactionResult } from '../ports/index.js';

/** What this thread needs beside its job. */
export interface CompactorWorld {
  readonly nats: NatsOptions;
  /** Of the installation's names on the server. */
  readonly prefix: string;
  readonly limits: CompactionLimits;
}

/** Live commands go first. On Linux this is the priority of the calling thread alone. */
const NICENESS = 10;

const port = parentPort;
if (port === null) throw new MillraceError('DEFECT', 'the compactor has to be started as a thread');

const log = threadLog((message) => port.postMessage(message));
lowerPriority(NICENESS, log);
port.postMessage(await outcomeOf(() => compact(workerData as CompactorTask<CompactorWorld>)));

async function compact({ job, world }: CompactorTask<CompactorWorld>): Promise<CompactionResult> {
  const connections = await connect({ ...world.nats, name: `compactor ${job.shard}` });
  try {
    const names = new Names(world.prefix);
    const ports = {
      journal: new JetStreamJournal(connections, names),
      objects: new JetStreamObjectStore(connections, names),
      clock: new SystemClock(),
      log,
    };
    return await compactShard(ports, job, foldOf, world.limits);
  } finally {
    await connections.close();
  }
}

function foldOf(partition: PartitionName): PartitionFold {
  if (partition.startsWith('kv:')) return replayFold();
  if (partition.startsWith('queue:')) return new QueueFold();
  if (partition === CONTROL_PARTITION) return new ControlFold();
  throw new MillraceError('DEFECT', 'a partition of a plane that is not folded here', { partition });
}
