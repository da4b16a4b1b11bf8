/** A continuous copy: full backups with rounds, their moments, and processes that end on the way. Proves CC1–CC4, CRN1–CRN3, MOC1, MOC2, RMF1, RMF2. */
import { expect } from 'chai';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import { sealedForReading, sealedForWriting } from '../../../src/adapters/node/index.js';
import {
  backupAt,
  ContinuousCopy,
  type CopyNews,
  checkFiles,
  foldersIn,
  verifyBackup,
} from '../../../src/journal/backup/index.js';
import { ALPHA, CLUSTER, effects, type ShardHistory } from '../../spec/journal/shard-history.js';
import { ManualTime } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';
import { BODY_PLANES, MemoryInstallation, MemoryPlace } from './stand.js';

const START_MS = 1_790_000_000_000;
const HOUR_MS = 3_600_000;
const TIMES = { roundMs: 5_000, fullMs: 24 * HOUR_MS, keepMs: 48 * HOUR_MS };
const KEY = Buffer.alloc(32, 3).toString('base64');

class Stand {
  readonly time = new ManualTime(START_MS);
  readonly world = new MemoryInstallation(1, 1, CLUSTER, this.time);
  readonly place = new MemoryPlace();
  readonly kv: ShardHistory = this.world.history('KV_0', 200);
  readonly news: CopyNews[] = [];
  key: string | undefined;
  #ids = 0;

  copier(world = this.world): ContinuousCopy {
    const { journal, objects, installation } = world;
    const random = this.random();
    return new ContinuousCopy(
      {
        source: { journal, objects, clock: this.time, log: silentLog },
        installation,
        maker: { madeBy: '0.0.0-test', keyId: 'abcdef012345' },
        place: this.place,
        random,
        timers: this.time,
        seal: (files) => sealedForWriting(files, this.key, random),
        open: (files) => sealedForReading(files, this.key, random),
        check: async () => undefined,
      },
      TIMES,
      (news) => this.news.push(news),
    );
  }

  /** Different bytes each time, as a process has them. */
  random() {
    return {
      bytes: (count: number) => {
        this.#ids += 1;
        return new Uint8Array(count).map((_, at) => (this.#ids * 31 + at) % 256);
      },
      float: () => 0,
    };
  }

  /** A write of the database, a second later. */
  async write(...commands: readonly string[]): Promise<number> {
    await this.time.advance(1_000);
    this.kv.clockMs = this.time.nowMs();
    await this.kv.batch({ [ALPHA]: commands });
    return this.kv.clockMs;
  }

  async round(copier: ContinuousCopy): Promise<void> {
    await this.time.advance(1_000);
    expect(await copier.attempt()).to.equal(undefined);
  }

  /** The digest of a partition in the copy, verified as `millrace backup verify` does. */
  async digest(atMs?: number, partition: string = ALPHA): Promise<string | undefined> {
    const found = new Map<string, string>();
    const open = (files: Parameters<typeof sealedForReading>[0]) => sealedForReading(files, this.key, this.random());
    const { files, manifest } = await backupAt(this.place, open, atMs);
    await checkFiles(files, manifest);
    const reader = { files, planes: BODY_PLANES, log: silentLog, release: '0.0.0-test' };
    await verifyBackup(reader, manifest, ({ partition: name, digest }) => found.set(name, digest));
    return found.get(partition);
  }
}

function digestOf(...commands: readonly string[]): string {
  const fold = replayFold();
  fold.apply(effects(...commands));
  return fold.digest();
}

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => (error as Error).message,
  );
}

