import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import type { PartitionName } from '../../../src/kernel/index.js';
import { KvShardStand, SHARD } from '../../support/kv-shard-stand.js';

const LONG_MS = 3_600_000;

describe('passivation of partitions', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
    stand.send(actor, ['SET a 1', 'SET b 2'], 'pipeline');
    await stand.settle();
  });

  afterEach(() => {
    for (const each of stand.actors) each.fail(new Error('the test is over'));
  });

  async function snapshot(): Promise<void> {
    await stand.compact(actor);
    const stored = await stand.snapshots.newest(SHARD);
    if (stored === undefined) throw new Error('no snapshot was made');
    stand.planes[0]?.adoptManifest(stored.manifest);
  }

  function passivate(): number {
    return stand.planes[0]?.passivateIdle(stand.time.nowMs()) ?? 0;
  }

  it('keeps partitions that no snapshot covers in memory, even if they are idle for long', async () => {
    await stand.time.advance(LONG_MS);
    expect(passivate()).to.equal(0);
  });

  it('keeps partitions in use in memory, even if a snapshot covers them', async () => {
    await snapshot();
    expect(passivate()).to.equal(0);
  });

  it('removes idle partitions that a snapshot covers, and loads them at the next request', async () => {
    await snapshot();
    await stand.time.advance(LONG_MS);
    expect(passivate()).to.equal(1);
    expect([...(stand.planes[0]?.loaded() ?? [])]).to.have.length(0);
    const read = stand.send(actor, ['GET a', 'GET b', 'DBSIZE'], 'pipeline');
    while (read.replies === undefined) await stand.settle();
    expect(read.replies).to.deep.equal(['1', '2', 2]);
  });

  it('continues the chain of a partition after it was loaded again', async () => {
    await snapshot();
    await stand.time.advance(LONG_MS);
    passivate();
    const write = stand.send(actor, 'SET c 3');
    while (write.replies === undefined) await stand.settle();
    const successor = await stand.serving();
    const read = stand.send(successor, ['GET a', 'GET c'], 'pipeline');
    await stand.settle();
    expect(read.replies).to.deep.equal(['1', '3']);
  });

  it('lets a successor load partitions from the snapshot and the later entries', async () => {
    await snapshot();
    stand.send(actor, 'SET a 9');
    await stand.settle();
    const successor = await stand.serving();
    expect(successor.replayed.entries).to.equal(2);
    const read = stand.send(successor, ['GET a', 'GET b'], 'pipeline');
    while (read.replies === undefined) await stand.settle();
    expect(read.replies).to.deep.equal(['9', '2']);
  });

  it('lets keys of a loaded partition expire although no request uses it', async () => {
    stand.send(actor, 'SET brief 1 PX 1000');
    await stand.settle();
    await snapshot();
    const successor = await stand.serving();
    const read = stand.send(successor, 'GET a');
    while (read.replies === undefined) await stand.settle();
    const sizes = () => [...(stand.planes[1]?.loaded() ?? [])].map(([, { size }]) => size);
    expect(sizes()).to.deep.equal([3]);
    const partition = 'kv:db-bbbbbbbbbbbbbbbb:0' as PartitionName;
    stand.ask(successor, { partition, commands: [['PING']] });
    await stand.time.advance(1200);
    expect(sizes()).to.deep.equal([2, 0]);
  });

  it('loads the same state when the front of the journal was truncated', async () => {
    await snapshot();
    stand.send(actor, 'SET a 9');
    await stand.settle();
    const { purgeBelow } = await stand.compact(actor);
    await stand.journal.truncateFront(SHARD, Math.max(1, purgeBelow));
    const successor = await stand.serving();
    const read = stand.send(successor, ['GET a', 'GET b'], 'pipeline');
    while (read.replies === undefined) await stand.settle();
    expect(read.replies).to.deep.equal(['9', '2']);
  });
});
