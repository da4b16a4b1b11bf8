/**
 * Wrong clocks: no key expires early because of one, and no shard stops serving because of one. Proves CW1–CW4,
 * GC1–GC3, ST1, ST2.
 */
import { expect } from 'chai';
import { BootRecord } from '../../../src/actors/runtime/boot-record.js';
import { CATCH_UP, GuardedClock } from '../../../src/actors/runtime/guarded-clock.js';
import { ShardTime } from '../../../src/actors/runtime/shard-time.js';
import { OK } from '../../../src/domain/kv/index.js';
import { KvClusterStand, type KvProcess, MAX_SKEW_MS, SHARD, TIMES } from '../../support/kv-cluster-stand.js';
import { ManualTime, MemoryLeaseStore } from '../../support/memory/index.js';

const HOUR_MS = 3_600_000;
const LIMITS = { jumpMs: 250, maxSkewMs: 2000 };
const DISTANCES = [HOUR_MS, -HOUR_MS, 600_000, -600_000];

describe('the clock of a process', () => {
  let machine: ManualTime;
  let sleptMs: number;
  let clock: GuardedClock;

  beforeEach(() => {
    machine = new ManualTime();
    sleptMs = 0;
    const sinceBootMs = () => machine.monotonicMs() + sleptMs;
    clock = new GuardedClock(machine, { bootId: 'boot', sinceBootMs }, LIMITS);
  });

  for (const byMs of DISTANCES) {
    it(`keeps counting steadily when the wall clock is set by ${byMs / 60_000} minutes, and reports the change once`, async () => {
      const startMs = clock.nowMs();
      await machine.advance(1000);
      machine.jumpWallClock(byMs);
      expect(clock.isSteady()).to.equal(false);
      expect(clock.nowMs() - startMs).to.equal(1000);
      expect(clock.check()).to.deep.equal({ kind: 'set', byMs });
      await machine.advance(60_000);
      expect(clock.check()).to.deep.equal({ kind: 'steady' });
      expect(clock.nowMs() - startMs).to.be.within(61_000 - 60_000 * CATCH_UP, 61_000);
      expect(clock.machineAheadMs).to.be.within(byMs - 1, byMs + 60_001 * CATCH_UP);
    });
  }

  it('advances by the time that a suspended machine slept', async () => {
    const startMs = clock.nowMs();
    machine.jumpWallClock(HOUR_MS);
    sleptMs += HOUR_MS;
    expect(clock.check()).to.deep.equal({ kind: 'suspended', forMs: HOUR_MS });
    expect(clock.nowMs() - startMs).to.equal(HOUR_MS);
    expect(clock.machineAheadMs).to.equal(0);
  });

  it('ignores a jump of the monotonic clock that the time since boot contradicts', async () => {
    const startMs = clock.nowMs();
    await machine.advance(HOUR_MS);
    sleptMs -= HOUR_MS;
    expect(clock.nowMs() - startMs).to.equal(0);
    expect(clock.check()).to.deep.equal({ kind: 'set', byMs: HOUR_MS });
    expect(clock.nowMs() - startMs).to.equal(0);
    await machine.advance(1000);
    expect(clock.nowMs() - startMs).to.equal(1000);
  });

  it('follows small corrections of the wall clock slowly, in both directions', async () => {
    for (const byMs of [200, -200]) {
      machine.jumpWallClock(byMs);
      expect(clock.check().kind).to.equal('steady');
      let before = clock.nowMs();
      for (let passedMs = 0; passedMs < 250_000; passedMs += 500) {
        await machine.advance(500);
        expect(clock.nowMs() - before).to.be.within(498, 502);
        before = clock.nowMs();
        clock.check();
      }
      expect(Math.abs(clock.machineAheadMs)).to.be.lessThan(3);
    }
  });

  it('continues from the recorded time plus the time since boot in the next process on the same machine (BR1)', async () => {
    const leases = new MemoryLeaseStore();
    const boot = { bootId: 'boot', sinceBootMs: () => machine.monotonicMs() };
    await new BootRecord(leases, { ...boot, bootId: 'another' }).keep(1);
    const record = new BootRecord(leases, boot);
    await record.keep(clock.nowMs());
    const keptMs = clock.nowMs();
    const written = await leases.get('boot-times');
    await machine.advance(60_000);
    await record.keep(clock.nowMs());
    expect(await leases.get('boot-times')).to.deep.equal(written);
    machine.jumpWallClock(HOUR_MS);
    expect(await new BootRecord(leases, boot).expectedMs()).to.equal(keptMs + 60_000);
    expect(await new BootRecord(leases, { ...boot, bootId: 'unknown' }).expectedMs()).to.equal(undefined);
    expect(await new BootRecord(leases, { bootId: undefined, sinceBootMs: () => 1 }).expectedMs()).to.equal(undefined);
  });
});

