/** The result of a restore: the same states in other shards, and journals that owners continue. Proves RB1–RB6. */
import { expect } from 'chai';
import { ControlFold } from '../../../src/actors/control/index.js';
import { QueuePartitionFold } from '../../../src/actors/queue/index.js';
import { encodeControlEvent } from '../../../src/codec/control/index.js';
import { encodeEntry, hashSection, sha256 } from '../../../src/codec/envelope/index.js';
import { encodeIntakeRecord, encodeQueueEvent } from '../../../src/codec/queue/index.js';
import { BodyReader, recover, SnapshotStore, verifyShard } from '../../../src/journal/index.js';
import { type AccountId, isMillraceError, type PartitionName, type ShardName } from '../../../src/kernel/index.js';
import { intakeOf, parseQueuePartition, shardOf } from '../../../src/protocol/index.js';
import { BACKUP_PLANES } from '../../../src/replay/backup-planes.js';
import { ALPHA, BETA, effects, type ShardHistory } from '../../spec/journal/shard-history.js';
import { bodiesPut } from '../../support/body-fold.js';
import { messageItem } from '../../support/queue-shard-stand.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';
import { BODY_PLANES, MemoryFiles, MemoryInstallation, verify } from './stand.js';

const GAMMA = 'kv:db-cccccccccccccccc:0' as PartitionName;
const QUEUE = 'queue:ac-aaaaaaaaaaaaaaaa' as PartitionName;
const ACCOUNT = parseQueuePartition(QUEUE);

/** Each partition in the shard it belongs to, half of them in a snapshot. */
async function writtenWorld(kvShards: number): Promise<MemoryInstallation> {
  const world = new MemoryInstallation(kvShards, 1);
  const histories = new Map<string, ShardHistory>();
  for (const [n, partition] of [ALPHA, BETA, GAMMA].entries()) {
    const shard = shardOf('kv', partition, kvShards);
    const history = histories.get(shard) ?? world.history(shard);
    if (!histories.has(shard)) await history.claim();
    histories.set(shard, history);
    await history.batch({ [partition]: [`SET key ${n}`, `RPUSH list ${'x'.repeat(90)} ${'y'.repeat(90)}`] });
    if (n !== 1) await world.compact(history);
    await history.batch({ [partition]: [`SET late ${n}`] });
  }
  return world;
}

async function backedUp(world: MemoryInstallation): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  await world.backup(files);
  return files;
}

