/**
 * The simulated ports keep their promises without faults, and with faults show every failure that the promises
 * permit.
 */
import { expect } from 'chai';
import type { ShardName } from '../../src/kernel/index.js';
import type { AppendOutcome, StoredMessage } from '../../src/ports/index.js';
import { busContract } from '../contract/bus.contract.js';
import { journalContract } from '../contract/journal.contract.js';
import { leaseStoreContract } from '../contract/lease-store.contract.js';
import { objectStoreContract } from '../contract/object-store.contract.js';
import { type Faults, NO_FAULTS, randomFaults } from './faults.js';
import { SeededRandom } from './seeded-random.js';
import { SimKit } from './sim-kit.js';
import { lastOf } from './sim-server.js';

const SHARD = 'KV_0' as ShardName;

/** Advances virtual time while the contract suites wait in real time. */
function driven(): { kit: SimKit; close: () => Promise<void> } {
  const kit = new SimKit(1, NO_FAULTS);
  let isOpen = true;
  const drive = (async () => {
    while (isOpen) {
      await kit.scheduler.run(kit.scheduler.nowMs + 20);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  const close = () => {
    isOpen = false;
    return drive;
  };
  return { kit, close };
}

journalContract('simulation without faults', async () => {
  const { kit, close } = driven();
  let made = 0;
  return {
    journal: kit.addMember('a').journal,
    other: kit.addMember('b').journal,
    freshShard: async () => {
      const shard = `KV_${made++}` as ShardName;
      kit.server.createStream(shard);
      return shard;
    },
    missingShard: 'KV_999' as ShardName,
    close,
  };
});

leaseStoreContract('simulation without faults', async () => {
  const { kit, close } = driven();
  return { store: kit.addMember('a').leases, other: kit.addMember('b').leases, close };
});

objectStoreContract('simulation without faults', async () => {
  const { kit, close } = driven();
  return { store: kit.addMember('a').objects, other: kit.addMember('b').objects, close };
});

busContract('simulation without faults', async () => {
  const { kit, close } = driven();
  return { bus: kit.addMember('a').bus, other: kit.addMember('b').bus, close };
});

function kitWith(faults: Partial<Faults>, seed = 7): SimKit {
  const kit = new SimKit(seed, { ...NO_FAULTS, ...faults });
  kit.server.createStream(SHARD);
  return kit;
}

const stored = (kit: SimKit): string[] =>
  (kit.server.streams.get(SHARD)?.messages ?? []).map(({ message }) => Buffer.from(message.bytes).toString());

describe('a simulated append', () => {
  it('is stored, and its acknowledgement is lost', async () => {
    const kit = kitWith({ replyLost: 1 });
    const outcome = await kit.settle(kit.addMember('a').journal.append(SHARD, Buffer.from('x'), 0));
    expect([outcome.kind, stored(kit)]).to.deep.equal(['unknown', ['x']]);
  });

  it('is lost', async () => {
    const kit = kitWith({ requestLost: 1 });
    const outcome = await kit.settle(kit.addMember('a').journal.append(SHARD, Buffer.from('x'), 0));
    await kit.scheduler.run(60_000);
    expect([outcome.kind, stored(kit)]).to.deep.equal(['unknown', []]);
  });

  it('is stored long after the caller gave up, when its position is still free', async () => {
    const late = await firstSeedWhere(async (seed) => {
      const kit = kitWith({ requestLate: 1 }, seed);
      const outcome = await kit.settle(kit.addMember('a').journal.append(SHARD, Buffer.from('x'), 0));
      const before = stored(kit);
      await kit.scheduler.run(60_000);
      return outcome.kind === 'unknown' && before.length === 0 && stored(kit).length === 1;
    });
    expect(late).to.be.a('number');
  });

  it('is refused as a late copy when another entry took its position', async () => {
    const kit = kitWith({ requestLate: 1 });
    const first = kit.addMember('a').journal.append(SHARD, Buffer.from('late'), 0);
    kit.server.append(SHARD, Buffer.from('first'), 0);
    expect((await kit.settle(first)).kind).to.be.oneOf(['unknown', 'conflict']);
    await kit.scheduler.run(60_000);
    expect(stored(kit)).to.deep.equal(['first']);
  });

  it('is rejected while another append is in flight, and stores no entry', async () => {
    const kit = kitWith({ appendBusy: 1 });
    const outcome = await kit.settle(kit.addMember('a').journal.append(SHARD, Buffer.from('x'), 0));
    expect([outcome.kind, stored(kit)]).to.deep.equal(['rejected', []]);
  });

  it('is unknown, rejected or late during the election of a leader', async () => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 30; seed += 1) {
      const kit = kitWith({}, seed);
      kit.server.loseLeader(SHARD);
      const outcome = await kit.settle(kit.addMember('a').journal.append(SHARD, Buffer.from('x'), 0));
      const before = stored(kit).length;
      await kit.scheduler.run(20_000);
      expect(before).to.equal(0);
      kinds.add(`${outcome.kind}, then ${stored(kit).length}`);
    }
    expect([...kinds].sort()).to.deep.equal(['rejected, then 0', 'unknown, then 0', 'unknown, then 1']);
  });

  it('ends as unknown when the process detects a cut of its link, and later appends are rejected', async () => {
    const kit = kitWith({});
    const member = kit.addMember('a');
    const waiting = member.journal.append(SHARD, Buffer.from('x'), 0);
    member.link.cut(60_000);
    expect((await kit.settle(waiting)).kind).to.equal('unknown');
    await kit.scheduler.run(10_000);
    expect(member.bus.isConnected()).to.equal(false);
    const outcome = await kit.settle(member.journal.append(SHARD, Buffer.from('y'), 1));
    expect(outcome).to.include({ kind: 'rejected', retryable: true });
    await kit.scheduler.run(70_000);
    expect(member.bus.isConnected()).to.equal(true);
  });
});

describe('a simulated link', () => {
  it('is connected again after a cut of any length', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const kit = kitWith({}, seed);
      const { link, journal } = kit.addMember('a');
      for (const cutMs of [1, 50, 400, 5000]) {
        link.cut(cutMs);
        await kit.scheduler.run(kit.scheduler.nowMs + cutMs + 10_000);
        expect(link.isConnected(), `seed ${seed}, ${cutMs} ms`).to.equal(true);
        expect((await kit.settle(journal.tail(SHARD))).last).to.equal(0);
      }
    }
  });
});

