/** The place of the control state: one shard and one partition, in a cluster of any size. */
import type { AccountId, PartitionName, Random, ShardName } from '../kernel/index.js';
import { newId } from './base32.js';

export const CONTROL_SHARD = 'CONTROL' as ShardName;
export const CONTROL_PARTITION = 'control' as PartitionName;
/** The meter's log. It has many writers, so it has no owner and no chain. */
export const METER_SHARD = 'METER' as ShardName;

/** `ac-` and 80 random bits. */
export function newAccountId(random: Random): AccountId {
  return newId('ac-', random) as AccountId;
}
