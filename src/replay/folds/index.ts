/** The folds that snapshots, audits and replays of every plane are made with. */
import { ControlFold } from '../../actors/control/index.js';
import { replayFold } from '../../actors/kv-shard/index.js';
import { QueuePartitionFold } from '../../actors/queue/index.js';
import { KvEngine } from '../../domain/kv/index.js';
import type { PartitionFold } from '../../journal/index.js';
import { MillraceError, type PartitionName, type Random } from '../../kernel/index.js';
import { CONTROL_PARTITION, isQueuePartition } from '../../messages/index.js';
import { KvKeyedFold } from '../keyed-fold.js';

/** It is what the compactor folds with. @throws DEFECT for a partition of a plane that is not known here */
export function foldOfPartition(partition: PartitionName): PartitionFold {
  if (partition.startsWith('kv:')) return replayFold();
  if (isQueuePartition(partition)) return new QueuePartitionFold();
  if (partition === CONTROL_PARTITION) return new ControlFold();
  throw new MillraceError('DEFECT', 'a partition of a plane that is not folded here', { partition });
}

/** A queue's without its bodies, for who counts. */
export function countingQueueFold(): QueuePartitionFold {
  return new QueuePartitionFold({ put() {}, drop() {} });
}

/** A database's. @param moment  when it is, for commands that ask; milliseconds since the epoch */
export function keyedKvFold(random: Random, moment: () => number): KvKeyedFold {
  const processInfo = { nowMicros: () => Math.round(moment() * 1000), info: () => new Map() };
  return new KvKeyedFold(new KvEngine(random, processInfo));
}
