/** Proves CMP1–CMP4, SNS1–SNS3. */
import { expect } from 'chai';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import { decodeManifest } from '../../../src/codec/envelope/index.js';
import { compactShard, SnapshotStore } from '../../../src/journal/index.js';
import {
  type ErrorCode,
  isMillraceError,
  MillraceError,
  type PartitionName,
  type ShardName,
} from '../../../src/kernel/index.js';
import type { Journal, ObjectStore } from '../../../src/ports/index.js';
import type { Manifest } from '../../../src/protocol/index.js';
import { silentLog } from '../../support/silent-log.js';
import { Faults, faultyJournal, faultyObjects } from './faulty-ports.js';
import { JournalStand, KEEP_NOTHING, SMALL_LIMITS } from './journal-stand.js';
import { ALPHA, BETA, CLUSTER, SHARD } from './shard-history.js';

const KEEP_ALL = {
  ...SMALL_LIMITS,
  retention: { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY },
};

/** A claim, and some writes to two partitions: more than one step and more than one segment of the small limits. */
async function journalWithWrites(options: { chunkBytes?: number } = {}): Promise<JournalStand> {
  const world = new JournalStand(options);
  await world.history.claim();
  for (let i = 0; i < 8; i += 1) {
    await world.history.batch({ [ALPHA]: [`SET a${i} value-${i}`, `SET shared ${i}`] }, [`cmd-${i}`]);
  }
  await world.history.batch({
    [BETA]: ['SET b1 one', ['SET', 'expiring', 'x', 'PXAT', '1890000000000']],
    [ALPHA]: ['DEL a0'],
  });
  return world;
}

async function manifestOf(world: JournalStand, name: string): Promise<Manifest> {
  return decodeManifest((await world.memoryObjects.get(name)) as Uint8Array);
}

