/** The contents of a backup of a running installation, and how a damaged one is detected. Proves CB1–CB5, FB1–FB3. */
import { expect } from 'chai';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import { foldBackup } from '../../../src/journal/backup/fold-backup.js';
import { type BackupManifest, filesOf } from '../../../src/journal/backup/index.js';
import { isMillraceError, type PartitionName, type ShardName } from '../../../src/kernel/index.js';
import type { Journal, LogFields, ObjectStore } from '../../../src/ports/index.js';
import { ALPHA, BETA, CLUSTER, effects, type ShardHistory } from '../../spec/journal/shard-history.js';
import { silentLog } from '../../support/silent-log.js';
import { BODY_PLANES, MemoryFiles, MemoryInstallation, verify } from './stand.js';

function digestOfKeys(...commands: readonly string[]): string {
  const fold = replayFold();
  fold.apply(effects(...commands));
  return fold.digest();
}

const shardOf = (manifest: BackupManifest, shard: string) => {
  const found = manifest.journals.find((backup) => backup.shard === shard);
  if (found === undefined) throw new Error(`no ${shard} in the backup`);
  return found;
};

/** KV_0 with a snapshot of two keys and an entry after it. */
async function kvWorld(): Promise<{ world: MemoryInstallation; history: ShardHistory }> {
  const world = new MemoryInstallation(1, 1);
  const history = world.history('KV_0', 200);
  await history.claim();
  await history.batch({ [ALPHA]: ['SET a 1'], [BETA]: ['SET b 1'] });
  await world.compact(history);
  await history.batch({ [ALPHA]: ['SET a 2'] });
  return { world, history };
}