describe('a reader of the simulated journal', () => {
  it('sees an old tail and misses a stored entry, and finds both later', async () => {
    const kit = kitWith({ staleRead: 1, lagMs: 2000 });
    const { journal } = kit.addMember('a');
    await kit.scheduler.run(5000);
    kit.server.append(SHARD, Buffer.from('new'), 0);
    const tails = await kit.settle(Promise.all(Array.from({ length: 20 }, () => journal.tail(SHARD))));
    expect(tails.some((tail) => tail.last === 0)).to.equal(true);
    const found = await kit.settle(Promise.all(Array.from({ length: 20 }, () => journal.readAt(SHARD, 1))));
    expect(found.includes(undefined)).to.equal(true);
    await kit.scheduler.run(kit.scheduler.nowMs + 3000);
    expect((await kit.settle(journal.tail(SHARD))).last).to.equal(1);
  });

  it('follows all entries in order and once across a cut and an election', async () => {
    const kit = kitWith({});
    const member = kit.addMember('a');
    const positions: number[] = [];
    let alive = 0;
    member.journal.follow(SHARD, 1, {
      onMessage: (message: StoredMessage) => void positions.push(message.position),
      onAlive: () => {
        alive += 1;
      },
    });
    for (let position = 0; position < 50; position += 1) {
      kit.server.append(SHARD, Buffer.from('m'), position);
      if (position === 20) member.link.cut(3000);
      if (position === 35) kit.server.loseLeader(SHARD);
      await kit.scheduler.run(kit.scheduler.nowMs + 100);
    }
    await kit.scheduler.run(kit.scheduler.nowMs + 20_000);
    expect(positions).to.deep.equal(Array.from({ length: 50 }, (_, index) => index + 1));
    expect(alive).to.be.greaterThan(10);
  });

  it('sees a shorter tail after `loseTail`, and the lost positions are used again', async () => {
    const kit = kitWith({});
    const { journal } = kit.addMember('a');
    for (let position = 0; position < 5; position += 1) kit.server.append(SHARD, Buffer.from(`${position}`), position);
    kit.server.loseTail(SHARD, 2);
    expect((await kit.settle(journal.tail(SHARD))).last).to.equal(3);
    expect(await kit.settle(journal.append(SHARD, Buffer.from('again'), 3))).to.deep.equal({
      kind: 'stored',
      position: 4,
    });
  });
});