describe('journal: compaction', () => {
  it('writes a manifest with the last entry, every partition and the position of its sections', async () => {
    const world = await journalWithWrites();
    const { head } = world.history;
    const result = await world.compact();
    expect(result.manifest).to.equal('KV_0/manifest/0000000000000010');
    expect([result.coveredNumber, result.coveredPosition]).to.deep.equal([head.number, head.position]);
    const manifest = await manifestOf(world, result.manifest);
    expect(manifest.head).to.deep.equal({ ...head, hash: Buffer.from(head.hash) });
    expect(manifest.clusterId).to.equal(CLUSTER);
    expect(manifest.partitions.map(({ name, keys, index }) => [name, keys, index])).to.deep.equal([
      [ALPHA, 8, 9],
      [BETA, 2, 1],
    ]);
    expect(manifest.partitions[0]?.segments.length).to.be.greaterThan(1);
    for (const { name, hash } of manifest.partitions) {
      expect(Buffer.from(hash)).to.deep.equal(world.history.links().get(name)?.hash);
    }
    expect(result.snapshotBytes).to.be.greaterThan(100);
  });

  it('gives the same state with a snapshot as without', async () => {
    const world = await journalWithWrites();
    const before = await world.recoveredDigests();
    expect(Object.keys(before)).to.deep.equal([ALPHA, BETA]);
    await world.compact();
    expect(await world.recoveredDigests()).to.deep.equal(before);
  });

  it('keeps the segments of a partition without changes', async () => {
    const world = await journalWithWrites();
    const first = await manifestOf(world, (await world.compact()).manifest);
    await world.history.batch({ [ALPHA]: ['SET a9 nine'] });
    const second = await manifestOf(world, (await world.compact()).manifest);
    expect(second.partitions[1]).to.deep.equal(first.partitions[1]);
    expect(second.partitions[0]?.segments).not.to.deep.equal(first.partitions[0]?.segments);
  });

  it('keeps a partition without keys, because its chain continues', async () => {
    const world = await journalWithWrites();
    await world.compact();
    await world.history.batch({ [BETA]: ['FLUSHALL'] });
    const manifest = await manifestOf(world, (await world.compact()).manifest);
    expect(manifest.partitions[1]).to.include({ name: BETA, keys: 0, index: 2 });
    expect(manifest.partitions[1]?.segments).to.deep.equal([]);
    await world.history.batch({ [BETA]: ['SET again 1'] });
    await world.recoveredDigests();
  });

  it('keeps recent command ids across snapshots, also when the clock jumps forward', async () => {
    const world = await journalWithWrites();
    await world.compact();
    world.history.clockMs += 30_000;
    await world.history.batch({ [ALPHA]: ['SET x 1'] }, ['cmd-late']);
    const ids = (manifest: Manifest) => manifest.recentCommandIds.map(([id]) => id);
    const second = await manifestOf(world, (await world.compact()).manifest);
    expect(ids(second)).to.deep.equal([...Array.from({ length: 8 }, (_, i) => `cmd-${i}`), 'cmd-late']);
    world.history.clockMs += 4_000_000;
    await world.history.batch({ [ALPHA]: ['SET x 2'] });
    expect(ids(await manifestOf(world, (await world.compact()).manifest))).to.deep.equal(ids(second));
  });

  it('joins chunk sets and skips incomplete ones', async () => {
    const world = new JournalStand({ chunkBytes: 300 });
    await world.history.claim();
    await world.history.batch({ [ALPHA]: [['SET', 'big', 'x'.repeat(2000)]] });
    await world.history.abandon(Buffer.alloc(2000), 3);
    await world.history.claim();
    await world.history.batch({ [ALPHA]: [['SET', 'big2', 'y'.repeat(2000)]] });
    const before = await world.recoveredDigests();
    const first = await world.compactAndPurge();
    await world.history.claim();
    const second = await world.compactAndPurge();
    expect(second.purgeBelow).to.equal(first.coveredPosition + 1);
    expect(await world.recoveredDigests()).to.deep.equal(before);
  });

  it('does no work when the newest manifest covers the same entries', async () => {
    const world = await journalWithWrites();
    const first = await world.compact();
    const objects = await world.objectNames();
    expect(await world.compact()).to.deep.equal(first);
    expect(await world.objectNames()).to.deep.equal(objects);
  });

  it('covers only entries up to the given one, although the journal continues', async () => {
    const world = await journalWithWrites();
    const { head } = world.history;
    await world.history.batch({ [ALPHA]: ['SET later 1'] });
    const job = { shard: SHARD, clusterId: CLUSTER, upToPosition: head.position };
    expect((await compactShard(world.ports, job, replayFold, SMALL_LIMITS)).coveredNumber).to.equal(head.number);
  });
});

