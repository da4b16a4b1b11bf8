/** Proves DB1, DB2. */
import { expect } from 'chai';
import { DailyBackups } from '../../../src/actors/control/index.js';
import { BACKUP_TIMEOUT_MS, type ControlCommand, evolve } from '../../../src/domain/control/index.js';
import type { BackupId } from '../../../src/kernel/index.js';
import { ManualTime } from '../../support/memory/index.js';
import { MemoryControl } from '../../support/memory-control.js';
import { silentLog } from '../../support/silent-log.js';
import { ACCOUNT, db } from './given.js';
import { PEOPLE } from './management-given.js';

const DAY_MS = 86_400_000;

describe('control: daily backups', () => {
  async function given(settings: Record<string, unknown> = { hasDailyBackup: true }) {
    const control = new MemoryControl();
    for (const event of PEOPLE) evolve(control.state, event);
    const time = new ManualTime();
    const [started, deleted]: [BackupId[], string[]] = [[], []];
    let isOwner = true;
    const daily = new DailyBackups({
      control,
      backups: {
        start: (_database, backup) => void started.push(backup),
        restore: async () => {},
        async *commandsOf() {},
        delete: async (manifests) => void deleted.push(...manifests),
      },
      state: () => control.state,
      isOwner: () => isOwner,
      clock: { nowMs: () => control.nowMs, monotonicMs: () => time.monotonicMs() },
      timers: time,
      log: silentLog,
    });
    const change = { type: 'ChangeDatabase', account: ACCOUNT, database: db('first'), change: { settings } };
    await control.send(change as ControlCommand);
    return {
      control,
      daily,
      started,
      deleted,
      leave: () => {
        isOwner = false;
      },
      end: (backup: BackupId, manifest: string) =>
        control.send({ type: 'EndBackup', backup, state: 'completed', bytes: 1, manifests: [manifest], reason: '' }),
      dailies: () => control.state.backups.of(db('first')).map(({ name }) => name),
    };
  }

  it('are made once a day, for any number of checks', async () => {
    const { daily, started, end, dailies, control } = await given();
    await daily.look();
    await daily.look();
    await end(started[0] as BackupId, 'one');
    await daily.look();
    expect(started).to.have.length(1);
    expect(dailies()).to.deep.equal([`daily ${new Date(control.nowMs).toISOString().slice(0, 10)}`]);
  });

  it('are started again when the previous one timed out, at most three times a day', async () => {
    const { daily, started, control } = await given();
    for (let hours = 0; hours < 5; hours += 1) {
      await daily.look();
      await daily.look();
      control.nowMs += BACKUP_TIMEOUT_MS;
    }
    expect(started).to.have.length(3);
    expect(new Set(started)).to.have.length(3);
  });

  it('are deleted when they are old and a newer one is complete', async () => {
    const { daily, started, deleted, end, dailies, control } = await given();
    await daily.look();
    await end(started[0] as BackupId, 'one');
    control.nowMs += DAY_MS;
    await daily.look();
    expect(deleted).to.deep.equal([]);
    await end(started.at(-1) as BackupId, 'two');
    await daily.look();
    expect(deleted).to.deep.equal(['one']);
    expect(dailies()).to.have.length(1);
  });

  it('are kept for three days with the production pack', async () => {
    const { daily, started, deleted, end, control } = await given({ hasDailyBackup: true, hasProdPack: true });
    for (const manifest of ['one', 'two', 'three', 'four']) {
      await daily.look();
      await end(started.at(-1) as BackupId, manifest);
      await daily.look();
      control.nowMs += DAY_MS;
    }
    expect(deleted).to.deep.equal(['one']);
  });

  it('are made by the owner alone, and only for databases with daily backups', async () => {
    const wanted = await given();
    wanted.leave();
    await wanted.daily.look();
    expect(wanted.started).to.deep.equal([]);
    const unwanted = await given({ hasDailyBackup: false });
    await unwanted.daily.look();
    expect(unwanted.started).to.deep.equal([]);
  });
});
