/** The memory adapters under the contract suites, and their additional abilities. Proves MT1–MT3, MB3. */
import { expect } from 'chai';
import type { ShardName } from '../../src/kernel/index.js';
import {
  ManualTime,
  MemoryJournal,
  MemoryLeaseStore,
  MemoryNetwork,
  MemoryObjectStore,
} from '../support/memory/index.js';
import { realTime } from '../support/real-time.js';
import { busContract } from './bus.contract.js';
import { journalContract } from './journal.contract.js';
import { leaseStoreContract } from './lease-store.contract.js';
import { objectStoreContract } from './object-store.contract.js';

journalContract('memory', async () => {
  const journal = new MemoryJournal({ clock: realTime, timers: realTime, aliveEveryMs: 10, readStallMs: 50 });
  let made = 0;
  return {
    journal,
    other: journal,
    freshShard: async () => {
      const shard = `KV_${made++}` as ShardName;
      journal.createStream(shard);
      return shard;
    },
    missingShard: 'KV_999' as ShardName,
    close: async () => {},
  };
});

leaseStoreContract('memory', async () => {
  const store = new MemoryLeaseStore({ nowMs: () => Date.now() });
  return { store, other: store, close: async () => {} };
});

objectStoreContract(
  'memory',
  async () => {
    const store = new MemoryObjectStore();
    return { store, other: store, damage: async (name) => store.damage(name), close: async () => {} };
  },
  true,
);

busContract('memory', async () => {
  const network = new MemoryNetwork(realTime);
  return { bus: network.connect(), other: network.connect(), close: async () => {} };
});

describe('memory bus: a process that is cut off', () => {
  it('receives no message, sends none, and reports it', async () => {
    const time = new ManualTime();
    const network = new MemoryNetwork(time);
    const [here, there] = [network.connect(), network.connect()];
    const heard: string[] = [];
    there.subscribe({ kind: 'heartbeat' }, (payload) => void heard.push(Buffer.from(payload).toString()));
    here.setConnected(false);
    here.publish({ kind: 'heartbeat' }, Buffer.from('lost'));
    await time.advance(1);
    here.setConnected(true);
    here.publish({ kind: 'heartbeat' }, Buffer.from('heard'));
    await time.advance(1);
    expect(heard).to.deep.equal(['heard']);
    there.setConnected(false);
    expect([here.isConnected(), there.isConnected()]).to.deep.equal([true, false]);
  });
});

describe('manual time', () => {
  it('runs timers in order of their due time and shows that time to each', async () => {
    const time = new ManualTime(1000);
    const seen: [string, number][] = [];
    time.after(20, () => void seen.push(['b', time.nowMs()]));
    time.after(10, () => {
      seen.push(['a', time.nowMs()]);
      time.after(5, () => void seen.push(['nested', time.nowMs()]));
    });
    time.after(20, () => void seen.push(['c', time.nowMs()]));
    time.after(21, () => void seen.push(['too late', time.nowMs()]));
    await time.advance(20);
    expect(seen).to.deep.equal([
      ['a', 1010],
      ['nested', 1015],
      ['b', 1020],
      ['c', 1020],
    ]);
    expect([time.nowMs(), time.monotonicMs(), time.pendingCount]).to.deep.equal([1020, 20, 1]);
  });

  it('lets promises settle between two timers, and forgets cancelled ones', async () => {
    const time = new ManualTime();
    const seen: string[] = [];
    time.after(1, () => void Promise.resolve().then(() => seen.push('promise of the first')));
    time.after(2, () => void seen.push('second'));
    time.after(2, () => void seen.push('cancelled')).cancel();
    await time.advance(5);
    expect(seen).to.deep.equal(['promise of the first', 'second']);
  });

  it('moves only the wall clock with jumpWallClock', async () => {
    const time = new ManualTime(5000);
    time.jumpWallClock(-3000);
    expect([time.nowMs(), time.monotonicMs()]).to.deep.equal([2000, 0]);
  });
});
