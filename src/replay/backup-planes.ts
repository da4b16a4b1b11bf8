/** The planes of this release, as a backup folds them. */
import { ControlFold } from '../actors/control/index.js';
import { QueuePartitionFold } from '../actors/queue/index.js';
import { encodeControlEvent } from '../codec/control/index.js';
import { decodeIntakeRecord, encodeQueueEvent } from '../codec/queue/index.js';
import { rebuildingEvents } from '../domain/control/index.js';
import type { BackupPlanes } from '../journal/backup/index.js';
import type { AccountId } from '../kernel/index.js';
import { foldOfPartition } from './folds/index.js';

export const BACKUP_PLANES: BackupPlanes = {
  fold: foldOfPartition,
  intakeTaken: (fold) => (fold instanceof QueuePartitionFold ? fold.engine.intakePosition : 0),
  rebased: (fold, { meterFrom }) => {
    if (fold instanceof QueuePartitionFold) return withoutIntake(fold);
    return fold instanceof ControlFold ? withMeterFrom(fold, meterFrom) : undefined;
  },
  accountOfIntake: (record) => accountOf(record),
};

/** The event of snapshots that sets an account's counters, again, with the beginning of an intake. */
function withoutIntake({ engine }: QueuePartitionFold): Uint8Array | undefined {
  if (engine.intakePosition === 0) return undefined;
  for (const event of engine.rebuildingEvents()) {
    if (event.type === 'AccountRestored') return encodeQueueEvent({ ...event, intakePosition: 0 });
  }
  return undefined;
}

/** Records before the first one that is there were counted, and are position 0 and below now. */
function withMeterFrom({ state }: ControlFold, meterFrom: number): Uint8Array | undefined {
  if (meterFrom === 1 || state.meterPosition === 0) return undefined;
  for (const event of rebuildingEvents(state)) {
    if (event.type !== 'MeterRestored') continue;
    return encodeControlEvent({ ...event, position: Math.max(0, event.position - meterFrom + 1) });
  }
  return undefined;
}

function accountOf(record: Uint8Array): AccountId | undefined {
  try {
    return decodeIntakeRecord(record).account;
  } catch {
    return undefined;
  }
}
