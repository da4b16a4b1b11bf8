/** The partition types of this release, as a backup replays them. */
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

/** The snapshot event that sets an account's counters, with the intake position reset to 0. */
function withoutIntake({ engine }: QueuePartitionFold): Uint8Array | undefined {
  if (engine.intakePosition === 0) return undefined;
  for (const event of engine.rebuildingEvents()) {
    if (event.type === 'AccountRestored') return encodeQueueEvent({ ...event, intakePosition: 0 });
  }
  return undefined;
}

/** Records before the first existing one were counted before, so their position becomes 0. */
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
