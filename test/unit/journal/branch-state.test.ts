/** The first state of a branch is a snapshot by reference and the effects after it. Proves BRS1–BRS3, BRR1, SNS4. */
import { expect } from 'chai';
import { type KvWork, replayFold } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { loadState } from '../../../src/journal/backup/index.js';
import {
  readBranch,
  referredObjects,
  referringBranches,
  referState,
  removeReferences,
  SnapshotStore,
} from '../../../src/journal/index.js';
import { type DatabaseId, isMillraceError, type PartitionName } from '../../../src/kernel/index.js';
import type { ObjectStore } from '../../../src/ports/index.js';
import { silentLog } from '../../spec/journal/shard-history.js';
import { KvShardStand, SHARD } from '../../support/kv-shard-stand.js';

const BRANCH = 'db-branchbranch' as DatabaseId;

describe('the first state of a branch', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  let partition: PartitionName;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
    await run('SET kept 1', 'RPUSH list a b c');
    const [plane] = stand.planes;
    partition = [...(plane?.loaded() ?? [])][0]?.[0] as PartitionName;
  });

  async function run(...lines: string[]): Promise<void> {
    stand.send(actor, lines, 'pipeline');
    await stand.settle();
  }

  function refer(over: { atMs?: number; maxPartitionBytes?: number; objects?: ObjectStore } = {}) {
    const { objects = stand.objects, atMs, maxPartitionBytes = 1e9 } = over;
    const ports = { journal: stand.journal, objects, log: silentLog, clock: stand.time };
    return referState(ports, { branch: BRANCH, partitions: [partition], shards: [SHARD], atMs, maxPartitionBytes });
  }

  async function loaded() {
    const manifest = await readBranch(stand.objects, BRANCH, 0);
    const state = manifest?.partitions[0];
    const fold = replayFold();
    if (state === undefined) throw new Error('no state');
    await loadState({ objects: stand.objects, log: silentLog }, state, fold, 1e9, async () => {});
    return { fold, state };
  }

  const liveDigest = () => [...(stand.planes[0]?.loaded() ?? [])][0]?.[1].digest();

  it('has every acknowledged write, copies only those after the snapshot, and keeps its segments (BRS1, SNS4)', async () => {
    await stand.compact(actor);
    await run('SET later 2', 'DEL kept');
    const referred = await refer();
    const { fold, state } = await loaded();
    expect(fold.digest()).to.equal(liveDigest());
    expect(state.segments.map(({ object }) => object.split('/')[0])).to.deep.equal([SHARD, 'branch']);
    expect(referred.copiedBytes).to.be.within(1, 200);
    const store = new SnapshotStore(stand.objects, silentLog);
    await run('SET more 3');
    await stand.compact(actor);
    const newest = await store.newest(SHARD);
    await store.prune(SHARD, newest === undefined ? [] : [newest]);
    expect((await loaded()).fold.size).to.equal(2);
    expect(await referredObjects(stand.objects)).to.have.property('size', 2);
    await removeReferences(stand.objects, BRANCH);
    expect(await referringBranches(stand.objects)).to.have.property('size', 0);
    const before = (await stand.objects.list(`${SHARD}/segment/`)).length;
    await store.prune(SHARD, newest === undefined ? [] : [newest]);
    expect((await stand.objects.list(`${SHARD}/segment/`)).length).to.be.lessThan(before);
  });

  it('of an earlier moment has the writes up to then (BRS1)', async () => {
    const before = liveDigest();
    const atMs = stand.time.nowMs() + 500;
    await stand.time.advance(1000);
    await run('SET later 2');
    await refer({ atMs });
    expect((await loaded()).fold.digest()).to.equal(before);
  });

  it('is referred to again when its snapshot was removed in between (BRS2)', async () => {
    await stand.compact(actor);
    await run('SET later 2');
    const [gone] = (await stand.objects.list(`${SHARD}/manifest/`)).map(({ name }) => name);
    let looks = 0;
    const { objects } = stand;
    const racing: ObjectStore = {
      put: (name, bytes) => objects.put(name, bytes),
      list: (prefix) => objects.list(prefix),
      delete: (name) => objects.delete(name),
      get: async (name) => {
        if (name !== gone) return objects.get(name);
        looks += 1;
        // The first look reads the manifest, the second one is after the references.
        return looks === 2 ? undefined : objects.get(name);
      },
    };
    await refer({ objects: racing });
    expect(looks).to.equal(4);
    expect((await loaded()).fold.digest()).to.equal(liveDigest());
  });

  it('is refused for a moment to come, and for a partition that is too large', async () => {
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        (error: unknown) => (isMillraceError(error) ? error.code : String(error)),
      );
    expect(await codeOf(refer({ atMs: stand.time.nowMs() + 1 }))).to.equal('INVALID');
    expect(await codeOf(refer({ maxPartitionBytes: 10 }))).to.equal('CONFLICT');
  });
});
