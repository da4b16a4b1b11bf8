/**
 * Backups of databases for the management API. The control actor knows the backups; this port creates and removes their
 * objects.
 */
import type { BackupId, DatabaseId } from '../kernel/index.js';

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
