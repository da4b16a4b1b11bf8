/** A kept state replaces that of a database: one entry, which all listeners hear of. Proves RPL1–RPL3, KS1, KS2. */
import { expect } from 'chai';
import { type KvWork, MAX_REPLACEMENT_BYTES, replayFold } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import type { ReadEntry } from '../../../src/codec/envelope/index.js';
import { encodeManifest, sha256 } from '../../../src/codec/envelope/index.js';
import { keepStates, keptBackups, removeAllOf, removeKept } from '../../../src/journal/backup/index.js';
import { chainAfter, readEntries, SnapshotStore, verifyShard } from '../../../src/journal/index.js';
import { type BackupId, isMillraceError, type PartitionName } from '../../../src/kernel/index.js';
import type { ObjectStore } from '../../../src/ports/index.js';
import { KvShardStand, type Outcome, SHARD } from '../../support/kv-shard-stand.js';
import { silentLog } from '../../support/silent-log.js';

const BACKUP = 'moment-1' as BackupId;

describe('a kept state', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  let partition: PartitionName;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
    await run('SET kept 1', 'RPUSH list a b c', 'HSET hash f v', 'ZADD zset 1 m', 'XADD stream 1-1 f v');
    await run('CONFIG SET maxmemory-policy allkeys-lru');
    partition = [...planeOf(actor).loaded()][0]?.[0] as PartitionName;
  });

  const planeOf = (of: ShardActor<KvWork>) => stand.planes[stand.actors.indexOf(of)] as (typeof stand.planes)[number];
  const digestOf = (of: ShardActor<KvWork>) => [...planeOf(of).loaded()][0]?.[1].digest();

  async function run(...lines: string[]): Promise<Outcome> {
    const outcome = stand.send(actor, lines, 'pipeline');
    await stand.settle();
    return outcome;
  }

  async function result(line: string): Promise<unknown> {
    const { replies } = await run(line);
    return replies?.[0];
  }

  function keep(backup = BACKUP, objects: ObjectStore = stand.objects) {
    const { journal, time: clock } = stand;
    const request = { clusterId: 'cluster', backup, partitions: [partition], shards: [SHARD] };
    return keepStates({ journal, objects, clock, log: silentLog }, request, () => replayFold());
  }

  function replace(manifest: string | undefined): Outcome {
    return stand.ask(actor, { mode: 'replace', commands: [[manifest ?? '']], waiter: 'replace' });
  }

  async function replaced(manifest: string | undefined): Promise<Outcome> {
    const outcome = replace(manifest);
    // Reading objects takes turns of the event loop that no clock counts.
    for (let i = 0; i < 50 && outcome.replies === undefined && outcome.failure === undefined; i += 1) {
      await stand.settle();
    }
    return outcome;
  }

  async function batches(): Promise<ReadEntry[]> {
    const { last } = await stand.journal.tail(SHARD);
    const read: ReadEntry[] = [];
    for await (const entry of readEntries(stand.journal, chainAfter(SHARD, undefined), 1, last)) {
      if (entry.entry.body.kind === 'batch') read.push(entry);
    }
    return read;
  }

  it('includes all acknowledged writes, from a snapshot and the later entries', async () => {
    await stand.compact(actor);
    await run('SET later 2', 'DEL hash');
    const { manifests, bytes } = await keep();
    expect(manifests).to.deep.equal([`backup/${BACKUP}/0/manifest`]);
    expect(bytes).to.be.greaterThan(100);
    const live = digestOf(actor);
    await run('FLUSHALL');
    await replaced(manifests[0]);
    expect(digestOf(actor)).to.equal(live);
  });

  for (const [fault, change] of [
    ['is gone', () => undefined],
    ['has other bytes', (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1)],
  ] as const) {
    it(`has no manifest when a segment that was written for it ${fault} (KS2)`, async () => {
      const { objects } = stand;
      const calls: string[] = [];
      const isSegment = (name: string) => name === `backup/${BACKUP}/0/0`;
      const faulty: ObjectStore = {
        put: async (name, bytes) => {
          calls.push(`put ${name}`);
          await objects.put(name, bytes);
        },
        get: async (name) => {
          calls.push(`get ${name}`);
          const bytes = await objects.get(name);
          return bytes !== undefined && isSegment(name) ? change(bytes) : bytes;
        },
        list: (prefix) => objects.list(prefix),
        delete: (name) => objects.delete(name),
      };
      const failure = await keep(BACKUP, faulty).catch((error: unknown) => error);
      expect(isMillraceError(failure, 'JOURNAL_DAMAGED'), String(failure)).to.equal(true);
      expect(calls).to.include(`get backup/${BACKUP}/0/0`);
      expect(calls).not.to.include(`put backup/${BACKUP}/0/manifest`);
      expect([...(await keptBackups(objects))]).to.deep.equal([BACKUP]);
      // The next try overwrites the objects of this one.
      expect((await keep()).manifests).to.deep.equal([`backup/${BACKUP}/0/manifest`]);
    });
  }

  it('has no manifest when its segments give another state (KS2)', async () => {
    const { journal, objects, time: clock } = stand;
    const request = { clusterId: 'cluster', backup: BACKUP, partitions: [partition], shards: [SHARD] };
    let folds = 0;
    const changing = () => {
      const fold = replayFold();
      folds += 1;
      // Every second fold is loaded from the written objects.
      if (folds % 2 === 0) fold.digest = () => 'of another state';
      return fold;
    };
    const failure = await keepStates({ journal, objects, clock, log: silentLog }, request, changing).catch(
      (error: unknown) => error,
    );
    expect(isMillraceError(failure, 'JOURNAL_DAMAGED'), String(failure)).to.equal(true);
    expect(await objects.get(`backup/${BACKUP}/0/manifest`)).to.equal(undefined);
  });

  it('stays when snapshots are swept, until it is removed', async () => {
    const { manifests } = await keep();
    for (let n = 0; n < 3; n += 1) {
      await run(`SET n ${n}`);
      await stand.compact(actor);
    }
    expect(await stand.objects.list('backup/')).to.have.length(2);
    expect([...(await keptBackups(stand.objects))]).to.deep.equal([BACKUP]);
    await removeKept(stand.objects, manifests);
    await removeKept(stand.objects, manifests);
    expect(await stand.objects.list('backup/')).to.deep.equal([]);
    await keep('moment-2' as BackupId);
    await removeAllOf(stand.objects, 'moment-2' as BackupId);
    expect(await stand.objects.list('backup/')).to.deep.equal([]);
  });

  it('replaces the whole state in one entry, which replays to the same state', async () => {
    const { manifests } = await keep();
    await run('SET gone 1', 'RPUSH list d', 'DEL hash', 'CONFIG SET maxmemory 1000000');
    await run('FUNCTION LOAD x');
    const before = await batches();
    const outcome = await replaced(manifests[0]);
    expect(outcome.failure).to.equal(undefined);
    expect(outcome.replies?.[0]).to.have.property('text', 'OK');
    expect(await batches()).to.have.length(before.length + 1);
    expect(await result('DBSIZE')).to.equal(5);
    expect(await result('LRANGE list 0 -1')).to.deep.equal(['a', 'b', 'c']);
    expect(await result('GET gone')).to.equal(null);
    const live = digestOf(actor);

    const next = await stand.serving();
    expect(digestOf(next)).to.equal(live);
    actor = next;
    expect(await result('GET kept')).to.equal('1');
    const { findings } = await verifyShard({ journal: stand.journal, objects: stand.objects, log: silentLog }, SHARD);
    expect(findings).to.deep.equal([]);
  });

  it('needs none of its objects after it was restored, and is in the next snapshot', async () => {
    const { manifests } = await keep();
    await run('SET gone 1');
    await replaced(manifests[0]);
    await removeKept(stand.objects, manifests);
    await stand.compact(actor);
    const stored = await new SnapshotStore(stand.objects, silentLog).newest(SHARD);
    expect(stored?.manifest.partitions[0]?.digest).to.equal(digestOf(actor));
    const next = await stand.serving();
    actor = next;
    expect(await result('GET gone')).to.equal(null);
    expect(await result('GET kept')).to.equal('1');
  });

  it('removes parameters and libraries that it does not have', async () => {
    const { manifests } = await keep();
    await run('CONFIG SET maxmemory 1000000', 'CONFIG SET maxmemory-policy noeviction');
    const loaded = stand.ask(actor, {
      commands: [['FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('f', function() return 1 end)"]],
    });
    await stand.settle();
    expect(loaded.replies).to.deep.equal(['lib']);
    await replaced(manifests[0]);
    const live = digestOf(actor);
    for (const next of [actor, await stand.serving()]) {
      actor = next;
      expect(digestOf(next)).to.equal(live);
      const [, engine] = [...planeOf(next).loaded()][0] ?? [];
      expect(engine?.engine.libraries.size).to.equal(0);
      expect(engine?.engine.settings.number('maxmemory')).to.equal(0);
      expect(engine?.engine.settings.get('maxmemory-policy')).to.equal('allkeys-lru');
    }
  });

  it('lets the database run until it replaces the state, after earlier commands of the same entry', async () => {
    const { manifests } = await keep();
    let open: () => void = () => {};
    stand.keptGate = new Promise((resolve) => {
      open = resolve;
    });
    const outcome = replace(manifests[0]);
    await stand.settle();
    expect(await result('SET between 1')).to.have.property('text', 'OK');
    expect(outcome.replies).to.equal(undefined);

    // One entry is held, so that the later commands share the next entry.
    stand.journal.isOpen = false;
    const first = stand.send(actor, 'SET first 1');
    await stand.settle();
    const second = stand.send(actor, 'SET second 1');
    open();
    for (let i = 0; i < 50; i += 1) await stand.settle();
    expect([first.replies, second.replies, outcome.replies]).to.deep.equal([undefined, undefined, undefined]);
    stand.journal.isOpen = true;
    await stand.journal.held[0]?.ack();
    for (let i = 0; i < 5; i += 1) await stand.settle();
    for (const { replies } of [first, second, outcome]) expect(replies?.[0]).to.have.property('text', 'OK');
    const { body } = (await batches()).at(-1)?.entry ?? {};
    if (body?.kind !== 'batch') throw new Error('the last entry is no batch');
    const effects = Buffer.from(body.sections[0]?.effects ?? []).toString();
    expect(effects).to.match(/second[\s\S]*FLUSHALL[\s\S]*kept/);
    const live = digestOf(actor);
    expect(digestOf(await stand.serving())).to.equal(live);
  });

  it('wakes waiters of its keys, and aborts transactions that watch one', async () => {
    const { manifests } = await keep();
    await run('DEL list');
    const mark = stand.ask(actor, { mode: 'watch', commands: [['WATCH', 'kept']] });
    const client = { face: 'resp', protocol: 2, id: 'edge:1', address: '127.0.0.1:1', user: 'default' } as const;
    const waiting = stand.ask(actor, { commands: [['BLPOP', 'list', '0']], client, waiter: 'w1' });
    await stand.settle();
    expect(waiting.replies).to.equal(undefined);
    await replaced(manifests[0]);
    expect(waiting.replies).to.deep.equal([['list', 'a']]);
    const watches = [{ keys: ['kept'], mark: String(mark.replies?.[0]) }];
    const transaction = stand.ask(actor, { mode: 'transaction', commands: [['SET', 'kept', '9']], watches });
    await stand.settle();
    expect(transaction.isAborted).to.equal(true);
    expect(digestOf(actor)).to.equal(digestOf(await stand.serving()));
  });

  it('changes no data when it is gone, damaged or too large', async () => {
    const { manifests } = await keep();
    const live = digestOf(actor);
    expect((await replaced('backup/none/0/manifest')).failure).to.equal('NOT_FOUND');
    stand.objects.damage(`backup/${BACKUP}/0/0`);
    expect((await replaced(manifests[0])).failure).to.equal('JOURNAL_DAMAGED');
    const ref = { object: 'backup/large/0/0', bytes: MAX_REPLACEMENT_BYTES + 1, sha256: sha256(new Uint8Array()) };
    const head = { number: 1, hash: new Uint8Array(32), epoch: 1, clockMs: 0, position: 1 };
    const large = { name: partition, index: 1, hash: new Uint8Array(32), keys: 1, digest: '', segments: [ref] };
    const rest = { recentCommandIds: [], createdAtMs: 0, headStoredAtMs: 0, journalBytes: 0 };
    const manifest = encodeManifest({ shard: SHARD, clusterId: 'cluster', head, partitions: [large], ...rest });
    await stand.objects.put('backup/large/0/manifest', manifest);
    expect((await replaced('backup/large/0/manifest')).failure).to.equal('INVALID');
    expect(digestOf(actor)).to.equal(live);
    expect(await result('GET kept')).to.equal('1');
  });

  it('is refused while the disk is nearly full', async () => {
    const { manifests } = await keep();
    stand.storage.full = true;
    expect((await replaced(manifests[0])).failure).to.equal('STORAGE_FULL');
  });

  it('leaves the state unchanged when the owner ends while it is loaded', async () => {
    const { manifests } = await keep();
    const live = digestOf(actor);
    stand.keptGate = new Promise(() => {});
    const outcome = replace(manifests[0]);
    await stand.settle();
    const next = await stand.serving();
    await run('SET late 1');
    await stand.settle();
    expect(outcome.failure).to.be.oneOf(['NOT_APPLIED', 'FENCED', 'SHARD_UNAVAILABLE']);
    expect(digestOf(next)).to.equal(live);
  });
});
