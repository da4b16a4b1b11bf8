/**
 * Contents of indexes and graphs that can be made again from keys, stored so that a start is short. A lost or damaged file
 * only costs time.
 */
import type { ByteString, PartitionName } from '../kernel/index.js';

export interface IndexFiles {
  /** @param index the definition @returns the bytes as they were written; undefined: there are none, or damaged ones */
  read(partition: PartitionName, index: ByteString): Promise<Uint8Array | undefined>;
  /** Begins a new file, which replaces the present one when it is complete. */
  write(partition: PartitionName, index: ByteString): IndexDraft;
  /** Removes the files of all other partitions. */
  keepOnlyOf(partitions: readonly PartitionName[]): Promise<void>;
  /** Removes the files of all other indexes of the partition. */
  keepOnly(partition: PartitionName, indexes: readonly ByteString[]): Promise<void>;
}

export interface IndexDraft {
  append(piece: Uint8Array): Promise<void>;
  complete(): Promise<void>;
  discard(): Promise<void>;
}

/** Smaller contents are made again within a second. */
const LEAST_ITEMS = 5000;
/** They are stored again after so many changes, at least this share of their items, … */
const LEAST_CHANGES = 1000;
const CHANGED_SHARE = 0.02;
/** … and not more often, because all of it is written. */
export const STORE_EVERY_MS = 60_000;

/** @param items documents or vectors @param changes since they were stored */
export function isWorthStoring(items: number, changes: number): boolean {
  return items >= LEAST_ITEMS && changes >= Math.max(LEAST_CHANGES, items * CHANGED_SHARE);
}