describe('journal: the memory of a compaction', () => {
  it('holds the loaded partition and one other, and the effects of one step with its last entry (CMP1)', async () => {
    const world = new JournalStand();
    await world.history.claim();
    const partitions = [ALPHA, BETA, ...['c', 'd'].map((id) => `kv:db-${id.repeat(16)}:0` as PartitionName)];
    for (let i = 0; i < 12; i += 1) {
      for (const partition of partitions) await world.history.batch({ [partition]: [`SET k${i} ${'x'.repeat(40)}`] });
    }
    const limits = { ...SMALL_LIMITS, stepBytes: 500 };
    const entryBytes = 100;
    let inWork = 0;
    let unwritten = 0;
    let most = { applied: 0, unwritten: 0 };
    /** The number of effects applied to folds since entries were last read. */
    let applied = 0;
    const note = () => {
      most = { applied: Math.max(most.applied, applied), unwritten: Math.max(most.unwritten, unwritten) };
    };
    const watched: typeof replayFold = () => {
      expect(inWork, 'partitions').to.be.most(1);
      inWork += 1;
      const fold = replayFold();
      const { apply, segments, digest } = fold;
      fold.apply = (effects) => {
        applied += effects.length;
        note();
        apply.call(fold, effects);
      };
      fold.segments = function* (segmentBytes) {
        for (const segment of segments.call(fold, segmentBytes)) {
          unwritten += 1;
          note();
          yield segment;
        }
      };
      // The digest is the last call to a fold, after it was written, or loaded for the comparison.
      fold.digest = () => {
        inWork -= 1;
        return digest.call(fold);
      };
      return fold;
    };
    const { memoryJournal, memoryObjects } = world;
    world.journal = Object.assign(Object.create(memoryJournal) as Journal, {
      read: async function* (...range: Parameters<Journal['read']>) {
        for await (const message of memoryJournal.read(...range)) {
          applied = 0;
          yield message;
        }
      },
    });
    world.objects = Object.assign(Object.create(memoryObjects) as ObjectStore, {
      put: async (name: string, bytes: Uint8Array) => {
        await memoryObjects.put(name, bytes);
        if (name.includes('/segment/')) unwritten -= 1;
      },
    });
    const job = { shard: SHARD, clusterId: CLUSTER, upToPosition: world.history.head.position };
    const { manifest } = await compactShard(world.ports, job, watched, limits);
    expect((await manifestOf(world, manifest)).partitions.flatMap(({ segments }) => segments)).to.have.length.above(8);
    // Of the partition that stays loaded, less than a quarter of a step is pending.
    expect(most.applied).to.be.within(0.75 * limits.stepBytes, limits.stepBytes + entryBytes);
    expect(most.unwritten).to.be.most(2);
  });

  it('is bounded without reloading for each step: a partition with many writes is loaded once', async () => {
    const world = new JournalStand();
    await world.history.claim();
    const write = async (from: number) => {
      for (let i = from; i < from + 40; i += 1) await world.history.batch({ [ALPHA]: [`SET k${i} ${'x'.repeat(40)}`] });
      return { shard: SHARD, clusterId: CLUSTER, upToPosition: world.history.head.position };
    };
    const limits = { ...SMALL_LIMITS, stepBytes: 500 };
    await compactShard(world.ports, await write(0), replayFold, limits);
    let made = 0;
    const counted: typeof replayFold = () => {
      made += 1;
      return replayFold();
    };
    const { manifest } = await compactShard(world.ports, await write(40), counted, limits);
    // A second fold is made for the comparison.
    expect(made).to.equal(2);
    expect((await manifestOf(world, manifest)).partitions[0]?.keys).to.equal(80);
  });
});

