/** Proves AS1–AS4. */
import { expect } from 'chai';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import { encodeBodyIndex } from '../../../src/codec/envelope/index.js';
import { SnapshotStore, type StoredManifest, verifyShard, verifySnapshots } from '../../../src/journal/index.js';
import { MillraceError, type ShardName } from '../../../src/kernel/index.js';
import type { Journal, ObjectStore } from '../../../src/ports/index.js';
import type { ManifestPartition } from '../../../src/protocol/index.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, BETA, effects, SHARD } from '../../spec/journal/shard-history.js';
import { BodyFold } from '../../support/body-fold.js';
import { BodyStand } from '../../support/body-stand.js';
import { ManualTime, MemoryJournal, MemoryObjectStore } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';

const KEEP_ALL = { stepBytes: 100, segmentBytes: 60, retention: { maxAgeMs: 1e15, maxBytes: 1e15 } };

/** Three snapshots: ALPHA changes before each, BETA before the first and the third. */
async function threeSnapshots(): Promise<JournalStand> {
  const world = new JournalStand();
  await world.history.claim();
  for (let i = 1; i <= 3; i += 1) {
    for (let j = 0; j < 5; j += 1) await world.history.batch({ [ALPHA]: [`SET key${j} ${i}`, `SET only${i}-${j} x`] });
    if (i !== 2) await world.history.batch({ [BETA]: [`SET b ${i}`] });
    await world.compact(KEEP_ALL);
  }
  return world;
}

const audit = (world: JournalStand, options = {}) => verifySnapshots(world.ports, SHARD, replayFold, options);

async function manifests(objects: ObjectStore): Promise<StoredManifest[]> {
  const all: StoredManifest[] = [];
  for await (const stored of new SnapshotStore(objects, silentLog).newestFirst(SHARD)) all.unshift(stored);
  return all;
}

/** Replaces a manifest by a consistent forged one. */
async function forge(
  objects: ObjectStore,
  { manifest }: StoredManifest,
  change: (partition: ManifestPartition) => ManifestPartition,
): Promise<void> {
  await new SnapshotStore(objects, silentLog).writeManifest({
    ...manifest,
    partitions: manifest.partitions.map(change),
  });
}

async function flip(objects: ObjectStore, name: string): Promise<void> {
  const bytes = Buffer.from((await objects.get(name)) as Uint8Array);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 3) ^ 1, bytes.length - 3);
  await objects.delete(name);
  await objects.put(name, bytes);
}