describe('backup: restore', () => {
  for (const [before, after] of [
    [3, 3],
    [3, 1],
    [1, 5],
  ] as const) {
    it(`gives the same states in ${after} shards as in ${before}`, async () => {
      const files = await backedUp(await writtenWorld(before));
      const target = new MemoryInstallation(after, 2, 'new-cluster');
      const { digests, shards } = await target.restore(files);
      expect(digests).to.deep.equal(await verify(files));
      expect(Object.keys(digests)).to.have.length(3);
      for (const partition of [ALPHA, BETA, GAMMA]) {
        const shard = shardOf('kv', partition, after);
        expect(shards.map((restored) => restored.shard)).to.include(shard);
        const stored = await new SnapshotStore(target.objects, silentLog).newest(shard);
        const placed = stored?.manifest.partitions.find(({ name }) => name === partition);
        expect(placed?.digest).to.equal(digests[partition]);
      }
    });
  }

  it('writes valid journals that start after their snapshot, and can be claimed and continued', async () => {
    const source = await writtenWorld(1);
    const target = new MemoryInstallation(1, 1, 'new-cluster');
    await target.restore(await backedUp(source));
    const shard = 'KV_0' as ShardName;
    const { first, last } = await target.journal.tail(shard);
    expect([first, last]).to.deep.equal([2, 2]);
    const audit = await verifyShard({ journal: target.journal, objects: target.objects, log: silentLog }, shard);
    expect(audit.findings).to.deep.equal([]);
    expect(audit.anchoredBy).to.equal('snapshot');

    // Acts as the next owner: a claim, and a section that follows the last one of the backup.
    const stored = await new SnapshotStore(target.objects, silentLog).newest(shard);
    const alpha = stored?.manifest.partitions.find(({ name }) => name === ALPHA);
    expect(alpha?.index).to.equal(2);
    const { head } = audit;
    const origin = { shard, epoch: head.epoch + 1, writer: new Uint8Array(16), clockMs: head.clockMs };
    const claim = { ...origin, number: 3, previousHash: head.hash };
    const bytes = encodeEntry({ ...claim, body: { kind: 'claim', clusterId: 'new-cluster' } });
    await target.put(shard, bytes);
    const section = {
      partition: ALPHA,
      index: 3,
      previousHash: alpha?.hash ?? new Uint8Array(),
      effects: effects('SET on 1'),
    };
    const hash = sha256(bytes);
    const body = { kind: 'batch', commandIds: [], sections: [section] } as const;
    const batch = encodeEntry({ ...origin, number: 4, previousHash: hash, body });
    await target.put(shard, batch);
    const end = { number: 4, hash: sha256(batch), ...origin, position: 4 };
    const ports = { journal: target.journal, objects: target.objects, log: silentLog };
    const recovered = recover(ports, shard, end, undefined);
    const kinds: string[] = [];
    for await (const step of recovered.steps) {
      kinds.push(...(step.kind === 'entries' ? step.reads.map(({ entry }) => entry.body.kind) : [step.kind]));
    }
    expect(kinds).to.deep.equal(['manifest', 'snapshot', 'claim', 'batch']);
    const link = new Map(recovered.links()).get(ALPHA);
    expect(link?.number).to.equal(3);
    expect(Buffer.from(link?.hash ?? [])).to.deep.equal(Buffer.from(hashSection(section)));
  });

  it('starts in an epoch above every old one, with a clock that never goes back', async () => {
    const source = new MemoryInstallation(1, 1);
    const history = source.history('KV_0');
    history.epoch = 41;
    history.clockMs = Date.now() + 3_600_000;
    await history.claim();
    await history.batch({ [ALPHA]: ['SET a 1'] });
    const target = new MemoryInstallation(1, 1, 'new-cluster');
    const { shards } = await target.restore(await backedUp(source));
    expect(shards[0]?.epoch).to.equal(1042);
    const stored = await new SnapshotStore(target.objects, silentLog).newest('KV_0' as ShardName);
    expect(stored?.manifest.head.clockMs).to.equal(history.clockMs);
  });

  it('is refused in a used installation, and then writes no byte', async () => {
    const files = await backedUp(await writtenWorld(1));
    for (const shard of ['KV_1', 'QUEUE_0', 'INTAKE_0', 'METER', 'CONTROL']) {
      const target = new MemoryInstallation(2, 1, 'new-cluster');
      await target.put(shard, Buffer.from('something'));
      const error = await target.restore(files).catch((cause: unknown) => cause);
      expect(isMillraceError(error, 'CONFLICT'), shard).to.equal(true);
      expect(await target.objects.list('')).to.deep.equal([]);
    }
  });

  it('is refused when a file of the backup was changed, and then writes no byte', async () => {
    const files = await backedUp(await writtenWorld(1));
    const name = 'KV_0/objects-00000';
    const whole = files.files.get(name) as Buffer;
    whole[whole.length - 3] = (whole[whole.length - 3] as number) ^ 1;
    const target = new MemoryInstallation(1, 1, 'new-cluster');
    const error = await target.restore(files).catch((cause: unknown) => cause);
    expect(isMillraceError(error, 'JOURNAL_DAMAGED')).to.equal(true);
    expect(await target.objects.list('')).to.deep.equal([]);
    expect((await target.journal.tail('KV_0' as ShardName)).last).to.equal(0);
  });

  it('can be backed up and restored again, with the same states', async () => {
    const files = await backedUp(await writtenWorld(2));
    const second = new MemoryInstallation(2, 1, 'second');
    const { digests } = await second.restore(files);
    const again = await backedUp(second);
    expect(await verify(again)).to.deep.equal(digests);
    expect((await new MemoryInstallation(2, 1, 'third').restore(again)).digests).to.deep.equal(digests);
  });
});

describe('backup: bodies of a state', () => {
  it('are included, from the snapshot and from entries, through two restores', async () => {
    const world = new MemoryInstallation(1, 3);
    const history = world.history(shardOf('queue', QUEUE, 3));
    await history.claim();
    const put = (from: number, to: number) =>
      history.batch({
        [QUEUE]: Array.from({ length: to - from + 1 }, (_, i) => ['PUT', String(from + i), contentOf(from + i)]),
      });
    await put(1, 20);
    await world.compact(history);
    // Less than half of the first segment is needed, the second is copied whole, and more entries follow the snapshot.
    await history.batch({ [QUEUE]: [1, 2, 3, 4, 5, 6].map((number) => `DROP ${number}`) });
    await put(21, 25);
    const numbers = Array.from({ length: 19 }, (_, i) => i + 7);

    let files = await backedUp(world);
    const digests = await verify(files);
    for (const [queueShards, cluster] of [
      [2, 'second'],
      [2, 'third'],
    ] as const) {
      const target = new MemoryInstallation(1, queueShards, cluster);
      expect((await target.restore(files)).digests).to.deep.equal(digests);
      const ports = { journal: target.journal, objects: target.objects, timers: realTime, log: silentLog };
      const reader = new BodyReader(ports, bodiesPut);
      const shard = shardOf('queue', QUEUE, queueShards);
      for (const number of numbers) {
        const body = await reader.read(shard, QUEUE, number, undefined);
        expect(Buffer.from(body).toString()).to.equal(contentOf(number));
      }
      files = await backedUp(target);
    }
  });
});

