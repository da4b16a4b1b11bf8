/** The backups of databases; what they hold is in the object store. */
import type { BackupId, DatabaseId } from '../../kernel/index.js';
import { BACKUP_TIMEOUT_MS } from './limits.js';
import type { Backup } from './management.js';
import { Owned } from './owned.js';

export class BackupRecords {
  readonly byId = new Map<BackupId, Backup>();
  readonly #byDatabase = new Owned<DatabaseId, BackupId>();

  put(backup: Backup): void {
    this.byId.set(backup.id, backup);
    this.#byDatabase.add(backup.database, backup.id);
  }

  delete(id: BackupId): void {
    const backup = this.byId.get(id);
    if (backup === undefined) return;
    this.byId.delete(id);
    this.#byDatabase.remove(backup.database, id);
  }

  /** Newest first. */
  of(database: DatabaseId): Backup[] {
    const backups = [...this.#byDatabase.of(database)].flatMap((id) => this.byId.get(id) ?? []);
    return backups.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  /** One that ended without a word, in a crash, is under way no longer than `BACKUP_TIMEOUT_MS`. */
  isUnderWay(database: DatabaseId, nowMs: number): boolean {
    return this.of(database).some(
      ({ state, createdAtMs }) => state === 'pending' && nowMs - createdAtMs < BACKUP_TIMEOUT_MS,
    );
  }
}