describe('the audit of snapshots', () => {
  it('rebuilds each snapshot from the one before, and has no findings when all are right', async () => {
    const world = await threeSnapshots();
    const { snapshots, refolded, bytes, findings } = await audit(world);
    expect([snapshots, refolded, findings]).to.deep.equal([3, 3, []]);
    expect(bytes).to.be.greaterThan(0);
  });

  it('gives the same result in small groups of partitions', async () => {
    const world = await threeSnapshots();
    const whole = await audit(world);
    expect(await audit(world, { groupBytes: 1 })).to.deep.equal(whole);
  });

  it('reads no segment more than twice, for any number of snapshots that name it (AS3)', async () => {
    const world = new JournalStand();
    await world.history.claim();
    await world.history.batch({ [BETA]: ['SET b 1'] });
    for (let i = 1; i <= 6; i += 1) {
      await world.history.batch({ [ALPHA]: [`SET key ${i}`] });
      if (i === 6) await world.history.batch({ [BETA]: ['SET b 2'] });
      await world.compact(KEEP_ALL);
    }
    const reads = new Map<string, number>();
    const { get } = world.memoryObjects;
    world.memoryObjects.get = (name) => {
      if (name.includes('/segment/')) reads.set(name, (reads.get(name) ?? 0) + 1);
      return get.call(world.memoryObjects, name);
    };
    // Three snapshots are kept; the first of them refers to a segment of an earlier one.
    expect((await audit(world)).snapshots).to.equal(3);
    const segments = await world.objectNames('KV_0/segment/');
    expect(Math.max(...reads.values())).to.equal(2);
    expect([...reads.keys()].sort()).to.deep.equal(segments.sort());
    // The last segment of each partition has no later snapshot yet.
    expect([...reads.values()].filter((count) => count === 1)).to.have.length(2);
  });

  it('reads the oldest snapshot back where the entries before it are gone', async () => {
    const world = await threeSnapshots();
    for (let i = 0; i < 2; i += 1) {
      await world.history.claim();
      await world.compactAndPurge();
    }
    expect((await world.memoryJournal.tail(SHARD)).first).to.be.greaterThan(1);
    const { snapshots, refolded, findings } = await audit(world);
    expect([findings, snapshots - refolded]).to.deep.equal([[], 1]);
  });

  it('finds a state that differs from the entries although its snapshot is consistent', async () => {
    const world = await threeSnapshots();
    const second = (await manifests(world.objects))[1] as StoredManifest;
    const store = new SnapshotStore(world.objects, silentLog);
    const fold = replayFold();
    await store.loadWhole(second.manifest.partitions[0] as ManifestPartition, fold);
    fold.apply(effects('SET key0 forged'));
    const { number, position } = second.manifest.head;
    const segment = await store.writeSegment(SHARD, number, ALPHA, 'x', Buffer.concat([...fold.segments(1e6)]));
    await forge(world.objects, second, (partition) =>
      partition.name === ALPHA ? { ...partition, digest: fold.digest(), segments: [segment] } : partition,
    );
    expect((await verifyShard(world.ports, SHARD)).findings).to.deep.equal([]);
    const { findings } = await audit(world);
    // The snapshot that was made from it differs too: later entries on the forged state do not give the third snapshot.
    expect(findings.map(({ partition, position: at }) => [partition, at])).to.deep.equal([[ALPHA, position]]);
    expect(findings[0]?.reason).to.match(/has another state of kv:db-a+:0 than its entries give$/);
  });

  it('finds segments with other bytes, and incomplete manifests', async () => {
    const world = await threeSnapshots();
    const [first, , third] = (await manifests(world.objects)) as [StoredManifest, StoredManifest, StoredManifest];
    const segment = third.manifest.partitions[0]?.segments[0]?.object as string;
    await flip(world.objects, segment);
    const damaged = await audit(world);
    expect(damaged.findings.map(({ reason }) => reason)).to.deep.equal([
      `${third.name} cannot be proven: ${ALPHA}: a segment has other bytes`,
    ]);
    await world.objects.delete(first.manifest.partitions[0]?.segments[0]?.object as string);
    const incomplete = (await audit(world)).findings.map(({ reason }) => reason);
    expect(incomplete).to.include(`${first.name} is incomplete`);
  });

  it('finds a partition that was left out', async () => {
    const world = await threeSnapshots();
    const [, , third] = (await manifests(world.objects)) as [StoredManifest, StoredManifest, StoredManifest];
    const partitions = third.manifest.partitions.filter(({ name }) => name !== BETA);
    await new SnapshotStore(world.objects, silentLog).writeManifest({ ...third.manifest, partitions });
    const { findings } = await audit(world);
    expect(findings.map(({ reason, partition }) => [reason, partition])).to.deep.equal([
      [`${third.name} lacks ${BETA}`, BETA],
    ]);
  });

  it('finds entries with effects that do not apply', async () => {
    const world = await threeSnapshots();
    await world.history.batch({ [ALPHA]: ['RPUSH list x'] });
    await world.compact(KEEP_ALL);
    const fourth = (await manifests(world.objects)).at(-1) as StoredManifest;
    await world.history.batch({ [ALPHA]: ['LPUSH key0 wrong-type'] });
    const { head } = world.history;
    await new SnapshotStore(world.objects, silentLog).writeManifest({
      ...fourth.manifest,
      head,
      partitions: fourth.manifest.partitions.map((partition) =>
        partition.name === ALPHA ? { ...partition, index: partition.index + 1 } : partition,
      ),
    });
    const { findings } = await audit(world);
    expect(findings[0]?.reason).to.contain('cannot be proven: an effect was refused');
  });

  it('finds that the journal no longer returns the last entry of a snapshot', async () => {
    const world = await threeSnapshots();
    const { memoryJournal } = world;
    const { position } = world.history.head;
    const silent = Object.assign(Object.create(memoryJournal) as Journal, {
      async *read(shard: ShardName, from: number, to: number) {
        yield* memoryJournal.read(shard, from, Math.min(to, position - 1));
        if (to >= position) throw new MillraceError('JOURNAL_UNAVAILABLE', 'the journal stopped sending');
      },
      readAt: async (shard: ShardName, at: number) => (at === position ? undefined : memoryJournal.readAt(shard, at)),
    });
    const { findings } = await verifySnapshots({ ...world.ports, journal: silent }, SHARD, replayFold);
    expect(findings.map(({ position: at }) => at)).to.deep.equal([position]);
    expect(findings[0]?.reason).to.contain('cannot be proven: the journal stopped sending');
  });

  it('ignores snapshots that are removed while it runs', async () => {
    const world = await threeSnapshots();
    const [first] = await manifests(world.objects);
    const { memoryObjects } = world;
    const name = first?.name as string;
    // The owner prunes after the manifests are listed and before their segments are read; manifests are deleted first.
    const racing = Object.assign(Object.create(memoryObjects) as ObjectStore, {
      get: async (object: string) => {
        if (object === first?.manifest.partitions[0]?.segments[0]?.object) {
          await memoryObjects.delete(name);
          await memoryObjects.delete(object);
        }
        return memoryObjects.get(object);
      },
    });
    const { refolded, findings } = await verifySnapshots({ ...world.ports, objects: racing }, SHARD, replayFold);
    expect([refolded, findings]).to.deep.equal([2, []]);
  });

  it('reports its progress, and ends when it is interrupted', async () => {
    const world = await threeSnapshots();
    const seen: string[] = [];
    await audit(world, {
      onProgress: ({ phase, done, total }: { phase: string; done: number; total: number }) =>
        seen.push(`${phase} ${done}/${total}`),
    });
    expect(seen).to.deep.equal(['snapshots 1/3', 'snapshots 2/3', 'snapshots 3/3']);
    const error = await audit(world, { signal: AbortSignal.abort() }).catch((cause: Error) => cause);
    expect(error).to.have.property('code', 'SHUTTING_DOWN');
  });
});

