/**
 * Bodies in snapshots: written before their entries leave the journal, and kept as long as they are needed. Proves
 * BRE1, BRE2, BSE1–BSE4.
 */
import { expect } from 'chai';
import { DEFAULT_BODY_READER_LIMITS, verifyShard } from '../../../src/journal/index.js';
import { type ErrorCode, isMillraceError } from '../../../src/kernel/index.js';
import type { BodySegmentRef } from '../../../src/protocol/index.js';
import { BodyStand, QUEUE } from '../../support/body-stand.js';
import { ManualTime, MemoryJournal, MemoryObjectStore } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';
import { Faults, faultyObjects } from './faulty-ports.js';
import { KEEP_NOTHING } from './journal-stand.js';
import { SHARD } from './shard-history.js';

/** Ten bodies of ten bytes make a segment. */
const LIMITS = { stepBytes: 200, segmentBytes: 100, retention: KEEP_NOTHING };
const ten = (letter: string) => letter.repeat(10);

async function freshWorld({ chunkBytes = 512 * 1024, stepBytes = LIMITS.stepBytes } = {}): Promise<BodyStand> {
  const time = new ManualTime();
  const journal = new MemoryJournal({ clock: time, timers: time });
  journal.createStream(SHARD);
  const world = new BodyStand(journal, new MemoryObjectStore(), { ...LIMITS, stepBytes }, { chunkBytes, clock: time });
  await world.history.claim();
  return world;
}

async function putMany(world: BodyStand, count: number): Promise<number[]> {
  const { numbers } = await world.put(...Array.from({ length: count }, (_, i) => ten(String(i % 10))));
  return numbers;
}

const ranges = (refs: readonly BodySegmentRef[]) =>
  refs.map(({ firstNumber, lastNumber }) => [firstNumber, lastNumber]);
const objectsOf = (refs: readonly BodySegmentRef[]) => refs.map(({ bodies }) => bodies.object);
const bytesOf = (refs: readonly BodySegmentRef[]) => refs.reduce((sum, { bodies }) => sum + bodies.bytes, 0);

