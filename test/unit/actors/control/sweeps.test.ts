/** The removal of records of processes that ended without cleaning up. */
import { expect } from 'chai';
import { Sweeps } from '../../../../src/actors/control/sweeps.js';
import { SESSION_UNCHANGED_MS, SessionSweep } from '../../../../src/actors/runtime/index.js';
import { encodeSessionRecord } from '../../../../src/codec/leases/index.js';
import { ManualTime, MemoryLeaseStore } from '../../../support/memory/index.js';
import { silentLog } from '../../../support/silent-log.js';

const MINUTE_MS = 60_000;

describe('session records', () => {
  const record = (counter: number, isDead = false) => encodeSessionRecord({ counter, isDead });

  async function revisionOf(leases: MemoryLeaseStore, key: string): Promise<number> {
    return (await leases.get(key))?.revision ?? 0;
  }

  it('are removed when they have not changed for ten minutes; other records stay', async () => {
    const leases = new MemoryLeaseStore();
    const time = new ManualTime();
    const sweep = new SessionSweep(leases, time);
    await leases.create('KV_0', new Uint8Array([1]));
    await leases.create('session.killed', record(7));
    await leases.create('session.dead', record(0, true));
    await leases.create('session.live', record(0));
    let removed = 0;
    for (let minute = 0; minute <= 12; minute += 1) {
      await leases.update('session.live', record(minute + 1), await revisionOf(leases, 'session.live'));
      if (minute === 4) await leases.create('session.later', record(0));
      removed += await sweep.look();
      if (minute < 10) expect(removed, `after ${minute} minutes`).to.equal(0);
      await time.advance(MINUTE_MS);
    }
    expect(removed).to.equal(2);
    expect(await leases.keys('')).to.deep.equal(['KV_0', 'session.later', 'session.live']);
  });

  it('start a new ten minutes when a message of their process arrives again', async () => {
    const leases = new MemoryLeaseStore();
    const time = new ManualTime();
    const sweep = new SessionSweep(leases, time);
    await leases.create('session.slow', record(0));
    await sweep.look();
    await time.advance(SESSION_UNCHANGED_MS - 1);
    await leases.update('session.slow', record(1), await revisionOf(leases, 'session.slow'));
    await time.advance(1);
    expect(await sweep.look()).to.equal(0);
    await time.advance(SESSION_UNCHANGED_MS);
    expect(await sweep.look()).to.equal(1);
  });
});

describe('sweeps', () => {
  it('run at the owner of the control shard alone, again after a failure, and never after stop', async () => {
    const time = new ManualTime();
    const runs: string[] = [];
    let isOwner = false;
    const sweeps = new Sweeps({
      isOwner: () => isOwner,
      timers: time,
      log: silentLog,
      sweeps: [
        { name: 'a', everyMs: 1000, run: async () => runs.push('a') },
        {
          name: 'b',
          everyMs: 2000,
          run: async () => {
            runs.push('b');
            throw new Error('away');
          },
        },
      ],
    });
    sweeps.start();
    await time.advance(1500);
    expect(runs).to.deep.equal([]);
    isOwner = true;
    await time.advance(3000);
    expect(runs.filter((run) => run === 'a')).to.have.length(3);
    expect(runs.filter((run) => run === 'b')).to.have.length(2);
    sweeps.stop();
    await time.advance(10_000);
    expect(runs).to.have.length(5);
  });
});