describe('journal: purging', () => {
  it('removes no entry after the first snapshot, then those before the older of two', async () => {
    const world = await journalWithWrites();
    const first = await world.compactAndPurge();
    expect(first.purgeBelow).to.equal(1);
    await world.history.batch({ [ALPHA]: ['SET a9 nine'] });
    const second = await world.compactAndPurge();
    expect(second.purgeBelow).to.equal(first.coveredPosition + 1);
    expect((await world.memoryJournal.tail(SHARD)).first).to.equal(first.coveredPosition + 1);
  });

  it('leaves recovery possible from either of the two newest snapshots', async () => {
    const world = await journalWithWrites();
    for (let i = 0; i < 5; i += 1) {
      await world.history.batch({ [ALPHA]: [`SET round ${i}`], [BETA]: [`INCRBY n ${i}`] });
      const result = await world.compactAndPurge();
      const newest = await world.recoveredDigests();
      expect(await world.recoveredDigests(new Set([result.manifest]))).to.deep.equal(newest);
    }
    expect((await world.objectNames('KV_0/manifest/')).length).to.equal(2);
  });

  it('is limited by the audit retention', async () => {
    const world = await journalWithWrites();
    const limits = { ...SMALL_LIMITS, retention: { maxAgeMs: 10_000, maxBytes: 1e12 } };
    for (let i = 0; i < 4; i += 1) {
      await world.history.batch({ [ALPHA]: [`SET round ${i}`] });
      expect((await world.compactAndPurge(limits)).purgeBelow).to.equal(1);
    }
    await world.time.advance(11_000);
    await world.history.batch({ [ALPHA]: ['SET late 1'] });
    expect((await world.compactAndPurge(limits)).purgeBelow).to.be.greaterThan(1);
  });

  it('is limited by the total of all journals, one byte above it, even if all history is young', async () => {
    const world = await journalWithWrites();
    const other = 'KV_1' as ShardName;
    world.memoryJournal.createStream(other);
    await world.memoryJournal.append(other, new Uint8Array(100), 0);
    for (let i = 0; i < 6; i += 1) {
      await world.history.batch({ [ALPHA]: [`SET round ${String(i).padEnd(100, '.')}`] });
      await world.compactAndPurge(KEEP_ALL);
    }
    const { bytes: held } = await world.memoryJournal.tail(SHARD);
    const within = (bytes: number) => ({ ...KEEP_ALL, total: { bytes, shards: [SHARD, other] } });
    expect((await world.compact(within(held + 100))).purgeBelow).to.equal(1);
    const { purgeBelow } = await world.compactAndPurge(within(held + 100 - 1));
    expect(purgeBelow).to.be.greaterThan(1);
    const { bytes } = await world.memoryJournal.tail(SHARD);
    expect(bytes).to.be.below(held);
    // Objects of the two newest snapshots stay, even above the total.
    const before = await world.recoveredDigests();
    const { manifest } = await world.compactAndPurge(within(1));
    expect(await world.recoveredDigests(new Set([manifest]))).to.deep.equal(before);
  });

  it('keeps pace with the writes: two manifests and only their segments remain', async () => {
    const world = await journalWithWrites();
    for (let i = 0; i < 4; i += 1) {
      await world.history.batch({ [ALPHA]: [`SET round ${i}`] });
      await world.compactAndPurge();
    }
    const manifests = await world.objectNames('KV_0/manifest/');
    const named = new Set<string>();
    for (const name of manifests) {
      for (const { segments } of (await manifestOf(world, name)).partitions)
        for (const { object } of segments) named.add(object);
    }
    expect(manifests.length).to.equal(2);
    expect((await world.objectNames('KV_0/segment/')).sort()).to.deep.equal([...named].sort());
  });
});

describe('journal: a failed sweep', () => {
  it('leaves a valid snapshot, and the remaining deletions to the next sweep (CMP4)', async () => {
    const world = await journalWithWrites();
    for (let i = 0; i < 2; i += 1) {
      await world.history.batch({ [ALPHA]: [`SET round ${i}`] });
      await world.compactAndPurge();
    }
    const { memoryObjects } = world;
    let refused = 0;
    world.objects = {
      put: (name, bytes) => memoryObjects.put(name, bytes),
      get: (name) => memoryObjects.get(name),
      list: (prefix) => memoryObjects.list(prefix),
      delete: async () => {
        refused += 1;
        throw new MillraceError('JOURNAL_UNAVAILABLE', 'nothing is deleted today');
      },
    };
    await world.history.batch({ [ALPHA]: ['SET round last'] });
    const expected = await world.recoveredDigests();
    const result = await world.compactAndPurge();
    expect(refused).to.be.greaterThan(0);
    expect(await world.objectNames('KV_0/manifest/'))
      .to.have.length(3)
      .and.to.include(result.manifest);
    expect(await world.recoveredDigests()).to.deep.equal(expected);
    world.objects = memoryObjects;
    await world.history.claim();
    await world.compactAndPurge();
    expect(await world.objectNames('KV_0/manifest/')).to.have.length(2);
    expect(await world.recoveredDigests()).to.deep.equal(expected);
  });
});