describe('backup: create', () => {
  it('has the newest snapshot and every later entry', async () => {
    const { world, history } = await kvWorld();
    const files = new MemoryFiles();
    const manifest = await world.backup(files);
    const { snapshot, from, to, head } = shardOf(manifest, 'KV_0');
    expect(snapshot).to.equal('KV_0/manifest/0000000000000002');
    expect([from, to, head.number]).to.deep.equal([history.head.position, history.head.position, 3]);
    expect(head.hash).to.equal(Buffer.from(history.head.hash).toString('hex'));
    expect(await verify(files)).to.deep.equal({
      [ALPHA]: digestOfKeys('SET a 2'),
      [BETA]: digestOfKeys('SET b 1'),
    });
  });

  it('has the whole journal where there is no snapshot, and omits a shard without entries', async () => {
    const world = new MemoryInstallation(2, 1);
    const history = world.history('KV_1');
    await history.claim();
    await history.batch({ [ALPHA]: ['SET a 1'] });
    const files = new MemoryFiles();
    const manifest = await world.backup(files);
    expect(shardOf(manifest, 'KV_1')).to.include({ snapshot: null, from: 1, to: 2 });
    expect(shardOf(manifest, 'KV_0')).to.include({ snapshot: null, from: 1, to: 0 });
    expect(shardOf(manifest, 'KV_0').head.number).to.equal(0);
    expect(await verify(files)).to.deep.equal({ [ALPHA]: digestOfKeys('SET a 1') });
  });

  it('ends at the last complete entry where an owner died inside a chunk set', async () => {
    const { world, history } = await kvWorld();
    await history.abandon(effects(`SET large ${'x'.repeat(900)}`), 3);
    expect(history.lastPosition).to.equal(history.head.position + 3);
    const files = new MemoryFiles();
    const { to } = shardOf(await world.backup(files), 'KV_0');
    expect(to).to.equal(history.head.position);
    expect((await verify(files))[ALPHA]).to.equal(digestOfKeys('SET a 2'));
  });

  it('has entries in chunks, with incomplete chunk sets among them', async () => {
    const { world, history } = await kvWorld();
    await history.abandon(effects(`SET lost ${'x'.repeat(900)}`), 2);
    await history.claim();
    const large = `SET large ${'y'.repeat(2000)}`;
    await history.batch({ [ALPHA]: [large] });
    const files = new MemoryFiles();
    await world.backup(files);
    expect((await verify(files))[ALPHA]).to.equal(digestOfKeys('SET a 2', large));
  });

  it('has no entry of a shard after the position that was fixed at its start', async () => {
    const { world, history } = await kvWorld();
    const { memoryJournal } = world;
    let hasWritten = false;
    world.journal = onRead(memoryJournal, async (shard) => {
      if (shard !== 'KV_0' || hasWritten) return;
      hasWritten = true;
      await history.batch({ [ALPHA]: ['SET a late'] });
    });
    const files = new MemoryFiles();
    await world.backup(files);
    expect(hasWritten).to.equal(true);
    expect((await verify(files))[ALPHA]).to.equal(digestOfKeys('SET a 2'));
  });

  it('copies a shard again when its snapshot is deleted during the copy', async () => {
    const { world, history } = await kvWorld();
    let sweeps = 0;
    world.objects = onGet(world.memoryObjects, async (name) => {
      if (!name.includes('/segment/') || sweeps > 1) return;
      sweeps += 1;
      // Two further snapshots, after which the first one is removed.
      for (let i = 0; i < 2; i += 1) {
        await history.batch({ [ALPHA]: [`SET sweep ${sweeps}.${i}`], [BETA]: [`SET sweep ${sweeps}.${i}`] });
        await world.compact(history);
      }
    });
    const files = new MemoryFiles();
    const manifest = await world.backup(files);
    expect(sweeps).to.equal(2);
    expect(await verify(files)).to.deep.equal({
      [ALPHA]: digestOfKeys('SET a 2', 'SET sweep 2.1'),
      [BETA]: digestOfKeys('SET b 1', 'SET sweep 2.1'),
    });
    // No file of the earlier tries is left.
    expect([...files.files.keys()].sort()).to.deep.equal(
      [...filesOf(manifest).map(({ name }) => name), 'manifest.json'].sort(),
    );
  });

  it('has every record of an intake that is truncated while it is read', async () => {
    const world = new MemoryInstallation(1, 1);
    for (let n = 1; n <= 5; n += 1) await world.put('INTAKE_0', Buffer.from(`record ${n}`));
    const { memoryJournal } = world;
    let trims = 0;
    world.journal = onRead(memoryJournal, async (shard) => {
      if (shard !== 'INTAKE_0' || trims > 0) return;
      trims += 1;
      await memoryJournal.truncateFront(shard, 3);
    });
    const { intakes } = await world.backup(new MemoryFiles());
    expect(trims).to.equal(1);
    expect(intakes[0]).to.include({ from: 3, to: 5 });
  });

  it('has a record that an owner takes over from its intake during the copy in one of the two (CB2)', async () => {
    const BODY = 'a record that is taken over';
    for (const when of ['INTAKE_0', 'QUEUE_0', 'KV_0']) {
      const { world, history } = await kvWorld();
      const queue = world.history('QUEUE_0');
      await queue.claim();
      for (const body of [BODY, 'another']) await world.put('INTAKE_0', Buffer.from(body));
      const { memoryJournal } = world;
      let isTaken = false;
      world.journal = onRead(memoryJournal, async (shard) => {
        if (shard !== when || isTaken) return;
        isTaken = true;
        await queue.batch({ [BETA]: ['SET taken 1'] });
        await memoryJournal.truncateFront('INTAKE_0' as ShardName, 2);
      });
      const files = new MemoryFiles();
      const manifest = await world.backup(files);
      expect(isTaken, when).to.equal(true);
      const isInIntake = [...files.files].some(([name, bytes]) => name.startsWith('INTAKE_0/') && bytes.includes(BODY));
      const isInQueue = shardOf(manifest, 'QUEUE_0').to === queue.head.position;
      expect(isInIntake || isInQueue, when).to.equal(true);
      expect(history.head.number).to.equal(3);
    }
  });

  it('has every record of the meter that the control state has counted, and the earlier statistics (CB3)', async () => {
    const { world } = await kvWorld();
    const control = world.history('CONTROL');
    await control.claim();
    await world.put('METER', Buffer.from('record 1'));
    const order: string[] = [];
    world.journal = onRead(world.memoryJournal, async (shard) => {
      if (order.at(-1) !== shard) order.push(shard);
      // The entry is counted as late as possible: while the control state is copied.
      if (shard === 'CONTROL' && !order.includes('counted')) {
        order.push('counted');
        await world.put('METER', Buffer.from('record 2'));
      }
    });
    const { list } = world.memoryObjects;
    world.objects = Object.assign(Object.create(world.memoryObjects) as ObjectStore, {
      list: (prefix: string) => {
        if (prefix.startsWith('statistics/')) order.push('statistics');
        return list.call(world.memoryObjects, prefix);
      },
    });
    const { meter } = await world.backup(new MemoryFiles());
    expect(meter).to.include({ from: 1, to: 2 });
    expect(order.slice(order.indexOf('CONTROL'))).to.deep.equal(
      ['CONTROL', 'counted', 'CONTROL', 'statistics', 'METER'].filter(
        (_, at) => at !== 2 || order.filter((shard) => shard === 'CONTROL').length > 1,
      ),
    );
  });

  it('fails without a manifest when an object of the installation does not read back', async () => {
    const { world } = await kvWorld();
    const [segment] = await world.memoryObjects.list('KV_0/segment/');
    world.memoryObjects.damage(segment?.name ?? '');
    const files = new MemoryFiles();
    const error = await world.backup(files).catch((cause: unknown) => cause);
    expect(isMillraceError(error, 'JOURNAL_DAMAGED')).to.equal(true);
    expect(files.files.has('manifest.json')).to.equal(false);
  });

  it('refuses a journal of another installation', async () => {
    const world = new MemoryInstallation(1, 1, 'another-cluster');
    await world.history('KV_0').claim();
    const error = await world.backup(new MemoryFiles()).catch((cause: unknown) => cause);
    expect(isMillraceError(error, 'JOURNAL_DAMAGED')).to.equal(true);
  });
});

