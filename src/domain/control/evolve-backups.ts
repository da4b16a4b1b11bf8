/** Events of backups. */
import { assert, type BackupId } from '../../kernel/index.js';
import type { ControlEventOf } from './events.js';
import type { Backup } from './management.js';
import type { ControlState } from './state.js';

export function backupStarted({ type: _, ...backup }: ControlEventOf<'BackupStarted'>, state: ControlState): void {
  state.backups.put({ ...backup, state: 'pending', bytes: 0, manifests: [], reason: '' });
}

export function backupEnded(event: ControlEventOf<'BackupEnded'>, state: ControlState): void {
  const { backup, state: ended, bytes, manifests, reason } = event;
  state.backups.put({ ...existing(state, backup), state: ended, bytes, manifests, reason });
}

export function backupDeleted({ backup }: ControlEventOf<'BackupDeleted'>, state: ControlState): void {
  state.backups.delete(backup);
}

function existing(state: ControlState, id: BackupId): Backup {
  const backup = state.backups.byId.get(id);
  assert(backup !== undefined, 'an event of a backup that is not there', { backup: id });
  return backup;
}