describe('journal: bodies in snapshots', () => {
  it('are the new ones that are still needed, in segments in the order of their numbers', async () => {
    const world = await freshWorld({ stepBytes: 100_000 });
    await putMany(world, 24);
    await world.drop(1, 5);
    const refs = await world.segments((await world.compact()).manifest);
    expect(ranges(refs)).to.deep.equal([
      [2, 12],
      [13, 22],
      [23, 24],
    ]);
    expect(bytesOf(refs)).to.equal(220);
  });

  it('are left out of the manifest where the state references none', async () => {
    const world = await freshWorld();
    const [first] = await putMany(world, 1);
    await world.drop(first as number);
    const manifest = await world.manifest((await world.compact()).manifest);
    expect(manifest.partitions[0]).not.to.have.property('bodySegments');
  });

  it('are rewritten with one old and one new segment in memory (BSE4)', async () => {
    const world = await freshWorld({ stepBytes: 100_000 });
    const numbers = await putMany(world, 100);
    const before = await world.segments((await world.compact()).manifest);
    expect(before).to.have.length(10);
    const old = new Set(objectsOf(before));
    // Four of ten live on.
    await world.drop(...numbers.filter((_, at) => at % 10 < 6));
    const { get, put } = world.objects;
    let reads = 0;
    let writtenBytes = 0;
    let mostHeld = 0;
    world.objects.get = (name) => {
      // All bodies that were read before are written, except those of the segment that is being filled.
      if (old.has(name)) {
        mostHeld = Math.max(mostHeld, reads * 40 - writtenBytes);
        reads += 1;
      }
      return get.call(world.objects, name);
    };
    world.objects.put = async (name, bytes) => {
      await put.call(world.objects, name, bytes);
      if (/\/segment\/.*b\d+$/.test(name)) writtenBytes += bytes.length;
    };
    const after = await world.segments((await world.compact()).manifest);
    expect([reads, bytesOf(after), after.length]).to.deep.equal([10, 400, 4]);
    expect(mostHeld).to.be.within(1, LIMITS.segmentBytes);
  });

  it('count in the bytes of the snapshot', async () => {
    const [small, large] = [await freshWorld(), await freshWorld()];
    await small.put('x');
    await large.put('x'.repeat(5000));
    const { snapshotBytes } = await small.compact();
    expect((await large.compact()).snapshotBytes - snapshotBytes).to.equal(4999);
  });

  it('are found when their entry is gone', async () => {
    const world = await freshWorld();
    const { numbers, position } = await world.put('first', 'second', 'third');
    await world.compactAndPurge();
    expect(await world.journal.readAt(SHARD, position)).to.equal(undefined);
    const { read } = world.reader();
    for (const [i, text] of ['first', 'second', 'third'].entries()) {
      expect(await read(numbers[i] as number, position)).to.equal(text);
      expect(await read(numbers[i] as number)).to.equal(text);
    }
  });

  it('include those of an entry that is applied in the middle of a compaction', async () => {
    const world = await freshWorld({ stepBytes: 1 });
    const numbers: number[] = [];
    for (let i = 0; i < 5; i += 1) numbers.push(...(await world.put(`body ${i}`)).numbers);
    await world.compactAndPurge();
    const { read } = world.reader();
    for (const [i, number] of numbers.entries()) expect(await read(number)).to.equal(`body ${i}`);
  });

  it('of a partition that stays loaded are written step by step, and merged or dropped at the end (BSE1–BSE3)', async () => {
    // A fourth of a step is about three bodies.
    const world = await freshWorld();
    const numbers = await putMany(world, 1);
    for (let i = 0; i < 29; i += 1) numbers.push(...(await putMany(world, 1)));
    const dropped = numbers.slice(0, 15);
    await world.drop(...dropped);
    const result = await world.compact();
    const refs = await world.segments(result.manifest);
    expect(bytesOf(refs)).to.be.within(150, 300);
    expect(new Set(objectsOf(refs)).size).to.equal(refs.length);
    const { read } = world.reader();
    for (const [i, number] of numbers.entries()) {
      if (!dropped.includes(number)) expect(await read(number), `body ${i}`).to.equal(ten('0'));
    }
  });

  it('stay in their objects, without being read, while more than half of a segment is needed', async () => {
    const world = await freshWorld();
    await putMany(world, 20);
    const first = await world.segments((await world.compact()).manifest);
    await world.drop(1, 2, 3, 4);
    expect(await world.segments((await world.compact()).manifest)).to.deep.equal(first);
  });

  it('move to a new segment when less than half of their segment is needed', async () => {
    const world = await freshWorld();
    await putMany(world, 20);
    const [low, high] = await world.segments((await world.compact()).manifest);
    await world.drop(1, 2, 3, 4, 5, 6);
    const after = await world.segments((await world.compact()).manifest);
    expect(ranges(after)).to.deep.equal([
      [7, 10],
      [11, 20],
    ]);
    expect(after[1]).to.deep.equal(high);
    expect(objectsOf(after)).not.to.include(low?.bodies.object);
    const { read } = world.reader();
    expect(await read(7)).to.equal(ten('6'));
  });

  it('are removed with their segment when none of it is needed, and its objects are deleted', async () => {
    const world = await freshWorld();
    await putMany(world, 10);
    const [gone] = await world.segments((await world.compact()).manifest);
    await world.drop(...Array.from({ length: 10 }, (_, i) => i + 1));
    expect(await world.segments((await world.compact()).manifest)).to.deep.equal([]);
    // The older of two snapshots still names it.
    expect(await world.objects.get(gone?.bodies.object as string)).not.to.equal(undefined);
    await world.history.claim();
    await world.compact();
    expect(await world.objects.get(gone?.bodies.object as string)).to.equal(undefined);
    expect(await world.objects.get(gone?.index.object as string)).to.equal(undefined);
  });

  it('are in few segments, even after many snapshots with one body each', async () => {
    const world = await freshWorld();
    let most = 0;
    for (let i = 0; i < 64; i += 1) {
      await world.put(ten('x'));
      const refs = await world.segments((await world.compact()).manifest);
      most = Math.max(most, refs.length - Math.ceil(i / 5));
    }
    expect(most).to.be.lessThan(8);
    const { read } = world.reader();
    for (let number = 1; number <= 64; number += 1) expect(await read(number)).to.equal(ten('x'));
  });

  it('take at most twice the needed space, after any deletions', async () => {
    const world = await freshWorld();
    const needed = new Set<number>();
    for (let round = 0; round < 12; round += 1) {
      for (const number of await putMany(world, 15)) needed.add(number);
      const leaving = [...needed].filter((number) => (number * 7 + round) % 3 === 0);
      for (const number of leaving) needed.delete(number);
      await world.drop(...leaving);
      const refs = await world.segments((await world.compact()).manifest);
      expect(bytesOf(refs)).to.be.at.most(2 * 10 * needed.size);
    }
    const { read } = world.reader();
    for (const number of needed) expect(await read(number)).to.have.length(10);
  });

  it('may be larger than a segment, and empty', async () => {
    const world = await freshWorld();
    const { numbers } = await world.put('x'.repeat(1000), '', 'y');
    await world.compactAndPurge();
    const { read } = world.reader();
    const texts = await Promise.all(numbers.map((number) => read(number)));
    expect(texts.map(({ length }) => length)).to.deep.equal([1000, 0, 1]);
  });

  it('leave a journal that passes verification', async () => {
    const world = await freshWorld();
    await putMany(world, 20);
    await world.compactAndPurge();
    const audit = await verifyShard({ journal: world.journal, objects: world.objects, log: silentLog }, SHARD);
    expect(audit.findings).to.deep.equal([]);
  });
});