describe('backup: verify', () => {
  it('finds a changed bit in any file', async () => {
    const { world } = await kvWorld();
    await world.put('METER', Buffer.from('a record'));
    const files = new MemoryFiles();
    const manifest = await world.backup(files);
    expect(filesOf(manifest)).to.have.length(3);
    for (const { name, bytes } of filesOf(manifest)) {
      const whole = files.files.get(name) as Buffer;
      for (const at of [0, Math.floor(bytes / 2), bytes - 1]) {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] as number) ^ 4;
        files.files.set(name, damaged);
        const error = await verify(files).catch((cause: unknown) => cause);
        expect(isMillraceError(error, 'JOURNAL_DAMAGED'), `${name} at ${at}`).to.equal(true);
        expect(String(error)).to.contain(name);
      }
      files.files.set(name, whole);
    }
    await verify(files);
  });

  it('finds a missing file', async () => {
    const { world } = await kvWorld();
    const files = new MemoryFiles();
    await world.backup(files);
    files.files.delete('KV_0/entries-00000');
    const error = await verify(files).catch((cause: unknown) => cause);
    expect(String(error)).to.contain('KV_0/entries-00000');
  });

  it('holds one partition and the effects of one step in memory, and reads the entries again for each step (FB3)', async () => {
    const world = new MemoryInstallation(1, 1);
    const history = world.history('KV_0');
    await history.claim();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `kv:db-${id.repeat(16)}:0` as PartitionName);
    for (const name of names) {
      for (let i = 0; i < 5; i += 1) await history.batch({ [name]: [`SET k${i} ${'x'.repeat(60)}`] });
    }
    const files = new MemoryFiles();
    const backup = shardOf(await world.backup(files), 'KV_0');
    const { read } = files;
    let reads = 0;
    files.read = (name) => {
      if (name.startsWith('KV_0/entries-')) reads += 1;
      return read.call(files, name);
    };
    let inWork = 0;
    let applied = 0;
    const appliedByRead = new Map<number, number>();
    const planes = {
      ...BODY_PLANES,
      fold: () => {
        expect(inWork).to.equal(0);
        inWork += 1;
        const fold = replayFold();
        const { apply } = fold;
        fold.apply = (bytes) => {
          applied += bytes.length;
          appliedByRead.set(reads, (appliedByRead.get(reads) ?? 0) + bytes.length);
          apply.call(fold, bytes);
        };
        return fold;
      },
    };
    const options = { files, clusterId: CLUSTER, planes, log: silentLog, isOfThisRelease: true };
    const found: PartitionName[] = [];
    // Two partitions fit into a step.
    for await (const { name } of foldBackup(backup, { ...options, stepBytes: 1000 })) {
      found.push(name);
      inWork -= 1;
    }
    expect(found).to.deep.equal(names);
    expect(applied).to.be.within(2000, 3000);
    expect(Math.max(...appliedByRead.values())).to.be.below(1000);
    // One read follows the chain, and each step has another.
    expect(reads).to.equal(1 + appliedByRead.size);
    expect(appliedByRead.size).to.equal(3);
  });

  it('computes the state of a snapshot instead of trusting it', async () => {
    const { world } = await kvWorld();
    const files = new MemoryFiles();
    await world.backup(files);
    const forgetful = {
      ...BODY_PLANES,
      fold: (name: PartitionName) => Object.assign(BODY_PLANES.fold(name), { digest: () => 'another' }),
    };
    const error = await verify(files, forgetful).catch((cause: unknown) => cause);
    expect(String(error)).to.contain('a snapshot loads to another state');
    // Another release may write states in another form: that is a warning, not damage.
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (event: string, fields?: LogFields) => warned.push([event, fields]) };
    await verify(files, forgetful, { release: '0.0.1-other', log });
    expect(warned).to.deep.equal([ALPHA, BETA].map((partition) => ['backup.other-digest', { partition }]));
  });
});

function onRead(journal: Journal, before: (shard: ShardName) => Promise<void>): Journal {
  return Object.assign(Object.create(journal) as Journal, {
    async *read(shard: ShardName, from: number, to: number) {
      await before(shard);
      yield* journal.read(shard, from, to);
    },
  });
}

function onGet(objects: ObjectStore, before: (name: string) => Promise<void>): ObjectStore {
  return Object.assign(Object.create(objects) as ObjectStore, {
    async get(name: string) {
      await before(name);
      return objects.get(name);
    },
  });
}
