/**
 * Backups of databases for the management API. The control actor knows the backups; this port creates and removes their
 * objects.
 */
import type { BackupId, DatabaseId } from '../kernel/index.js';

/** The continuous copy of the installation, in the process that has it made. */
export interface CopyWatch {
  /** Undefined in all other processes. */
  reading(): CopyReading | undefined;
}

export interface CopyReading {
  /** `s3://bucket/prefix`, or a directory. */
  readonly place: string;
  /** Of the newest write that may be missing in the copy. */
  readonly ageMs: number;
  /** Of the newest full backup. */
  readonly fullAgeMs: number | undefined;
  /** The cause of the last attempt's failure. */
  readonly failure: string | undefined;
}

/** A copy that is older is reported: a full round and its repetition after a pause take less. */
export const OLD_COPY_MS = 300_000;

export interface Backups {
  /** Returns immediately; the control actor is told the end (`EndBackup`), also after a crash of this process. */
  start(database: DatabaseId, backup: BackupId): void;
  /**
   * Replaces all data of the database by that of the manifests; complete when it resolves.
   * @param manifests  names of the manifests of a backup's partitions, in order of index
   * @throws NOT_FOUND when an object is gone, CONFLICT when the backup does not fit the database's partitions,
   *         SHARD_UNAVAILABLE, TIMED_OUT
   */
  restore(database: DatabaseId, manifests: readonly string[]): Promise<void>;
  /**
   * The contents of a backup as RESP commands for an empty database, without parameters.
   * @throws NOT_FOUND when an object is gone, JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE, also during iteration
   */
  commandsOf(manifests: readonly string[]): AsyncIterable<Uint8Array>;
  /** Missing objects are ignored. */
  delete(manifests: readonly string[]): Promise<void>;
}
