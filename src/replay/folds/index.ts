/** The folds for snapshots, audits and replays of every partition type. */
import { ControlFold } from '../../actors/control/index.js';
import { replayFold } from '../../actors/kv-shard/index.js';
import { QueuePartitionFold } from '../../actors/queue/index.js';
import { KvEngine } from '../../domain/kv/index.js';
import type { PartitionFold } from '../../journal/index.js';
import { MillraceError, type PartitionName, type Random } from '../../kernel/index.js';
import { CONTROL_PARTITION, isQueuePartition } from '../../protocol/index.js';
import { KvKeyedFold } from '../keyed-fold.js';

/** The fold that the compactor uses. @throws DEFECT for a partition of an unknown type */
export function foldOfPartition(partition: PartitionName): PartitionFold {
  if (partition.startsWith('kv:')) return replayFold();
  if (isQueuePartition(partition)) return new QueuePartitionFold();
  if (partition === CONTROL_PARTITION) return new ControlFold();
  throw new MillraceError('DEFECT', 'a partition of a plane that is not folded here', { partition });
}

/** The fold of a queue account without message bodies, for counting. */
export function countingQueueFold(): QueuePartitionFold {
  return new QueuePartitionFold({ put() {}, drop() {} });
}

/** The fold of a database. @param moment the current time for commands, in milliseconds since the epoch */
export function keyedKvFold(random: Random, moment: () => number): KvKeyedFold {
  const processInfo = { nowMicros: () => Math.round(moment() * 1000), info: () => new Map() };
  return new KvKeyedFold(new KvEngine(random, processInfo));
}