function contentOf(number: number): string {
  return `body ${number}`.padEnd(10);
}

describe('backup: logs besides the journals', () => {
  const other = 'ac-bbbbbbbbbbbbbbbb' as AccountId;
  const record = (account: AccountId, n: number) => encodeIntakeRecord({ account, items: [messageItem(n, 'a')] });

  it('give an intake only the records that its account has not taken, and unreadable ones', async () => {
    const world = new MemoryInstallation(1, 1);
    const history = world.history('QUEUE_0');
    await history.claim();
    const taken = encodeQueueEvent({ type: 'IntakeTaken', position: 2, atMs: history.clockMs });
    const section = history.section(QUEUE, taken);
    await history.append({ kind: 'batch', commandIds: [], sections: [section] });
    const records = [record(ACCOUNT, 1), record(ACCOUNT, 2), record(other, 3), Buffer.from('?'), record(ACCOUNT, 5)];
    for (const bytes of records) await world.put('INTAKE_0', bytes);
    const files = await backedUp(world);
    const target = new MemoryInstallation(1, 4, 'new-cluster');
    const { digests } = await target.restore(files, BACKUP_PLANES);
    expect(digests).to.deep.equal(await verify(files, BACKUP_PLANES));

    const kept: Record<string, string[]> = {};
    for (const intake of target.installation.intakes) {
      const { first, last } = await target.journal.tail(intake);
      for await (const { bytes } of target.journal.read(intake, first, last)) {
        kept[intake] = [...(kept[intake] ?? []), Buffer.from(bytes).toString('hex')];
      }
    }
    const expected: Record<string, string[]> = {};
    for (const [intake, bytes] of [
      [intakeOf(shardOf('queue', `queue:${other}` as PartitionName, 4)), record(other, 3)],
      ['INTAKE_0', Buffer.from('?')],
      [intakeOf(shardOf('queue', QUEUE, 4)), record(ACCOUNT, 5)],
    ] as const) {
      expected[intake] = [...(expected[intake] ?? []), Buffer.from(bytes).toString('hex')];
    }
    expect(kept).to.deep.equal(expected);

    // And its position means the new log.
    const shard = shardOf('queue', QUEUE, 4);
    const store = new SnapshotStore(target.objects, silentLog);
    const stored = await store.newest(shard);
    const fold = new QueuePartitionFold();
    const placed = stored?.manifest.partitions.find(({ name }) => name === QUEUE);
    if (placed === undefined) throw new Error('the queue is not in its shard');
    await store.loadWhole(placed, fold);
    expect(fold.engine.intakePosition).to.equal(0);
  });

  it('continue the numbers of the meter log after a truncated front', async () => {
    const world = new MemoryInstallation(1, 1);
    for (let n = 1; n <= 6; n += 1) await world.put('METER', Buffer.from(`record ${n}`));
    await world.memoryJournal.truncateFront('METER' as ShardName, 3);
    const history = world.history('CONTROL');
    await history.claim();
    const folded = encodeControlEvent({ type: 'MeterFolded', position: 5, marks: [], rows: [] });
    const section = history.section('control' as PartitionName, folded);
    await history.append({ kind: 'batch', commandIds: [], sections: [section] });
    const files = await backedUp(world);
    const target = new MemoryInstallation(1, 1, 'new-cluster');
    const { digests } = await target.restore(files, BACKUP_PLANES);
    expect(digests).to.deep.equal(await verify(files, BACKUP_PLANES));
    const texts: string[] = [];
    for await (const { bytes } of target.journal.read('METER' as ShardName, 1, 4))
      texts.push(Buffer.from(bytes).toString());
    expect(texts).to.deep.equal(['record 3', 'record 4', 'record 5', 'record 6']);
    const store = new SnapshotStore(target.objects, silentLog);
    const stored = await store.newest('CONTROL' as ShardName);
    const fold = new ControlFold();
    for await (const bytes of store.segmentBytes(stored?.manifest.partitions[0] as never)) fold.apply(bytes);
    // Three of the four are counted.
    expect(fold.state.meterPosition).to.equal(3);
  });

  it('accept a plane without them', () => {
    expect(BODY_PLANES.rebased(BODY_PLANES.fold(ALPHA), { meterFrom: 1 })).to.equal(undefined);
  });
});
