/** Decides commands about backups; the process that makes a backup reports its end. */
import type { BackupId } from '../../kernel/index.js';
import type { ControlCommandOf } from './commands.js';
import { layoutIsChanging } from './database-rules.js';
import { unknownDatabase } from './decide-databases.js';
import { backupIsUnderWay, ownDatabase } from './decide-management-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_BACKUP_TEXT, MAX_DATABASE_BACKUPS } from './limits.js';
import type { Backup } from './management.js';
import { refuseName } from './names.js';
import { isChangingLayout } from './records.js';
import type { ControlState } from './state.js';

export function decideStartBackup(
  command: ControlCommandOf<'StartBackup'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const { account, database, backup: id, name, isDaily } = command;
  const owner = ownDatabase(state, account, database);
  if (owner === undefined) return unknownDatabase(database);
  const known = state.backups.byId.get(id);
  if (known?.database === database) return decided({ type: 'OneBackup', backup: known });
  if (known !== undefined) return rejected('ID_TAKEN', `there is a backup ${id} already`);
  const refusal = refuseName(name);
  if (refusal !== undefined) return refusal;
  if (state.backups.isUnderWay(database, nowMs)) return backupIsUnderWay();
  if (isChangingLayout(owner)) return layoutIsChanging(owner);
  if (state.backups.of(database).length >= MAX_DATABASE_BACKUPS) {
    return rejected('TOO_MANY', `a database has at most ${MAX_DATABASE_BACKUPS} backups`);
  }
  const started = { id, database, account, name, isDaily, createdAtMs: nowMs };
  const backup: Backup = { ...started, state: 'pending', bytes: 0, manifests: [], reason: '' };
  return decided({ type: 'OneBackup', backup }, { type: 'BackupStarted', ...started });
}

/** A backup ends once: a later report is answered with the recorded end. */
export function decideEndBackup(command: ControlCommandOf<'EndBackup'>, state: ControlState, atMs: number): Decision {
  const { backup: id, state: ended, bytes, manifests } = command;
  const backup = state.backups.byId.get(id);
  if (backup === undefined) return unknownBackup(id);
  if (backup.state !== 'pending') return decided({ type: 'OneBackup', backup });
  const partitions = state.live(backup.database)?.partitions ?? 0;
  const isWhole = ended === 'failed' ? manifests.length === 0 : manifests.length === partitions;
  if (!isWhole || manifests.some((name) => name.length > MAX_BACKUP_TEXT)) {
    return rejected(
      'BAD_VALUE',
      `a completed backup has the manifests of its ${partitions} partitions, a failed one none`,
    );
  }
  if (!Number.isSafeInteger(bytes) || bytes < 0)
    return rejected('BAD_VALUE', 'the bytes of a backup must be a whole number');
  const reason = command.reason.slice(0, MAX_BACKUP_TEXT);
  return decided(
    { type: 'OneBackup', backup: { ...backup, state: ended, bytes, manifests, reason } },
    { type: 'BackupEnded', backup: id, state: ended, bytes, manifests, reason, atMs },
  );
}

/** Answers with the record, so that the caller can remove the contents. */
export function decideDeleteBackup(
  command: ControlCommandOf<'DeleteBackup'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const { account, database, backup: id } = command;
  if (ownDatabase(state, account, database) === undefined) return unknownDatabase(database);
  const backup = state.backups.byId.get(id);
  if (backup?.database !== database) return unknownBackup(id);
  if (state.backups.isUnderWay(database, nowMs)) return backupIsUnderWay();
  return decided({ type: 'OneBackup', backup }, { type: 'BackupDeleted', backup: id, atMs: nowMs });
}

export function decideListBackups(
  { account, database }: ControlCommandOf<'ListBackups'>,
  state: ControlState,
): Decision {
  if (ownDatabase(state, account, database) === undefined) return unknownDatabase(database);
  return decided({ type: 'Backups', backups: state.backups.of(database) });
}

export function decideGetBackup({ account, backup: id }: ControlCommandOf<'GetBackup'>, state: ControlState): Decision {
  const backup = state.backups.byId.get(id);
  return backup?.account === account ? decided({ type: 'OneBackup', backup }) : unknownBackup(id);
}

function unknownBackup(id: BackupId): Decision {
  return rejected('UNKNOWN_BACKUP', `there is no backup ${id}`);
}
