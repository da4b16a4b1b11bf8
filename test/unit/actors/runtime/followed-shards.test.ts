/** Proves FOL1–FOL3. */
import { expect } from 'chai';
import type { KvWork } from '../../../../src/actors/kv-shard/index.js';
import { FollowedShards } from '../../../../src/actors/runtime/followed-shards.js';
import type { ShardActor } from '../../../../src/actors/runtime/index.js';
import type { ShardLease } from '../../../../src/codec/leases/index.js';
import type { SessionId, ShardName } from '../../../../src/kernel/index.js';
import { KvShardStand, SHARD } from '../../../support/kv-shard-stand.js';
import { silentLog } from '../../../support/silent-log.js';

const OURS = 'ours' as SessionId;

describe('a followed shard', () => {
  let stand: KvShardStand;
  let followed: FollowedShards<KvWork>;
  let made: ShardActor<KvWork>[];
  let looked: ShardName[];

  beforeEach(() => {
    stand = new KvShardStand();
    made = [];
    looked = [];
    const create = (_shard: ShardName, epoch: number) => {
      const actor = stand.activate({ epoch });
      made.push(actor);
      return actor;
    };
    followed = new FollowedShards<KvWork>({ clock: stand.time, log: silentLog }, create, (shard) => looked.push(shard));
  });
  afterEach(() => {
    followed.dropAll();
    for (const actor of stand.actors) actor.fail(new Error('the test is over'));
  });

  const leaseOf = (epoch: number): ShardLease => ({
    epoch,
    session: 'owner' as SessionId,
    isReleased: false,
    createdAt: '',
    highWater: undefined,
    needsQuiet: false,
  });

  it('is level once all stored entries have been replayed, and becomes the next activation', async () => {
    const owner = await stand.serving();
    stand.send(owner, 'SET a 1');
    await stand.settle();
    expect(followed.follow(SHARD, leaseOf(1), OURS)).to.equal(false);
    await stand.settle();
    expect(looked, 'its owner is told without a delay').to.deep.equal([SHARD]);
    expect(followed.follow(SHARD, leaseOf(1), OURS)).to.equal(true);
    expect(followed.take(SHARD, 2, OURS)).to.equal(made[0]);
    expect(made[0]?.epoch).to.equal(2);
  });

  it('is replayed again for another epoch or another session (FOL2)', async () => {
    await stand.serving();
    followed.follow(SHARD, leaseOf(1), OURS);
    expect(followed.take(SHARD, 3, OURS)).to.equal(undefined);
    expect(made[0]?.isEnded).to.equal(true);
    followed.follow(SHARD, leaseOf(1), OURS);
    expect(followed.take(SHARD, 2, 'another' as SessionId)).to.equal(undefined);
    followed.follow(SHARD, leaseOf(1), OURS);
    followed.follow(SHARD, leaseOf(2), OURS);
    expect(made.every(({ isEnded }) => isEnded)).to.equal(true);
  });

  it('is one of at most four at a time, for a minute each (FOL1)', async () => {
    await stand.serving();
    for (let at = 0; at < 6; at += 1) followed.follow(`KV_${at}` as ShardName, leaseOf(1), OURS);
    expect(made).to.have.lengthOf(4);
    await stand.settle();
    looked = [];
    expect(followed.take('KV_3' as ShardName, 2, OURS)).to.equal(made[3]);
    expect(looked, 'the next one takes the free place').to.deep.equal(['KV_4']);
    followed.follow('KV_4' as ShardName, leaseOf(1), OURS);
    made.splice(3, 1);
    // The minute of a copy begins when it has caught up.
    expect(followed.follow(SHARD, leaseOf(1), OURS)).to.equal(true);
    await stand.time.advance(61_000);
    expect(followed.follow(SHARD, leaseOf(1), OURS)).to.equal(false);
    expect(made[0]?.isEnded).to.equal(true);
    followed.follow(SHARD, leaseOf(1), OURS);
    expect(made).to.have.lengthOf(4);
    await stand.time.advance(10_000);
    followed.follow(SHARD, leaseOf(1), OURS);
    expect(made).to.have.lengthOf(5);
  });

  it('is forgotten when the replay fails, and not started again immediately (FOL3)', async () => {
    await stand.serving();
    followed.follow(SHARD, leaseOf(1), OURS);
    made[0]?.fail(new Error('not readable'));
    expect(followed.follow(SHARD, leaseOf(1), OURS)).to.equal(false);
    expect(followed.follow(SHARD, leaseOf(1), OURS)).to.equal(false);
    expect(made).to.have.lengthOf(1);
    expect(followed.take(SHARD, 2, OURS)).to.equal(undefined);
  });
});
