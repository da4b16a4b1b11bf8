/** What events of backups do to the control state. */
import { assert, type BackupId, unreachable } from '../../kernel/index.js';
import type { ControlEvent } from './events.js';
import type { Backup } from './management.js';
import type { ControlState } from './state.js';

export type BackupEvent = Extract<ControlEvent, { readonly type: 'BackupStarted' | 'BackupEnded' | 'BackupDeleted' }>;

export function evolveBackups(state: ControlState, event: BackupEvent): void {
  switch (event.type) {
    case 'BackupStarted': {
      const { type: _, ...backup } = event;
      state.backups.put({ ...backup, state: 'pending', bytes: 0, manifests: [], reason: '' });
      return;
    }
    case 'BackupEnded': {
      const { backup, state: ended, bytes, manifests, reason } = event;
      state.backups.put({ ...existing(state, backup), state: ended, bytes, manifests, reason });
      return;
    }
    case 'BackupDeleted':
      state.backups.delete(event.backup);
      return;
    default:
      unreachable(event);
  }
}

function existing(state: ControlState, id: BackupId): Backup {
  const backup = state.backups.byId.get(id);
  assert(backup !== undefined, 'an event of a backup that is not there', { backup: id });
  return backup;
}
