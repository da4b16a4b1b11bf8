/** Where the control state lives: one shard, one partition, whatever the cluster's size. */
import type { AccountId, PartitionName, Random, ShardName } from '../kernel/index.js';

export const CONTROL_SHARD = 'CONTROL' as ShardName;
export const CONTROL_PARTITION = 'control' as PartitionName;
/** The meter's log. Many write to it, so it has no owner and no chain. */
export const METER_SHARD = 'METER' as ShardName;

/** RFC 4648, lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ACCOUNT_ID_CHARACTERS = 16;

/** `ac-` and 80 random bits. */
export function newAccountId(random: Random): AccountId {
  let id = 'ac-';
  // 256 is a multiple of 32, so the low five bits of a random byte are even odds.
  for (const byte of random.bytes(ACCOUNT_ID_CHARACTERS)) id += BASE32[byte & 31];
  return id as AccountId;
}
