/** Proves KG1–KG4. */
import { expect } from 'chai';
import { type GaugedOwner, KvFold, KvGauges } from '../../../src/actors/kv-shard/index.js';
import { KEY_OVERHEAD_BYTES, KvEngine } from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvGauge } from '../../../src/ports/index.js';
import { kvPartition } from '../../../src/protocol/index.js';
import { ManualTime } from '../../support/memory/index.js';
import { timersOf } from '../../support/timers-of.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;

function newFold(): KvFold {
  const random = { bytes: (count: number) => new Uint8Array(count), float: () => 0 };
  return new KvFold(new KvEngine(random, undefined as never));
}

describe('the gauges of an owner', () => {
  let time: ManualTime;
  let owned: (readonly [PartitionName, KvFold])[];
  let actor: { -readonly [Name in keyof GaugedOwner['actor']]: GaugedOwner['actor'][Name] };
  let told: unknown[][];
  /** How many gauges had been reported at each yield to the event loop. */
  let toldBefore: number[];
  let gauges: KvGauges;

  beforeEach(() => {
    time = new ManualTime();
    owned = [];
    actor = { state: 'serving', epoch: 7, holdsLease: true };
    told = [];
    toldBefore = [];
    const meter = {
      gaugeKv: ({ index, keys, storageBytes, epoch }: KvGauge) => {
        expect(epoch).to.equal(7);
        told.push(['size', index, keys, storageBytes]);
      },
      recordLookups: (_: DatabaseId, hits: number, misses: number) => told.push(['looks', hits, misses]),
    };
    const timers = timersOf({
      after: (delayMs, action) => time.after(delayMs, action),
      soon: (action) => {
        toldBefore.push(told.length);
        time.soon(action);
      },
    });
    const plane = { loaded: () => owned.values() };
    gauges = new KvGauges({ clock: time, timers, meter, owners: () => [{ actor, plane }] });
    gauges.start();
  });

  function own(index: number): KvFold {
    const fold = newFold();
    owned.push([kvPartition(DATABASE, index), fold]);
    return fold;
  }

  const sizeOf = (keys: number) => keys * (KEY_OVERHEAD_BYTES + 2);

  it('report a new partition immediately, and changes every ten seconds, always including the last one', async () => {
    const { engine } = own(3);
    engine.replay(['SET', 'a', '1']);
    await time.advance(1000);
    engine.replay(['SET', 'b', '1']);
    await time.advance(5000);
    engine.replay(['SET', 'c', '1']);
    await time.advance(60_000);
    expect(told).to.deep.equal([
      ['size', 3, 1, sizeOf(1)],
      ['size', 3, 3, sizeOf(3)],
    ]);
  });

  it('report each key lookup once, also after the counters of the engine were reset', async () => {
    const { keyspace } = own(0).engine;
    keyspace.peek('nothing');
    await time.advance(1000);
    keyspace.peek('nothing');
    keyspace.peek('nothing');
    await time.advance(3000);
    keyspace.misses = 0;
    keyspace.peek('nothing');
    await time.advance(1000);
    expect(told.filter(([what]) => what === 'looks')).to.deep.equal([
      ['looks', 0, 1],
      ['looks', 0, 2],
      ['looks', 0, 1],
    ]);
  });

  it('report no shard that is loading, and all of it as soon as it serves', async () => {
    actor.state = 'replaying';
    const { engine } = own(0);
    engine.replay(['SET', 'a', '1']);
    await time.advance(30_000);
    engine.replay(['SET', 'b', '1']);
    expect(told).to.deep.equal([]);
    actor.state = 'serving';
    await time.advance(1000);
    expect(told).to.deep.equal([['size', 0, 2, sizeOf(2)]]);
  });

  it('report no shard that another process may own, not even when they are stopped', async () => {
    own(0);
    actor.holdsLease = false;
    await time.advance(30_000);
    gauges.stop();
    expect(told).to.deep.equal([]);
  });

  it('report thousands of partitions in portions', async () => {
    for (let index = 0; index < 450; index += 1) own(index);
    await time.advance(1000);
    expect(toldBefore).to.deep.equal([200, 400]);
    expect(told).to.have.length(450);
  });

  it('report the remaining changes when they are stopped, and no partition that is no longer owned', async () => {
    const fold = own(0);
    await time.advance(1000);
    fold.engine.keyspace.peek('nothing');
    gauges.stop();
    owned = [];
    await time.advance(60_000);
    expect(told).to.deep.equal([
      ['size', 0, 0, 0],
      ['looks', 0, 1],
    ]);
  });
});
