/**
 * The position of a trigger in a shard's journal as one number, which the queue's journal remembers for the trigger and
 * shard (`OutboxTaken`): the entry's position and a place within the entry.
 */
import type { TriggerStart } from '../../domain/control/index.js';
import {
  type DatabaseId,
  getOrCreate,
  type PartitionName,
  type ShardName,
  type TriggerId,
} from '../../kernel/index.js';
import { entrySections, kvPartitions, type PartitionLayout, shardOf } from '../../protocol/index.js';
import { countChanges, type ReadChanges } from './entry-changes.js';

/** Sequences stay exact up to position 137,438,953,472: four years of a thousand entries a second. */
const PLACES = 65_536;
/** The whole entry was taken. */
const WHOLE = PLACES - 1;
/** A key in a list of an effect takes at least so many bytes. */
const LEAST_CHANGE_BYTES = 7;

/** The journal that a trigger reads for a layout of the database, as the source of its records. */
export function sourceOf(id: TriggerId, shard: ShardName, firstPartition: number): string {
  const source = `trigger:${id}:${shard}`;
  return firstPartition === 0 ? source : `${source}:${firstPartition}`;
}

/** The keys of a snapshot are numbered separately. */
export function snapshotSourceOf(source: string, position: number): string {
  return `${source}@${position}`;
}

/** Everything up to this position was taken. */
export function sequenceAfter(position: number): number {
  return position * PLACES + WHOLE;
}

/** The entry that a sequence is in, and whether a part of it may be missing. */
export function placeOf(sequence: number): { readonly position: number; readonly isWhole: boolean } {
  const position = Math.floor(sequence / PLACES);
  return { position, isWhole: sequence % PLACES === WHOLE };
}

/** Sequences by number of the change. In an entry of very many changes some neighbours share one. */
export function sequencesOf(partitions: ReadonlySet<PartitionName>, { entry, position }: ReadChanges) {
  let bytes = 0;
  for (const { partition, effects } of entrySections(entry)) if (partitions.has(partition)) bytes += effects.length;
  const count = bytes < WHOLE * LEAST_CHANGE_BYTES ? 0 : countChanges(partitions, entry);
  const shared = Math.max(1, Math.ceil(count / WHOLE));
  return (index: number): number => position * PLACES + Math.floor(index / shared);
}

export type ShardPartitions = ReadonlyMap<ShardName, ReadonlySet<PartitionName>>;

export function partitionsByShard(database: DatabaseId, layout: PartitionLayout, kvShards: number): ShardPartitions {
  const places = new Map<ShardName, Set<PartitionName>>();
  for (const partition of kvPartitions(database, layout)) {
    getOrCreate(places, shardOf('kv', partition, kvShards), () => new Set()).add(partition);
  }
  return places;
}

/** The position that the list has for a shard; 0: none. */
export function positionIn(positions: readonly TriggerStart[], shard: ShardName): number {
  return positions.find((one) => one.shard === shard)?.position ?? 0;
}
