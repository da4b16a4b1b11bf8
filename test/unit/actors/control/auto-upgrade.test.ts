/** Proves AU1, AU2. */
import { expect } from 'chai';
import { AutoUpgrade } from '../../../../src/actors/control/auto-upgrade.js';
import type { ControlClient } from '../../../../src/actors/control/index.js';
import {
  AUDIT_ACTIONS,
  type ControlCommand,
  type ControlState,
  type DatabasePlan,
  type DatabaseSettings,
  DEFAULT_DATABASE_SETTINGS,
  databasePlanLimits,
  decide,
  evolve,
  rebuildingEvents,
} from '../../../../src/domain/control/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import { ACCOUNT, databaseCreated, db, INSTALLED, NOW_MS, stateAfter } from '../../../spec/control/given.js';
import { ManualTime } from '../../../support/memory/index.js';
import { silentLog } from '../../../support/silent-log.js';

class Stand {
  readonly time = new ManualTime();
  readonly state: ControlState = stateAfter(...INSTALLED, databaseCreated('d'));
  readonly asked: ControlCommand[] = [];
  isDown = false;
  readonly client: ControlClient = {
    send: async (command) => {
      this.asked.push(command);
      if (this.isDown) throw new MillraceError('SHARD_UNAVAILABLE', 'nobody owns it');
      const { reply, events } = decide(command, this.state, { nowMs: this.time.nowMs() });
      for (const event of events) evolve(this.state, event);
      return reply;
    },
  };
  readonly upgrade = this.process();

  /** @param state its copy */
  process(state = this.state): AutoUpgrade {
    const { client, time } = this;
    return new AutoUpgrade({ client, view: { state }, clock: time, log: silentLog });
  }

  /** A process with a stale copy. */
  behind(): AutoUpgrade {
    return this.process(stateAfter(...rebuildingEvents(this.state)));
  }

  set(settings: Partial<DatabaseSettings>): void {
    const all = { ...DEFAULT_DATABASE_SETTINGS, ...settings };
    evolve(this.state, { type: 'DatabaseSettingsSet', database: db('d'), settings: all, atMs: NOW_MS });
  }

  get plan(): DatabasePlan | undefined {
    return this.state.live(db('d'))?.settings?.plan;
  }
}

describe('a database with automatic upgrades', () => {
  let stand: Stand;

  beforeEach(() => {
    stand = new Stand();
  });

  for (const limit of ['bandwidth', 'data'] as const) {
    it(`moves to the next plan, with its limits, when its ${limit} is used up`, async () => {
      stand.set({ plan: 'fixed_250mb', isAutoUpgrading: true });
      await stand.upgrade.reached(db('d'), limit);
      const database = stand.state.live(db('d'));
      expect(database?.settings).to.include({ plan: 'fixed_1gb', isAutoUpgrading: true });
      expect(database?.settings?.lastPlanUpgradeAtMs).to.equal(stand.time.nowMs());
      expect(database?.limits).to.deep.include(databasePlanLimits('fixed_1gb'));
    });
  }

  it('writes a line to the audit log of its account', async () => {
    stand.set({ plan: 'fixed_250mb', isAutoUpgrading: true });
    await stand.upgrade.reached(db('d'), 'data');
    const { reply } = decide({ type: 'ListAudit', account: ACCOUNT, count: 10 }, stand.state, { nowMs: NOW_MS });
    expect(reply.type === 'AuditEntries' && reply.entries[0]).to.include({
      actor: 'auto-upgrade',
      action: AUDIT_ACTIONS.changePlan[0],
      entity: 'd',
      secondaryEntity: 'fixed_1gb',
      reason: 'the data limit of the plan was reached',
    });
  });

  it('moves to the next plan once, even if several processes report the limit several times', async () => {
    stand.set({ plan: 'fixed_250mb', isAutoUpgrading: true });
    const [current, behind] = [stand.process(), stand.behind()];
    await Promise.all([
      stand.upgrade.reached(db('d'), 'data'),
      stand.upgrade.reached(db('d'), 'bandwidth'),
      stand.upgrade.reached(db('d'), 'data'),
    ]);
    await current.reached(db('d'), 'data');
    expect(stand.asked).to.have.length(1);
    await behind.reached(db('d'), 'data');
    expect(stand.asked).to.have.length(2);
    expect(stand.plan).to.equal('fixed_1gb');
  });

  it('moves again when it later reaches the limit of the new plan', async () => {
    stand.set({ plan: 'fixed_250mb', isAutoUpgrading: true });
    await stand.upgrade.reached(db('d'), 'data');
    await stand.time.advance(4_999);
    await stand.upgrade.reached(db('d'), 'data');
    expect(stand.plan).to.equal('fixed_1gb');
    await stand.time.advance(1);
    await stand.upgrade.reached(db('d'), 'data');
    expect(stand.plan).to.equal('fixed_5gb');
  });

  it('keeps its plan when automatic upgrades are off', async () => {
    stand.set({ plan: 'fixed_250mb' });
    await stand.upgrade.reached(db('d'), 'data');
    expect(stand.asked).to.deep.equal([]);
  });

  it('with eviction drops keys instead of moving for its size, and moves for its bandwidth', async () => {
    stand.set({ plan: 'fixed_250mb', isAutoUpgrading: true, isEvicting: true });
    await stand.upgrade.reached(db('d'), 'data');
    expect(stand.plan).to.equal('fixed_250mb');
    await stand.upgrade.reached(db('d'), 'bandwidth');
    expect(stand.plan).to.equal('fixed_1gb');
  });

  it('keeps the last plan, and a plan that is charged by use', async () => {
    for (const plan of ['fixed_500gb', 'payg'] as const) {
      stand.set({ plan, isAutoUpgrading: true });
      await stand.upgrade.reached(db('d'), 'data');
      expect(stand.plan).to.equal(plan);
    }
    expect(stand.asked).to.deep.equal([]);
  });

  it('asks again after a pause when the control actor did not answer', async () => {
    stand.set({ plan: 'free', isAutoUpgrading: true });
    stand.isDown = true;
    await stand.upgrade.reached(db('d'), 'data');
    await stand.upgrade.reached(db('d'), 'data');
    expect(stand.asked).to.have.length(1);
    stand.isDown = false;
    await stand.time.advance(1000);
    await stand.upgrade.reached(db('d'), 'data');
    expect(stand.plan).to.equal('payg');
  });

  it('is not asked for when it is deleted or never existed', async () => {
    await stand.upgrade.reached(db('never'), 'data');
    expect(stand.asked).to.deep.equal([]);
  });
});
