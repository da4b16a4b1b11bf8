/** Branches that are deleted at their end, and the removal of references without a branch. */
import { expect } from 'chai';
import { BranchSweep, ExpiredBranches } from '../../../src/actors/control/index.js';
import { DEFAULT_DATABASE_SETTINGS, evolve } from '../../../src/domain/control/index.js';
import { BRANCHES_FORMAT_LEVEL, type DatabaseId } from '../../../src/kernel/index.js';
import { ManualTime, MemoryObjectStore } from '../../support/memory/index.js';
import { MemoryControl } from '../../support/memory-control.js';
import { silentLog } from '../../support/silent-log.js';
import { ACCOUNT, createDatabase, db } from './given.js';
import { PEOPLE } from './management-given.js';

const HOUR_MS = 3_600_000;

describe('control: expired branches', () => {
  async function given() {
    const control = new MemoryControl();
    for (const event of PEOPLE) evolve(control.state, event);
    await control.send({ type: 'RaiseFormat', level: BRANCHES_FORMAT_LEVEL, by: 'test' });
    const branch = { origin: db('first'), atMs: control.nowMs, expiresAtMs: control.nowMs + HOUR_MS, isLive: false };
    const over = { account: ACCOUNT, settings: DEFAULT_DATABASE_SETTINGS, branch };
    const reply = await control.send(createDatabase('branch', over));
    expect(reply.type).to.equal('OneDatabase');
    const parts = { isOwner: true };
    const duty = new ExpiredBranches({
      control,
      state: () => control.state,
      isOwner: () => parts.isOwner,
      clock: { nowMs: () => control.nowMs, monotonicMs: () => 0 },
      timers: new ManualTime(),
      log: silentLog,
    });
    return { control, duty, parts };
  }

  it('are deleted by the owner of the control shard when their time has ended, with a line in the audit log', async () => {
    const { control, duty, parts } = await given();
    await duty.look();
    expect(control.state.live(db('branch'))).to.not.equal(undefined);
    control.nowMs += HOUR_MS;
    parts.isOwner = false;
    await duty.look();
    expect(control.state.live(db('branch'))).to.not.equal(undefined);
    parts.isOwner = true;
    await duty.look();
    expect(control.state.live(db('branch'))).to.equal(undefined);
    expect(control.state.live(db('first'))).to.not.equal(undefined);
    expect([...control.state.audit.all()].at(-1)).to.include({ actor: 'server', source: 'EXPIRY' });
  });

  it('lose their references at the second look of a sweep, which waits while the control state may be old', async () => {
    const objects = new MemoryObjectStore();
    await objects.put('branch/db-known/0/manifest', new Uint8Array(1));
    await objects.put('branch/db-gone/0/manifest', new Uint8Array(1));
    let known: ReadonlySet<DatabaseId> | undefined;
    const sweep = new BranchSweep({ objects, knownBranches: () => known });
    const names = async () => (await objects.list('branch/')).map(({ name }) => name);
    await sweep.look();
    known = new Set(['db-known' as DatabaseId]);
    expect(await sweep.look()).to.equal(0);
    expect(await names()).to.have.length(2);
    expect(await sweep.look()).to.equal(1);
    expect(await names()).to.deep.equal(['branch/db-known/0/manifest']);
  });
});