describe('the audit of the bodies in snapshots', () => {
  async function bodies(): Promise<BodyStand> {
    const time = new ManualTime();
    const journal = new MemoryJournal({ clock: time, timers: time });
    journal.createStream(SHARD);
    const world = new BodyStand(journal, new MemoryObjectStore(), { ...KEEP_ALL, stepBytes: 1 }, { clock: time });
    await world.history.claim();
    const { numbers } = await world.put(...Array.from({ length: 20 }, (_, i) => `body ${i} `.repeat(3)));
    await world.put('one', 'two', 'three');
    await world.compact();
    // A segment is rewritten when most of its content is no longer needed.
    await world.drop(...numbers.slice(0, 18));
    await world.put('four', 'five');
    await world.compact();
    return world;
  }

  const auditOf = (world: BodyStand) =>
    verifySnapshots({ journal: world.journal, objects: world.objects, log: silentLog }, SHARD, () => new BodyFold());

  /** In the newest snapshot: the segment with the body, and its bodies. */
  async function forgeBodies(world: BodyStand, change: (content: string) => string | undefined): Promise<void> {
    const newest = (await manifests(world.objects)).at(-1) as StoredManifest;
    const store = new SnapshotStore(world.objects, silentLog);
    const partition = newest.manifest.partitions[0] as ManifestPartition;
    const known = (await manifests(world.objects))[0]?.manifest.partitions[0]?.bodySegments ?? [];
    const written = (partition.bodySegments ?? []).find(({ bodies: { object } }) =>
      known.every((earlier) => earlier.bodies.object !== object),
    );
    expect(written, 'no segment was rewritten').to.not.equal(undefined);
    const contents = new Map<number, string>();
    for (let number = written?.firstNumber as number; number <= (written?.lastNumber as number); number += 1) {
      const content = await world
        .reader()
        .read(number)
        .catch(() => undefined);
      const kept = content === undefined ? undefined : change(content);
      if (kept !== undefined) contents.set(number, kept);
    }
    const numbers = [...contents.keys()];
    let end = 0;
    const ends = numbers.map((number) => (end += (contents.get(number) as string).length));
    const { number } = newest.manifest.head;
    const forged = {
      bodies: await store.writeSegment(
        SHARD,
        number,
        partition.name,
        'bx',
        Buffer.from([...contents.values()].join('')),
      ),
      index: await store.writeSegment(
        SHARD,
        number,
        partition.name,
        'ix',
        encodeBodyIndex({ numbers: Float64Array.from(numbers), ends: Uint32Array.from(ends) }),
      ),
      firstNumber: numbers[0] as number,
      lastNumber: numbers.at(-1) as number,
    };
    await forge(world.objects, newest, (before) => ({
      ...before,
      bodySegments: (before.bodySegments ?? []).map((ref) => (ref === written ? forged : ref)),
    }));
  }

  it('has no findings where each needed body is unchanged', async () => {
    const world = await bodies();
    expect(await auditOf(world)).to.deep.include({ snapshots: 2, refolded: 2, findings: [] });
  });

  it('finds a body with other bytes, although its segment is consistent', async () => {
    const world = await bodies();
    await forgeBodies(world, (content) => (content === 'four' ? 'fore' : content));
    expect((await auditOf(world)).findings.map(({ reason }) => reason.replace(/^\S+: /, ''))).to.deep.equal([
      'body 24 differs from the body of its entry',
    ]);
  });

  it('finds a missing body', async () => {
    const world = await bodies();
    await forgeBodies(world, (content) => (content === 'four' ? undefined : content));
    expect((await auditOf(world)).findings.map(({ reason }) => reason.replace(/^\S+: /, ''))).to.deep.equal([
      'body 24 is missing',
    ]);
  });
});