describe('the clock of a shard', () => {
  it('continues from a journal that is ahead of the wall clock, at normal speed, and never goes back', async () => {
    const machine = new ManualTime();
    const time = new ShardTime(machine);
    const journalMs = machine.nowMs() + HOUR_MS;
    time.follow(journalMs);
    expect(time.nowMs()).to.equal(journalMs);
    await machine.advance(10_000);
    expect(time.nowMs() - journalMs).to.be.within(9980, 10_000);
    time.follow(journalMs - HOUR_MS);
    expect(time.nowMs() - journalMs).to.be.within(9980, 10_000);
    machine.jumpWallClock(-1000);
    expect(time.nowMs() - journalMs).to.be.at.least(9980);
  });

  it('returns to the wall clock by a thousandth of the elapsed time', async () => {
    const machine = new ManualTime();
    const time = new ShardTime(machine);
    time.follow(machine.nowMs() + 10_000);
    await machine.advance(5_000_000);
    expect(time.leadMs).to.be.within(4999, 5001);
    await machine.advance(6_000_000);
    expect(time.leadMs).to.equal(0);
    expect(time.nowMs()).to.equal(machine.nowMs());
  });
});

describe('a process with a wrong clock', () => {
  let stand: KvClusterStand;

  beforeEach(() => {
    stand = new KvClusterStand();
  });

  afterEach(() => stand.end());

  async function settled(...processes: KvProcess[]): Promise<KvProcess> {
    await stand.time.advance(TIMES.takeoverMs + 4000);
    const [owner, ...more] = stand.owners();
    expect(more).to.have.length(0);
    expect(processes).to.include(owner);
    return owner as KvProcess;
  }

  for (const aheadMs of DISTANCES) {
    it(`owns no shard when it joins ${aheadMs / 60_000} minutes ahead, and the other process loses no data and keeps serving`, async () => {
      const right = await stand.start();
      await stand.time.advance(1000);
      await right.run('SET early v EX 5000');
      await right.run('SET soon v EX 20');
      const wrong = await stand.start(aheadMs);
      expect(await settled(right)).to.equal(right);
      expect(wrong.clocks.isExcluded).to.equal(true);
      expect(wrong.clocks.describe()).to.match(/^the machine's clock is \d+\.\d s (ahead|behind): owns no shards$/);
      expect(right.clocks.isExcluded).to.equal(false);
      // It answers its own callers with the time of the other processes.
      expect(Math.abs(wrong.clock.nowMs() - right.clock.nowMs())).to.be.lessThan(50);
      expect(await wrong.run('TTL early')).to.be.within(4980, 5000);
      expect(await wrong.run('GET soon')).to.equal('v');
      await stand.time.advance(20_000);
      expect(await wrong.run('GET soon')).to.equal(null);
    });

    it(`hands its shards over when its clock is set by ${aheadMs / 60_000} minutes, before a key expires by the wrong time`, async () => {
      const one = await stand.start();
      await stand.time.advance(500);
      const two = await stand.start();
      const owner = await settled(one, two);
      const other = owner === one ? two : one;
      await owner.run('SET early v EX 600');
      owner.aheadMs += aheadMs;
      await stand.time.advance(3500);
      expect(stand.owners()).to.deep.equal([other]);
      expect(owner.clocks.isExcluded).to.equal(true);
      expect(await other.run('TTL early')).to.be.within(590, 600);
      expect(await other.run('SET soon v PX 500')).to.equal(OK);
      await stand.time.advance(1000);
      expect(await other.run('GET soon')).to.equal(null);
      // With a correct clock it may own shards again.
      owner.aheadMs -= aheadMs;
      await stand.time.advance(TIMES.takeoverMs + 4000);
      expect(owner.clocks.isExcluded).to.equal(false);
      expect(await owner.run('TTL early')).to.be.within(570, 600);
    });
  }

  it('keeps its shards and uses monotonic time while no other process is there', async () => {
    const only = await stand.start();
    await stand.time.advance(1000);
    await only.run('SET early v EX 600');
    only.aheadMs += HOUR_MS;
    await stand.time.advance(3000);
    expect(stand.owners()).to.deep.equal([only]);
    expect(only.clocks.isExcluded).to.equal(false);
    expect(only.clocks.isInDoubt).to.equal(true);
    expect(await only.run('TTL early')).to.be.within(590, 600);
  });

  it('hands over to a process that joins with the right clock', async () => {
    const alone = await stand.start();
    await stand.time.advance(1000);
    await alone.run('SET early v EX 600');
    alone.aheadMs += HOUR_MS;
    await stand.time.advance(3000);
    const right = await stand.start();
    await stand.time.advance(6000);
    expect(stand.owners()).to.deep.equal([right]);
    expect(await right.run('TTL early')).to.be.within(580, 600);
  });

  it('keeps serving when all clocks agree and the journal is ahead of them', async () => {
    const wrong = await stand.start(HOUR_MS);
    await stand.time.advance(1000);
    await wrong.run('SET a v EX 30');
    await wrong.host.stop();
    await wrong.session.close();
    wrong.disconnect();
    const right = await stand.start();
    await stand.time.advance(TIMES.takeoverMs + 2000);
    expect(stand.owners()).to.deep.equal([right]);
    expect(right.clocks.journalAheadMs).to.be.greaterThan(HOUR_MS - 20_000);
    expect(await right.run('GET a')).to.equal('v');
    expect(await right.run('SET b v EX 30')).to.equal(OK);
    const [seconds] = (await right.run('TIME')) as string[];
    expect(await right.run(`SET c v EXAT ${Number(seconds) + 30}`)).to.equal(OK);
    await stand.time.advance(25_000);
    expect([await right.run('GET b'), await right.run('GET c')]).to.deep.equal(['v', 'v']);
    await stand.time.advance(6000);
    for (const key of ['a', 'b', 'c']) expect(await right.run(`GET ${key}`), key).to.equal(null);
  });

  it('compares clocks with the earlier processes before it takes a shard', async () => {
    const right = await stand.start();
    await stand.time.advance(500);
    await right.host.stop();
    right.disconnect();
    await stand.start(HOUR_MS);
    await stand.time.advance(TIMES.takeoverMs - 500);
    expect(stand.owners()).to.deep.equal([]);
  });

  it('is judged by the clock difference alone, not by the transit time of heartbeats', async () => {
    const one = await stand.start();
    await stand.time.advance(500);
    const two = await stand.start(MAX_SKEW_MS - 100);
    await settled(one, two);
    expect([one.clocks.isSure, two.clocks.isSure]).to.deep.equal([true, true]);
    expect(one.host.actorOf(SHARD) ?? two.host.actorOf(SHARD)).to.not.equal(undefined);
  });
});