describe('backup: a continuous copy', () => {
  let stand: Stand;

  beforeEach(async () => {
    stand = new Stand();
    stand.kv.clockMs = START_MS;
    await stand.kv.claim();
    await stand.write('SET a 1');
  });

  it('begins with a full backup, and has later writes after each round', async () => {
    const copier = stand.copier();
    await stand.round(copier);
    expect(await stand.digest()).to.equal(digestOf('SET a 1'));
    await stand.write('SET a 2', `SET large ${'x'.repeat(900)}`);
    await stand.write('SET b 1');
    await stand.round(copier);
    expect(await stand.digest()).to.equal(digestOf('SET a 2', `SET large ${'x'.repeat(900)}`, 'SET b 1'));
    expect(stand.news.at(-1)).to.include({ untilMs: stand.time.nowMs(), failure: undefined });
  });

  it('has every moment since the full backup, within a round and between two', async () => {
    const copier = stand.copier();
    await stand.round(copier);
    const moments: number[] = [];
    for (let value = 2; value <= 9; value += 1) {
      moments.push(await stand.write(`SET a ${value}`));
      if (value % 3 === 0) await stand.round(copier);
    }
    for (const [index, atMs] of moments.entries()) {
      expect(await stand.digest(atMs), 'at the entry').to.equal(digestOf(`SET a ${index + 2}`));
      expect(await stand.digest(atMs - 1), 'before it').to.equal(digestOf(`SET a ${index + 1}`));
    }
    const message = await failure(stand.digest(stand.time.nowMs() + 1));
    expect(message).to.match(/^no backup has that moment: there are moments from 2026-\S+Z to 2026-\S+Z$/);
    expect(await failure(stand.digest(START_MS))).to.contain('no backup has that moment');
  });

  it('is encrypted with the key, and a copier with another key begins a folder', async () => {
    stand.key = KEY;
    const copier = stand.copier();
    await stand.round(copier);
    await stand.write('SET canary canary-of-a-value');
    await stand.round(copier);
    const shows = [...stand.place.files.files.values()].filter((bytes) => bytes.includes('canary'));
    expect(shows).to.deep.equal([]);
    expect(await stand.digest()).to.equal(digestOf('SET a 1', 'SET canary canary-of-a-value'));
    stand.key = Buffer.alloc(32, 4).toString('base64');
    await stand.round(stand.copier());
    expect(await foldersIn(stand.place)).to.have.length(2);
  });

  it('is continued by another process in the same folder', async () => {
    await stand.round(stand.copier());
    await stand.write('SET a 2');
    await stand.round(stand.copier());
    await stand.write('SET a 3');
    await stand.round(stand.copier());
    expect(await foldersIn(stand.place)).to.have.length(1);
    expect(await stand.digest()).to.equal(digestOf('SET a 3'));
  });

  it('is whole after two processes have copied at the same time (RMF2)', async () => {
    const [one, two] = [stand.copier(), stand.copier()];
    await stand.round(one);
    await stand.round(two);
    const second = await stand.write('SET a 2');
    await stand.round(one);
    const third = await stand.write('SET a 3');
    await stand.round(two);
    await stand.write('SET a 4');
    await stand.round(one);
    expect(await stand.digest()).to.equal(digestOf('SET a 4'));
    expect(await stand.digest(second)).to.equal(digestOf('SET a 2'));
    expect(await stand.digest(third)).to.equal(digestOf('SET a 3'));
  });

  it('has no round of a process that ended at any of its files, and continues after it', async () => {
    await stand.round(stand.copier());
    for (let written = 0; written < 3; written += 1) {
      const before = await stand.digest();
      await stand.write(`SET a after-${written}`);
      stand.place.failAfter = written;
      await stand.time.advance(1_000);
      // The last file is the manifest; two files are a whole round.
      if (written < 2) {
        expect(await stand.copier().attempt()).to.equal('the connection ended');
        stand.place.failAfter = undefined;
        expect(await stand.digest()).to.equal(before);
      }
      stand.place.failAfter = undefined;
      await stand.round(stand.copier());
      expect(await stand.digest()).to.equal(digestOf(`SET a after-${written}`));
    }
  });

  it('reports a failure, and has the writes of that time after the next round', async () => {
    const copier = stand.copier();
    await stand.round(copier);
    const untilMs = stand.news.at(-1)?.untilMs;
    stand.place.failAfter = 0;
    for (const value of [2, 3]) {
      await stand.write(`SET a ${value}`);
      expect(await copier.attempt()).to.equal('the connection ended');
      expect(stand.news.at(-1)).to.deep.include({ untilMs, failure: 'the connection ended' });
    }
    stand.place.failAfter = undefined;
    await stand.round(copier);
    expect(stand.news.at(-1)).to.include({ untilMs: stand.time.nowMs(), failure: undefined });
    expect(await stand.digest()).to.equal(digestOf('SET a 3'));
  });

  it('begins another full backup when the front of a journal was removed before it was copied (CRN3)', async () => {
    const copier = stand.copier();
    await stand.round(copier);
    for (const value of [2, 3, 4]) {
      await stand.write(`SET a ${value}`);
      await stand.world.compact(stand.kv);
    }
    const { first } = await stand.world.memoryJournal.tail(stand.kv.shard);
    expect(first).to.be.greaterThan(3);
    expect(await copier.attempt()).to.match(/^KV_0: the copy ends at position 2, and the journal has positions/);
    await stand.round(copier);
    expect(await foldersIn(stand.place)).to.have.length(2);
    expect(await stand.digest()).to.equal(digestOf('SET a 4'));
  });

  it('has acknowledged messages of an intake, also after their owner has accepted and removed some', async () => {
    const copier = stand.copier();
    await stand.round(copier);
    const intake = 'INTAKE_0';
    const has = async () => {
      const { manifest } = await backupAt(stand.place, async (files) => files, undefined);
      return manifest.intakes.map(({ from, to }) => `${from}-${to}`);
    };
    for (const text of ['one', 'two']) await stand.world.put(intake, Buffer.from(text));
    await stand.round(copier);
    expect(await has()).to.deep.equal(['1-2']);
    for (const text of ['three', 'four', 'five']) await stand.world.put(intake, Buffer.from(text));
    await stand.world.memoryJournal.truncateFront(stand.world.installation.intakes[0] as typeof stand.kv.shard, 4);
    await stand.round(copier);
    expect(await has()).to.deep.equal(['1-2', '4-5']);
  });

  it('makes a full backup each day, keeps two days, and removes only what it made (CC3)', async () => {
    const copier = stand.copier();
    await stand.round(copier);
    const other = 'other-20200101T000000Z-aa/manifest.json';
    await stand.place.files.write(other, (async function* () {})());
    const counts: number[] = [];
    for (let day = 1; day <= 5; day += 1) {
      await stand.time.advance(24 * HOUR_MS);
      await stand.write(`SET day ${day}`);
      await stand.round(copier);
      await stand.round(copier);
      await stand.time.advance(HOUR_MS);
      await stand.round(copier);
      counts.push((await foldersIn(stand.place)).filter(({ clusterId }) => clusterId === CLUSTER).length);
    }
    expect(counts).to.deep.equal([2, 3, 3, 3, 3]);
    expect(stand.place.files.files.has(other)).to.equal(true);
    await stand.place.files.removeAll('other-20200101T000000Z-aa/');
    const kept = stand.time.nowMs() - TIMES.keepMs;
    expect(await stand.digest(kept)).to.equal(digestOf('SET a 1', 'SET day 3'));
    expect(await stand.digest()).to.equal(digestOf('SET a 1', 'SET day 5'));
  });

  it('is no backup after a removal that was interrupted, and the next copier removes the rest', async () => {
    await stand.round(stand.copier());
    const [first] = await foldersIn(stand.place);
    stand.place.files.files.delete(`${first?.folder}/manifest.json`);
    expect(await failure(stand.digest())).to.equal('memory has no complete backup');
    await stand.time.advance(25 * HOUR_MS);
    await stand.round(stand.copier());
    expect((await foldersIn(stand.place)).map(({ folder }) => folder)).to.not.include(first?.folder);
    expect(await stand.digest()).to.equal(digestOf('SET a 1'));
  });

  it('names a file that was changed, or lacks', async () => {
    const copier = stand.copier();
    await stand.round(copier);
    await stand.write('SET a 2');
    await stand.round(copier);
    const { files } = stand.place.files;
    const [name] = [...files.keys()].filter((path) => path.includes('/KV_0/later-'));
    if (name === undefined) throw new Error('no round has a file of the journal');
    const bytes = files.get(name) as Buffer;
    const own = name.slice(name.indexOf('/') + 1);
    files.set(name, Buffer.from(bytes).fill(0, 20, 21));
    expect(await failure(stand.digest())).to.equal(`${own} of the backup was changed after it was written`);
    files.delete(name);
    expect(await failure(stand.digest())).to.equal(`${own} of the backup is missing`);
  });

  it('of several installations in one place names their folders', async () => {
    await stand.round(stand.copier());
    const another = new MemoryInstallation(1, 1, 'another', stand.time);
    await stand.round(stand.copier(another));
    expect(await failure(stand.digest())).to.match(
      /^memory has backups of 2 installations: add a folder, such as another-\S+ or cluster-for-tests-\S+$/,
    );
  });
});