describe('journal: damaged snapshots', () => {
  async function worldWithThree() {
    const world = await journalWithWrites();
    const results = [];
    for (let i = 0; i < 3; i += 1) {
      await world.history.batch({ [ALPHA]: [`SET round ${i}`] });
      results.push(await world.compactAndPurge());
    }
    return { world, newest: results[2] as (typeof results)[0], older: results[1] as (typeof results)[0] };
  }

  it('are skipped in favour of the one before, with a line in the log', async () => {
    const { world, newest, older } = await worldWithThree();
    const digests = await world.recoveredDigests();
    world.memoryObjects.damage(newest.manifest);
    const lines: string[] = [];
    const log = { ...silentLog, error: (event: string) => void lines.push(event) };
    expect((await new SnapshotStore(world.memoryObjects, log).newest(SHARD))?.name).to.equal(older.manifest);
    expect(lines).to.deep.equal(['snapshot.refused']);
    expect(await world.recoveredDigests()).to.deep.equal(digests);
  });

  it('are invalid while one of their segments is missing', async () => {
    const { world, newest, older } = await worldWithThree();
    const segment = (await manifestOf(world, newest.manifest)).partitions[0]?.segments[0]?.object as string;
    await world.memoryObjects.delete(segment);
    const store = new SnapshotStore(world.memoryObjects, silentLog);
    expect((await store.newest(SHARD))?.name).to.equal(older.manifest);
  });

  it('are not reused: the next compaction starts at the one before', async () => {
    const { world, newest } = await worldWithThree();
    const digests = await world.recoveredDigests();
    const segment = (await manifestOf(world, newest.manifest)).partitions[0]?.segments[0]?.object as string;
    world.memoryObjects.damage(segment);
    await world.history.batch({ [ALPHA]: ['SET shared again', 'SET shared 7'] });
    const result = await world.compactAndPurge();
    expect(await world.recoveredDigests()).to.deep.equal(digests);
    expect(await world.recoveredDigests(new Set([result.manifest]))).to.deep.equal(digests);
    expect(await world.objectNames('KV_0/manifest/')).not.to.include(newest.manifest);
  });

  it('of another cluster are refused', async () => {
    const { world } = await worldWithThree();
    const upToPosition = world.history.head.position;
    const head = await world.history.claim();
    const job = { shard: SHARD, clusterId: 'another', upToPosition: head.position };
    expect(upToPosition).to.be.lessThan(head.position);
    await expectFailure(compactShard(world.ports, job, replayFold, SMALL_LIMITS), 'JOURNAL_DAMAGED');
  });

  it('of a broken journal are not made', async () => {
    const world = await journalWithWrites();
    await world.history.append({ kind: 'claim', clusterId: CLUSTER }, { previousHash: new Uint8Array(32) });
    await expectFailure(world.compact(), 'JOURNAL_DAMAGED');
    expect(await world.objectNames('KV_0/manifest/')).to.deep.equal([]);
  });

  it('that end in the middle of a chunk set are not made', async () => {
    const world = new JournalStand({ chunkBytes: 300 });
    await world.history.claim();
    const { position } = await world.history.batch({ [ALPHA]: [['SET', 'big', 'x'.repeat(2000)]] });
    const job = { shard: SHARD, clusterId: CLUSTER, upToPosition: position - 1 };
    await expectFailure(compactShard(world.ports, job, replayFold, SMALL_LIMITS), 'JOURNAL_DAMAGED');
  });

  it('that read back differently are not made', async () => {
    const world = await journalWithWrites();
    // A fold that forgets one key of every segment that it loads.
    const forgetful: typeof replayFold = () => {
      const fold = replayFold();
      const { applyInSlices } = fold;
      fold.applyInSlices = function* (bytes) {
        yield* applyInSlices.call(fold, bytes);
        fold.apply(Buffer.from('*3\r\n$3\r\nSET\r\n$6\r\nshared\r\n$5\r\nother\r\n'));
      };
      return fold;
    };
    const job = { shard: SHARD, clusterId: CLUSTER, upToPosition: world.history.head.position };
    const oneStep = { stepBytes: 1e9, segmentBytes: 60, retention: KEEP_NOTHING };
    await expectFailure(compactShard(world.ports, job, forgetful, oneStep), 'JOURNAL_DAMAGED');
    expect(await world.objectNames('KV_0/manifest/')).to.deep.equal([]);
  });
});