describe('journal: bodies with damaged objects', () => {
  it('make a manifest invalid while one of them is missing', async () => {
    const world = await freshWorld();
    await world.put('body');
    const { manifest } = await world.compact();
    const [ref] = await world.segments(manifest);
    await world.objects.delete(ref?.index.object as string);
    const { read } = world.reader();
    await expectFailure(read(1), 'JOURNAL_DAMAGED');
  });

  it('are not reused: the next compaction starts at the snapshot before', async () => {
    const world = await freshWorld();
    await world.put('early');
    await world.compact();
    await world.put('late');
    const late = (await world.segments((await world.compact()).manifest)).at(-1);
    (world.objects as MemoryObjectStore).damage(late?.index.object as string);
    await world.put('latest');
    await world.compact();
    const { read } = world.reader();
    expect([await read(1), await read(2), await read(3)]).to.deep.equal(['early', 'late', 'latest']);
  });

  it('survive a store that fails at any step, and the next compaction', async () => {
    for (const kind of ['before', 'after'] as const) {
      for (let failAt = 1; ; failAt += 1) {
        const world = await freshWorld();
        await putMany(world, 12);
        await world.compact();
        await world.drop(1, 2, 3, 4, 5, 6, 7);
        await world.put('new');
        const faults = new Faults(failAt, kind);
        const isDone = await world.compact(faultyObjects(world.objects, faults)).then(
          () => true,
          () => false,
        );
        await world.compactAndPurge();
        const { read } = world.reader();
        expect([await read(8), await read(12), await read(13)]).to.deep.equal([ten('7'), ten('1'), 'new']);
        if (isDone && faults.calls < failAt) break;
      }
    }
  });
});