describe('a simulated process', () => {
  it('runs no timer while paused, although its clock runs', async () => {
    const kit = kitWith({});
    const { process } = kit.addMember('a');
    const ranAt: number[] = [];
    process.timers.after(100, () => void ranAt.push(process.clock.monotonicMs()));
    process.pause(1000);
    await kit.scheduler.run(5000);
    expect(ranAt).to.deep.equal([1000]);
  });

  it('takes time for every timer, therefore a wait for a rounding error ends', async () => {
    const kit = kitWith({ rateSkew: 0.002 });
    const { process } = kit.addMember('a');
    const untilMs = process.clock.monotonicMs() + 1 / 3;
    let waits = 0;
    const wait = () => {
      waits += 1;
      if (process.clock.monotonicMs() < untilMs) process.timers.after(untilMs - process.clock.monotonicMs(), wait);
    };
    wait();
    await kit.scheduler.run(100);
    expect(waits).to.equal(2);
  });

  it('stops its monotonic clock while suspended, but not its wall clock', async () => {
    const kit = kitWith({});
    const { process } = kit.addMember('a');
    const wallMs = process.clock.nowMs();
    const ranAt: number[] = [];
    process.timers.after(100, () => void ranAt.push(process.clock.monotonicMs()));
    process.suspend(1000);
    await kit.scheduler.run(5000);
    expect(ranAt).to.deep.equal([100]);
    expect([process.clock.monotonicMs(), process.clock.nowMs() - wallMs]).to.deep.equal([4000, 5000]);
  });

  it('runs no code after a crash, while its sent appends still arrive', async () => {
    const kit = kitWith({});
    const { process, journal } = kit.addMember('a');
    let hasAnswer = false;
    void journal.append(SHARD, Buffer.from('x'), 0).then(() => {
      hasAnswer = true;
    });
    process.crash();
    await kit.scheduler.run(60_000);
    expect([hasAnswer, stored(kit)]).to.deep.equal([false, ['x']]);
  });
});

describe('simulation: the complete kit', () => {
  it('gives the same trace for the same seed, and a different trace for another seed', async () => {
    const hashes = [];
    for (const seed of [11, 11, 12]) hashes.push((await racingWriters(seed)).scheduler.trace.hash);
    expect(hashes[0]).to.equal(hashes[1]);
    expect(hashes[0]).to.not.equal(hashes[2]);
  });

  it('stores one entry at a position, and loses or duplicates no acknowledged entry under random faults', async () => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 60; seed += 1) {
      const { kit, outcomes } = await racingWriters(seed);
      const contents = stored(kit);
      expect(new Set(contents).size, `seed ${seed}`).to.equal(contents.length);
      for (const { text, outcome } of outcomes) {
        kinds.add(outcome.kind);
        if (outcome.kind === 'stored') expect(contents[outcome.position - 1], `seed ${seed}`).to.equal(text);
        if (outcome.kind === 'conflict' || outcome.kind === 'rejected')
          expect(contents, `seed ${seed}`).to.not.include(text);
      }
    }
    expect([...kinds].sort()).to.deep.equal(['conflict', 'rejected', 'stored', 'unknown']);
  });
});

/** Three processes that append as fast as they can, each at the end that it last saw. */
async function racingWriters(seed: number): Promise<{
  kit: SimKit;
  scheduler: SimKit['scheduler'];
  outcomes: { text: string; outcome: AppendOutcome }[];
}> {
  const kit = kitWith({ ...randomFaults(new SeededRandom(seed)) }, seed);
  const outcomes: { text: string; outcome: AppendOutcome }[] = [];
  const writers = ['a', 'b', 'c'].map(async (name) => {
    const { journal, process } = kit.addMember(name);
    for (let round = 0; round < 20; round += 1) {
      const tail = await journal.tail(SHARD).catch(() => undefined);
      const text = `${name}${round}`;
      if (tail !== undefined) {
        outcomes.push({ text, outcome: await journal.append(SHARD, Buffer.from(text), tail.last) });
      }
      await process.timers.pause(process.random.float() * 50);
    }
  });
  if (kit.random.chance(0.5)) kit.server.loseLeader(SHARD);
  await kit.settle(Promise.all(writers), 600_000);
  expect(lastOf(kit.server.streams.get(SHARD) as never)).to.be.greaterThan(0);
  return { kit, scheduler: kit.scheduler, outcomes };
}

async function firstSeedWhere(holds: (seed: number) => Promise<boolean>): Promise<number | undefined> {
  for (let seed = 1; seed <= 20; seed += 1) if (await holds(seed)) return seed;
  return undefined;
}
