/**
 * The place of a partition: the shard follows from the partition's name and from the number of shards with which the
 * cluster was created. Both are fixed for ever (test/fixtures/journals/placement.json), because a partition that moved
 * would leave its history in the old journal.
 */
import { createHash } from 'node:crypto';
import {
  type AccountId,
  assert,
  BoundedCache,
  type DatabaseId,
  MillraceError,
  type PartitionName,
  type Random,
  type ShardName,
  type TriggerId,
} from '../kernel/index.js';
import { newId } from './base32.js';

/** Names of the queue's plane: an account has one partition, and a shard has an intake in addition to its journal. */
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

/** The place of the control state: one shard and one partition, in a cluster of any size. */
export const CONTROL_SHARD = 'CONTROL' as ShardName;
export const CONTROL_PARTITION = 'control' as PartitionName;
/** The meter's log. It has many writers, so it has no owner and no chain. */
export const METER_SHARD = 'METER' as ShardName;

/** `ac-` and 80 random bits. */
export function newAccountId(random: Random): AccountId {
  return newId('ac-', random) as AccountId;
}

/** The kind of a shard's contents; each plane has separate shards. */
export type Plane = 'kv' | 'queue';

const SHARD_PREFIX: Readonly<Record<Plane, string>> = { kv: 'KV_', queue: 'QUEUE_' };

/** Undefined for a shard of neither plane, such as the control shard. */
export function planeOfShard(shard: ShardName): Plane | undefined {
  return (Object.keys(SHARD_PREFIX) as Plane[]).find((plane) => shard.startsWith(SHARD_PREFIX[plane]));
}

/** The first 8 bytes of SHA-256 of the partition's name, big-endian, modulo the number of shards. */
export function shardOf(plane: Plane, partition: PartitionName, shardCount: number): ShardName {
  assert(Number.isSafeInteger(shardCount) && shardCount > 0, 'a plane without shards', { plane, shardCount });
  const digest = createHash('sha256').update(partition, 'utf8').digest();
  return `${SHARD_PREFIX[plane]}${digest.readBigUInt64BE(0) % BigInt(shardCount)}` as ShardName;
}

const KV_PARTITION = /^kv:(db-[a-z2-7]{16}):(0|[1-9][0-9]{0,4})$/;

/** `db-` and 80 random bits. */
export function newDatabaseId(random: Random): DatabaseId {
  return newId('db-', random) as DatabaseId;
}

/** `tr-` and 80 random bits. */
export function newTriggerId(random: Random): TriggerId {
  return newId('tr-', random) as TriggerId;
}

/** `kv:<database id>:<index>`, the index from 0. */
export function kvPartition(database: DatabaseId, index: number): PartitionName {
  return `kv:${database}:${index}` as PartitionName;
}

/** The layout of a database: its partitions have consecutive numbers, which no other layout of it has. */
export interface PartitionLayout {
  /** Undefined: 0. */
  readonly firstPartition?: number | undefined;
  readonly partitions: number;
}

/** The partitions of a layout, in order of the slots. */
export function kvPartitions(
  database: DatabaseId,
  { firstPartition = 0, partitions }: PartitionLayout,
): PartitionName[] {
  return Array.from({ length: partitions }, (_, index) => kvPartition(database, firstPartition + index));
}

/** @throws INVALID */
export function parseKvPartition(partition: string): { readonly database: DatabaseId; readonly index: number } {
  const match = KV_PARTITION.exec(partition);
  if (match === null) throw new MillraceError('INVALID', `not the name of a kv partition: ${partition}`);
  return { database: match[1] as DatabaseId, index: Number(match[2]) };
}
