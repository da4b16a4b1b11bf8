/**
 * Moments of databases that are kept, as the management API asks for them. What there is of them is known to the
 * control actor; this makes the objects and takes them away.
 */
import type { BackupId, DatabaseId } from '../kernel/index.js';

export interface Backups {
  /** At once; the control actor is told how it ended (`EndBackup`), also after a crash of this process. */
  start(database: DatabaseId, backup: BackupId): void;
  /**
   * Puts the data of the manifests in place of all that the database has; done when it resolves.
   * @param manifests names of the manifests of a backup's partitions, in order of index
   * @throws NOT_FOUND when an object is gone, CONFLICT when the backup does not fit the database's partitions,
   *         SHARD_UNAVAILABLE, TIMED_OUT
   */
  restore(database: DatabaseId, manifests: readonly string[]): Promise<void>;
  /**
   * What a backup holds, as RESP commands that an empty database needs to hold the same; parameters are left out.
   * @throws NOT_FOUND when an object is gone, JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE, on the way too
   */
  commandsOf(manifests: readonly string[]): AsyncIterable<Uint8Array>;
  /** What is not there is as good as deleted. */
  delete(manifests: readonly string[]): Promise<void>;
}
