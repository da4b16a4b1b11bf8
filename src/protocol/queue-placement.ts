/** Names of the queue's plane: an account has one partition, and a shard has an intake in addition to its journal. */
import { type AccountId, BoundedCache, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';

const QUEUE_PARTITION = /^queue:(ac-[a-z2-7]{16})$/;

/** Remembered names: each command uses one, and an identical string is hashed once. */
const REMEMBERED_NAMES = 10_000;
const remembered = new BoundedCache<AccountId, PartitionName>(REMEMBERED_NAMES);

/** `queue:<account id>`. */
export function queuePartition(account: AccountId): PartitionName {
  const known = remembered.get(account);
  if (known !== undefined) return known;
  const name = `queue:${account}` as PartitionName;
  remembered.set(account, name);
  return name;
}

export function isQueuePartition(partition: string): boolean {
  return partition.startsWith('queue:');
}

/** @throws INVALID */
export function parseQueuePartition(partition: string): AccountId {
  const match = QUEUE_PARTITION.exec(partition);
  if (match === null) throw new MillraceError('INVALID', `not the name of a queue's partition: ${partition}`);
  return match[1] as AccountId;
}

/** The stream that stores publishes while the shard has no owner: `QUEUE_3` → `INTAKE_3`. */
export function intakeOf(shard: ShardName): ShardName {
  return shard.replace(/^QUEUE_/, 'INTAKE_') as ShardName;
}
