/**
 * Daily backups: made once each UTC day for databases that have them switched on, and removed after some days.
 *
 *  DB1 a day's backup has one id in every process, so it is made once; a failed one is followed by another
 *  DB2 only the process that owns the control shard makes them; its successor completes the unfinished ones
 */
import { createHash } from 'node:crypto';
import {
  BACKUP_TIMEOUT_MS,
  type Backup,
  type ControlState,
  type Database,
  utcDayOf,
} from '../../domain/control/index.js';
import { type BackupId, type DatabaseId, describeError } from '../../kernel/index.js';
import type { Backups, Clock, Log, ManagementControl, Timer, Timers } from '../../ports/index.js';
import { backupIdFrom } from '../../protocol/index.js';

export interface DailyBackupsPorts {
  readonly control: ManagementControl;
  readonly backups: Backups;
  /** This process's copy. */
  readonly state: () => ControlState;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

/** A day's backup is due from midnight; minutes do not matter. */
const LOOK_EVERY_MS = 60_000;
/** The last successful backup is kept in any case. */
const KEPT_DAYS = 1;
const KEPT_DAYS_WITH_PROD_PACK = 3;
/** Tries to make a day's backup until one succeeds. */
const MAX_TRIES = 3;
const DAY_MS = 86_400_000;

export class DailyBackups {
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(private readonly ports: DailyBackupsPorts) {}

  start(): void {
    this.#timer = this.ports.timers.every(LOOK_EVERY_MS, () => this.look());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Begins due backups and removes old ones. Never rejects: the next check repeats failed ones. */
  async look(): Promise<void> {
    const { isOwner, state, clock, log } = this.ports;
    if (!isOwner()) return;
    const today = utcDayOf(clock.nowMs());
    for (const database of [...state().databases.values()]) {
      if (this.#isStopped) return;
      if (database.deletedAtMs !== undefined) continue;
      const daily = state()
        .backups.of(database.id)
        .filter(({ isDaily }) => isDaily);
      try {
        if (database.settings?.hasDailyBackup === true) await this.#makeDue(database, daily, today);
        await this.#removeOld(database, daily, today);
      } catch (error) {
        log.warn('backup.daily-failed', { database: database.id, cause: describeError(error) });
      }
    }
  }

  async #makeDue({ id: database, account }: Database, daily: readonly Backup[], today: number): Promise<void> {
    const { control, backups, clock, log } = this.ports;
    const ofToday = daily.filter(({ createdAtMs }) => utcDayOf(createdAtMs) === today);
    for (const { id: backup, state, createdAtMs } of ofToday) {
      if (state !== 'pending' || clock.nowMs() - createdAtMs < BACKUP_TIMEOUT_MS) continue;
      const reason = 'the process that made the backup has ended';
      await control.send({ type: 'EndBackup', backup, state: 'failed', bytes: 0, manifests: [], reason });
      return;
    }
    if (ofToday.some(({ state }) => state !== 'failed') || ofToday.length >= MAX_TRIES) return;
    const backup = dailyBackupId(database, today, ofToday.length);
    const name = `daily ${new Date(today * DAY_MS).toISOString().slice(0, 10)}`;
    const reply = await control.send({ type: 'StartBackup', account, database, backup, name, isDaily: true });
    if (reply.type === 'OneBackup' && reply.backup.state === 'pending') backups.start(database, backup);
    else if (reply.type === 'Rejected') log.warn('backup.daily-failed', { database, cause: reply.message });
  }

  async #removeOld(
    { id: database, account, settings }: Database,
    daily: readonly Backup[],
    today: number,
  ): Promise<void> {
    const { control, backups } = this.ports;
    const keptDays = settings?.hasProdPack === true ? KEPT_DAYS_WITH_PROD_PACK : KEPT_DAYS;
    for (const { id: backup, createdAtMs, manifests } of daily) {
      const hasNewer = daily.some((other) => other.state === 'completed' && other.createdAtMs > createdAtMs);
      if (utcDayOf(createdAtMs) > today - keptDays || !hasNewer) continue;
      const reply = await control.send({ type: 'DeleteBackup', account, database, backup });
      if (reply.type === 'OneBackup') await backups.delete(manifests);
    }
  }
}

/** The same id in every process (DB1). */
function dailyBackupId(database: DatabaseId, day: number, failures: number): BackupId {
  return backupIdFrom(createHash('sha256').update(`${database} ${day} ${failures}`).digest());
}
