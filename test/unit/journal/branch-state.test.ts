/** The first state of a branch is a snapshot by reference and the effects after it. Proves BRS1, BRS2, BRJ1–BRJ3, BRR1, SNS4. */
import { expect } from 'chai';
import { type KvWork, replayFold } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import {
  copyReferred,
  loadBranch,
  readBranch,
  referInPlace,
  referredObjects,
  referringBranches,
  referState,
  removeReferences,
  SnapshotStore,
} from '../../../src/journal/index.js';
import { type DatabaseId, isMillraceError, type PartitionName } from '../../../src/kernel/index.js';
import type { ObjectStore } from '../../../src/ports/index.js';
import { KvShardStand, SHARD } from '../../support/kv-shard-stand.js';
import { silentLog } from '../../support/silent-log.js';

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

  interface Asked {
    readonly atMs?: number;
    readonly maxPartitionBytes?: number;
    readonly objects?: ObjectStore;
  }
  const portsOf = ({ objects = stand.objects }: Asked = {}) => ({
    journal: stand.journal,
    objects,
    log: silentLog,
    clock: stand.time,
  });
  const requestOf = ({ atMs, maxPartitionBytes = 1e9 }: Asked) => ({
    branch: BRANCH,
    partitions: [partition],
    shards: [SHARD],
    atMs,
    maxPartitionBytes,
  });
  const refer = (asked: Asked = {}) => referState(portsOf(asked), requestOf(asked));
  const inPlace = (asked: Asked = {}) => referInPlace(portsOf(asked), requestOf(asked));

  async function loaded() {
    const manifest = await readBranch(stand.objects, BRANCH, 0);
    const state = manifest?.partitions[0];
    const fold = replayFold();
    if (state === undefined) throw new Error('no state');
    await loadBranch(portsOf(), state, fold, 1e9, async () => {});
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
        // The first read is that of the manifest, the second one follows the references.
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
    expect(await codeOf(inPlace({ atMs: stand.time.nowMs() + 1 }))).to.equal('INVALID');
    expect(await codeOf(refer({ maxPartitionBytes: 10 }))).to.equal('CONFLICT');
  });

  it('refers to the entries after the snapshot, without a copy, and has every acknowledged write (BRJ1)', async () => {
    expect((await inPlace())?.copiedBytes).to.equal(0);
    expect((await loaded()).fold.digest(), 'without a snapshot').to.equal(liveDigest());
    await stand.compact(actor);
    await run('SET later 2', 'DEL kept');
    const digest = liveDigest();
    await inPlace();
    await run('SET more 3');
    const { fold, state } = await loaded();
    expect(fold.digest()).to.equal(digest);
    expect(state.segments.map(({ object }) => object.split('/')[0])).to.deep.equal([SHARD, 'journal']);
    await removeReferences(stand.objects, BRANCH);
    expect(await referringBranches(stand.objects)).to.have.property('size', 0);
  });

  it('refers to the entries up to an earlier moment', async () => {
    await stand.compact(actor);
    await run('SET later 2');
    const before = liveDigest();
    const atMs = stand.time.nowMs() + 500;
    await stand.time.advance(1000);
    await run('SET later 3');
    await inPlace({ atMs });
    expect((await loaded()).fold.digest()).to.equal(before);
  });

  it('is left to the copying way when the size is not surely within the bound, or the snapshot is gone (BRJ1)', async () => {
    await stand.compact(actor);
    await run('SET later 2');
    expect(await inPlace({ maxPartitionBytes: 10 })).to.equal(undefined);
    const [gone] = (await stand.objects.list(`${SHARD}/manifest/`)).map(({ name }) => name);
    let stored = false;
    const { objects } = stand;
    const racing: ObjectStore = {
      put: async (name, bytes) => {
        await objects.put(name, bytes);
        stored = true;
      },
      list: (prefix) => objects.list(prefix),
      delete: (name) => objects.delete(name),
      get: async (name) => (stored && name === gone ? undefined : objects.get(name)),
    };
    expect(await inPlace({ objects: racing })).to.equal(undefined);
  });

  it('keeps its entries when the front of the journal is removed: they are copied before, or stay (BRJ2)', async () => {
    await stand.compact(actor);
    await run('SET later 2', 'DEL kept');
    const digest = liveDigest();
    await inPlace();
    await run('SET more 3');
    const { last } = await stand.journal.tail(SHARD);
    const failing: ObjectStore = {
      put: () => Promise.reject(new Error('no room')),
      list: (prefix) => stand.objects.list(prefix),
      delete: (name) => stand.objects.delete(name),
      get: (name) => stand.objects.get(name),
    };
    const kept = await copyReferred(portsOf({ objects: failing }), SHARD, last);
    expect(kept).to.be.lessThan(last);
    await stand.journal.truncateFront(SHARD, kept);
    expect((await loaded()).fold.digest()).to.equal(digest);
    expect(await copyReferred(portsOf(), SHARD, last)).to.equal(last);
    await stand.journal.truncateFront(SHARD, last);
    const { fold, state } = await loaded();
    expect(fold.digest()).to.equal(digest);
    expect(state.segments.map(({ object }) => object.split('/')[0])).to.deep.equal([SHARD, 'branch']);
    await removeReferences(stand.objects, BRANCH);
    expect(await referringBranches(stand.objects)).to.have.property('size', 0);
  });

  it('is refused, not shown with fewer keys, when the journal has other entries than it refers to', async () => {
    await run('SET later 2');
    await inPlace();
    const { last } = await stand.journal.tail(SHARD);
    await run('SET more 3');
    await stand.journal.truncateFront(SHARD, last + 1);
    const error = await loaded().catch((cause: unknown) => cause);
    expect(isMillraceError(error, 'JOURNAL_DAMAGED')).to.equal(true);
  });
});