describe('journal: an interrupted compaction', () => {
  it('may have left objects of the same names, with other bytes or damaged', async () => {
    const world = await journalWithWrites();
    await world.compact();
    await world.history.batch({ [ALPHA]: ['SET a9 nine'] });
    const expected = await world.recoveredDigests();
    const { manifest } = await world.compact();
    const segments = (await manifestOf(world, manifest)).partitions[0]?.segments ?? [];
    await world.memoryObjects.delete(manifest);
    await world.memoryObjects.put(manifest, Buffer.from('half a manifest'));
    await world.memoryObjects.delete(segments[0]?.object as string);
    await world.memoryObjects.put(segments[0]?.object as string, Buffer.from('*1\r\n'));
    expect((await world.compact()).manifest).to.equal(manifest);
    expect(await world.recoveredDigests()).to.deep.equal(expected);

    world.memoryObjects.damage(segments[1]?.object as string);
    await world.memoryObjects.delete(manifest);
    await expectFailure(world.compact(), 'JOURNAL_DAMAGED');
    expect((await world.compact()).manifest).to.equal(manifest);
    expect(await world.recoveredDigests()).to.deep.equal(expected);
  });

  it('does not delete objects that another one with a later position is writing', async () => {
    const world = await journalWithWrites();
    await world.compact();
    const store = new SnapshotStore(world.memoryObjects, silentLog);
    const further = await store.writeSegment(SHARD, world.history.head.number + 5, ALPHA, 0, Buffer.from('*'));
    await world.history.batch({ [ALPHA]: ['SET a9 nine'] });
    await world.compact();
    expect(await world.objectNames()).to.include(further.object);
  });

  for (const kind of ['before', 'after'] as const) {
    it(`leaves only garbage after a crash ${kind} any call, and a later one deletes it`, async () => {
      let failures = 0;
      for (let failAt = 1; ; failAt += 1) {
        const world = await journalWithWrites();
        await world.compactAndPurge();
        await world.history.batch({ [ALPHA]: ['SET shared 2nd'], [BETA]: ['SET b2 two'] });
        await world.compactAndPurge();
        await world.history.batch({ [ALPHA]: ['SET shared last', 'DEL a1'], [BETA]: ['APPEND b1 !'] });
        const expected = await world.recoveredDigests();

        const faults = new Faults(failAt, kind);
        world.objects = faultyObjects(world.memoryObjects, faults);
        world.journal = faultyJournal(world.memoryJournal, faults);
        const attempt = await world.compact().then(
          (result) => ({ result }),
          (error: unknown) => ({ error }),
        );
        if ('result' in attempt) await world.purge(attempt.result);
        else failures += 1;
        expect(await world.recoveredDigests(), `call ${failAt}`).to.deep.equal(expected);
        if (faults.calls < failAt) break;

        world.objects = world.memoryObjects;
        world.journal = world.memoryJournal;
        const again = await world.compactAndPurge();
        expect(await world.recoveredDigests(), `call ${failAt}, repeated`).to.deep.equal(expected);
        expect(await world.recoveredDigests(new Set([again.manifest])), `call ${failAt}, older`).to.deep.equal(
          expected,
        );
        await world.history.claim();
        await world.compactAndPurge();
        await world.history.claim();
        await world.compactAndPurge();
        expect(await unnamedObjects(world), `call ${failAt}`).to.deep.equal([]);
      }
      expect(failures).to.be.greaterThan(20);
    });
  }

  async function unnamedObjects(world: JournalStand): Promise<string[]> {
    const named = new Set(await world.objectNames('KV_0/manifest/'));
    for (const name of [...named]) {
      for (const { segments } of (await manifestOf(world, name)).partitions)
        for (const { object } of segments) named.add(object);
    }
    return (await world.objectNames()).filter((name) => !named.has(name));
  }
});

async function expectFailure(act: Promise<unknown>, code: ErrorCode): Promise<void> {
  try {
    await act;
  } catch (error) {
    expect(isMillraceError(error, code), String(error)).to.equal(true);
    return;
  }
  expect.fail(`no ${code}`);
}