describe('journal: reading a body', () => {
  it('finds it in its entry, while the journal has that entry', async () => {
    const world = await freshWorld();
    const { numbers, position } = await world.put('here', 'there');
    const { read } = world.reader();
    expect([await read(numbers[1] as number, position), await read(numbers[0] as number, position)]).to.deep.equal([
      'there',
      'here',
    ]);
  });

  it('joins an entry that was stored in chunks', async () => {
    const world = await freshWorld({ chunkBytes: 100 });
    const { numbers, position } = await world.put('a'.repeat(1000), 'b'.repeat(1000));
    const { read } = world.reader();
    expect(await read(numbers[1] as number, position)).to.equal('b'.repeat(1000));
  });

  it('reads the snapshot when only the end of a chunked entry is left', async () => {
    const world = await freshWorld({ chunkBytes: 100 });
    const { numbers, position } = await world.put('a'.repeat(1000));
    await world.compact();
    await world.journal.truncateFront(SHARD, position - 1);
    const { read } = world.reader();
    expect(await read(numbers[0] as number, position)).to.equal('a'.repeat(1000));
  });

  it('reads adjacent bodies once, for any number of readers', async () => {
    const world = await freshWorld();
    const numbers = await putMany(world, 50);
    const { position } = world.history.head;
    let reads = 0;
    const journal = {
      readAt: (...args: Parameters<BodyStand['journal']['readAt']>) => {
        reads += 1;
        return world.journal.readAt(...args);
      },
    };
    const { read } = world.reader(DEFAULT_BODY_READER_LIMITS, world.objects, journal);
    await Promise.all(numbers.map((number) => read(number, position)));
    expect(reads).to.equal(1);
    const manifest = await world.compactAndPurge();
    const fetched: string[] = [];
    const get = (name: string) => {
      fetched.push(name);
      return world.objects.get(name);
    };
    const objects = Object.create(world.objects, { get: { value: get } }) as typeof world.objects;
    const later = world.reader(DEFAULT_BODY_READER_LIMITS, objects);
    later.reader.adopt(manifest);
    await Promise.all(numbers.map((number) => later.read(number)));
    expect(new Set(fetched).size).to.equal(fetched.length);
    expect(fetched).to.have.length(2 * (manifest.partitions[0]?.bodySegments?.length ?? 0));
  });

  it('finds it through a cache of size 0', async () => {
    const world = await freshWorld();
    const numbers = await putMany(world, 30);
    await world.compactAndPurge();
    const { read } = world.reader({ cacheBytes: 0, indexBytes: 0, loads: 1 });
    const texts = await Promise.all(numbers.map((number) => read(number)));
    expect(texts).to.deep.equal(numbers.map((number) => ten(String((number - 1) % 10))));
  });

  it('finds it after a later snapshot has moved it', async () => {
    const world = await freshWorld();
    await putMany(world, 10);
    const early = world.reader();
    early.reader.adopt(await world.compactAndPurge());
    await world.drop(1, 2, 3, 4, 5, 6);
    await world.compactAndPurge();
    expect(await early.read(7)).to.equal(ten('6'));
  });

  it('uses the previous snapshot when the newest one is damaged', async () => {
    const world = await freshWorld();
    await putMany(world, 10);
    await world.compactAndPurge();
    await world.drop(1, 2, 3, 4, 5, 6);
    const { manifest: name } = await world.compact();
    const manifest = await world.manifest(name);
    const { reader, read } = world.reader();
    reader.adopt(manifest);
    const [moved] = manifest.partitions[0]?.bodySegments ?? [];
    await world.objects.delete(moved?.bodies.object as string);
    expect(await read(7)).to.equal(ten('6'));
  });

  it('returns a copy that its reader may change', async () => {
    const world = await freshWorld();
    const { numbers, position } = await world.put('body');
    const { reader, read } = world.reader();
    (await reader.read(SHARD, QUEUE, numbers[0] as number, position)).fill(0);
    expect(await read(numbers[0] as number, position)).to.equal('body');
  });

  it('reports damage when it is missing, and when no entry ends at the known position', async () => {
    const world = await freshWorld({ chunkBytes: 100 });
    const { position } = await world.put('a'.repeat(1000));
    await world.compact();
    const { read } = world.reader();
    await expectFailure(read(99), 'JOURNAL_DAMAGED');
    await expectFailure(read(99, position), 'JOURNAL_DAMAGED');
    await expectFailure(read(1, position - 1), 'JOURNAL_DAMAGED');
  });

  it('fails, and can be repeated, while the journal does not answer', async () => {
    const world = await freshWorld();
    const { numbers, position } = await world.put('body');
    const faults = new Faults(1, 'before');
    const journal = {
      readAt: (...args: Parameters<BodyStand['journal']['readAt']>) => faults.call(() => world.journal.readAt(...args)),
    };
    const { read } = world.reader(DEFAULT_BODY_READER_LIMITS, world.objects, journal);
    await expectFailure(read(numbers[0] as number, position), 'JOURNAL_UNAVAILABLE');
    expect(await read(numbers[0] as number, position)).to.equal('body');
  });
});

async function expectFailure(act: Promise<unknown>, code: ErrorCode): Promise<void> {
  const failure = await act.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  expect(isMillraceError(failure, code), String(failure)).to.equal(true);
}
