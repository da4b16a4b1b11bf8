/**
 * Contents of indexes that can be built again from keys, stored so that a start is short. A lost or damaged file only
 * costs time.
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
