/**
 * Snapshots keep the counts beyond the life of the file and of the front of the meter's log. Proves STS1–STS3, SM3,
 * SN1–SN3.
 */
import { expect } from 'chai';
import { StatisticsSnapshots, type StoredStatistics } from '../../../../src/journal/index.js';
import { type DatabaseId, isMillraceError } from '../../../../src/kernel/index.js';
import type { ObjectStore } from '../../../../src/ports/index.js';
import type { StatisticsModel } from '../../../../src/projections/index.js';
import { METER_SHARD, type SegmentRef, STATISTICS_TABLES } from '../../../../src/protocol/index.js';
import { eventually } from '../../../support/eventually.js';
import { MemoryObjectStore } from '../../../support/memory/index.js';
import {
  ACCOUNT,
  accepted,
  deadLettered,
  delivered,
  failed,
  QUEUE_SHARD,
  started,
} from '../../../support/message-log-stand.js';
import { silentLog } from '../../../support/silent-log.js';
import { DATABASE, HOUR, INDEX, kvRow, MINUTE, MONDAY, StatsStand, sum } from './stats-stand.js';

const OTHER = 'db-cccccccccccccccc' as DatabaseId;
/** Each further record causes a snapshot. */
const AT_ONCE = { maxAgeMs: 0, lookEveryMs: 5 };

describe('statistics in snapshots', () => {
  let stand: StatsStand;
  let loaded: number;

  beforeEach(() => {
    stand = new StatsStand();
    stand.nowMs = MONDAY + 10 * HOUR;
    stand.snapshots = AT_ONCE;
    loaded = 0;
  });
  afterEach(() => stand.end());

  /** Minutes with a few events of every kind; messages end after those of the next minute were accepted. */
  async function load(minutes: number): Promise<void> {
    for (const end = loaded + minutes; loaded < end; loaded += 1) {
      const atMs = MONDAY + 5 * HOUR + loaded * MINUTE;
      const row = {
        commands: 3,
        writes: 1,
        bytesIn: 10,
        latencies: [3],
        commandCounts: [
          ['GET', 2],
          ['SET', 1],
        ] as const,
      };
      await stand.meter(
        atMs,
        {
          rows: [kvRow(row), kvRow({ database: OTHER, commands: loaded, connections: loaded % 5 })],
          kvGauges: [{ database: DATABASE, index: loaded % 2, keys: loaded, storageBytes: loaded * 100 }],
          searchGauges: [{ index: INDEX, documents: loaded, storageBytes: loaded * 10 }],
          queues: [{ account: ACCOUNT, bytesIn: 7, bytesOut: 3 }],
        },
        loaded % 2 === 0 ? 'a' : 'b',
      );
      const id = `msg_${loaded}`;
      await stand.store([accepted(id, { atMs }), started(id, atMs)]);
      const before = `msg_${loaded - 1}`;
      if (loaded % 3 === 1) await stand.store([delivered(before, atMs)]);
      if (loaded % 3 === 2)
        await stand.store([failed(before, atMs, undefined), deadLettered(before, `dlq_${loaded}`, atMs)]);
    }
  }

  async function everything(model: StatisticsModel) {
    await stand.counted(model);
    const { nowMs } = stand;
    return {
      database: await model.database(DATABASE, '12h', nowMs),
      other: await model.database(OTHER, '3h', nowMs),
      account: await model.account(ACCOUNT, '1d', nowMs),
      search: await model.search(INDEX, '30d', nowMs),
    };
  }

  /** The figures of a file that is folded from complete logs, without snapshots. */
  async function expected() {
    stand.snapshots = { lookEveryMs: 2 ** 31 - 1 };
    const model = await stand.open('whole.db', undefined, new MemoryObjectStore());
    const all = await everything(model);
    await stand.close(model);
    stand.files('whole.db').remove();
    stand.snapshots = AT_ONCE;
    return all;
  }

  /** The current figures of one database, without waiting for later records. */
  async function shownBy(model: StatisticsModel) {
    return model.database(DATABASE, '12h', stand.nowMs);
  }

  /** Waits until two snapshots cover at least this much of the meter's log, and trims it. */
  async function trim(model: StatisticsModel, atLeast: number): Promise<number> {
    const upTo = await eventually(() => {
      const { meterCoveredUpTo } = model.status();
      if (meterCoveredUpTo < atLeast) throw new Error(`covered up to ${meterCoveredUpTo}`);
      return meterCoveredUpTo;
    });
    await stand.queue.journal.truncateFront(METER_SHARD, upTo);
    return upTo;
  }

  /** Waits until a snapshot has all loaded records. */
  async function written(): Promise<void> {
    const { last } = await stand.queue.journal.tail(METER_SHARD);
    await eventually(async () => {
      const [newest] = await stored();
      if (!newest?.name.endsWith(String(last).padStart(16, '0')))
        throw new Error(`${newest?.name} is the newest, at ${last}`);
    });
  }

  /** Two loads, each followed by its snapshot. */
  async function loadTwice(minutes: number): Promise<void> {
    for (let time = 0; time < 2; time += 1) {
      await load(minutes);
      await written();
    }
  }

  async function stored(): Promise<StoredStatistics[]> {
    const found: StoredStatistics[] = [];
    for await (const one of new StatisticsSnapshots(stand.queue.objects, silentLog).newestFirst()) found.push(one);
    return found;
  }

  it('have every column of every table of the file', () => {
    const store = stand.newStore();
    store.close();
    const file = stand.files().open();
    const tables = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all([]);
    const columns = file.prepare('SELECT name FROM pragma_table_info(?)');
    const found = tables.map(({ name }) => [
      name,
      columns
        .all([name as string])
        .map((column) => column.name)
        .sort(),
    ]);
    file.close();
    const written = Object.entries(STATISTICS_TABLES).map(([name, { key, more, later }]) => {
      return [name, [...key, ...more, ...later].sort()];
    });
    // The positions of the journals are in the manifest; the `meta` table belongs to the file itself.
    const others = found.filter(([name]) => name === 'meta' || name === 'shards');
    expect(found.sort()).to.deep.equal([...written, ...others].sort());
  });

  it('give the same counts when the file is lost and the front of the logs was removed', async () => {
    const live = await stand.open();
    await loadTwice(10);
    const whole = await expected();
    expect(sum(whole.database.commands)).to.equal(3 * 20);
    expect(sum(whole.account.messages.created)).to.equal(20);
    expect(await everything(live)).to.deep.equal(whole);
    const upTo = await trim(live, 10);
    await stand.close(live);
    const marks = (await stored())[0]?.manifest.marks ?? [];
    const folded = marks.find(({ shard }) => shard === QUEUE_SHARD)?.position ?? 0;
    await stand.queue.journal.truncateFront(QUEUE_SHARD, folded);
    expect((await stand.queue.journal.tail(METER_SHARD)).first).to.equal(upTo);

    stand.files().remove();
    const again = await stand.open();
    expect(await everything(again)).to.deep.equal(whole);
    expect(again.status().incompleteShards).to.deep.equal([]);
    await load(3);
    await eventually(async () => {
      const { database, account } = await everything(again);
      expect([sum(database.commands), account.dlqMessages]).to.deep.equal([3 * 23, 7]);
    });
  });

  it('keep the two newest valid ones, and no objects that neither names', async () => {
    const model = await stand.open();
    for (let round = 0; round < 5; round += 1) {
      await load(2);
      await written();
    }
    await eventually(async () => {
      const kept = await stored();
      const named = kept.flatMap(({ name, manifest }) => [name, ...manifest.segments.map(({ object }) => object)]);
      const found = (await stand.queue.objects.list('statistics/')).map(({ name }) => name);
      expect([kept.length, found.sort()]).to.deep.equal([2, named.sort()]);
    });
    await stand.close(model);
  });

  it('are not due while little has come', async () => {
    stand.snapshots = { lookEveryMs: 5, meterBytes: 1024 * 1024 };
    const model = await stand.open();
    await load(1);
    await eventually(async () => expect(await stored()).to.have.length(1));
    await load(30);
    await stand.counted(model);
    stand.nowMs += 23 * HOUR;
    await load(1);
    await stand.counted(model);
    expect([(await stored()).length, model.status().meterCoveredUpTo]).to.deep.equal([1, 0]);
    stand.nowMs += HOUR;
    await eventually(async () => expect(await stored()).to.have.length(2));
    await eventually(() => expect(model.status().meterCoveredUpTo).to.be.above(0));
  });

  it('use the previous one if the newest is damaged', async () => {
    const live = await stand.open();
    await loadTwice(10);
    const whole = await expected();
    await trim(live, 10);
    await stand.close(live);
    const [newest] = await stored();
    const { object, bytes } = (newest as StoredStatistics).manifest.segments[0] as SegmentRef;
    await stand.queue.objects.delete(object);
    await stand.queue.objects.put(object, new Uint8Array(bytes).fill(7));
    stand.files().remove();
    expect(await everything(await stand.open())).to.deep.equal(whole);
  });

  it('repeat an interrupted load', async () => {
    const live = await stand.open();
    await loadTwice(10);
    const whole = await expected();
    await trim(live, 10);
    await stand.close(live);
    stand.files().remove();
    const [newest] = await stored();
    const store = stand.newStore();
    for await (const { table, rows } of new StatisticsSnapshots(stand.queue.objects, silentLog).segments(
      (newest as StoredStatistics).manifest,
    )) {
      store.load(table, rows.slice(0, 1));
    }
    store.close();
    expect(await everything(await stand.open())).to.deep.equal(whole);
  });

  it('serve a process with a file older than the front of the log', async () => {
    const late = await stand.open('late.db');
    await load(5);
    await stand.counted(late);
    await stand.close(late);
    const live = await stand.open();
    await loadTwice(15);
    const whole = await expected();
    await trim(live, 20);
    const again = await stand.open('late.db');
    expect(await everything(again)).to.deep.equal(whole);
    expect(again.status().incompleteShards).to.deep.equal([]);
  });

  it('are consistent: no counts change while one is read, and it matches its checkpoints (SN1)', async () => {
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const memory = stand.queue.objects;
    let isReading = false;
    const objects: ObjectStore = {
      put: async (name, bytes) => {
        if (name.startsWith('statistics/segment/')) {
          isReading = true;
          await gate;
        }
        await memory.put(name, bytes);
      },
      get: (name) => memory.get(name),
      list: (prefix) => memory.list(prefix),
      delete: (name) => memory.delete(name),
    };
    await load(5);
    const live = await stand.open('live.db', undefined, objects);
    const before = await shownBy(live);
    await eventually(() => expect(isReading).to.equal(true));
    await load(5);
    // Another process, with an empty object store, has counted all of it by then.
    const other = await stand.open('other.db', undefined, new MemoryObjectStore());
    await eventually(async () => expect(sum((await shownBy(other)).commands)).to.equal(2 * sum(before.commands)));
    const meanwhile = await shownBy(live);
    goOn();
    expect(meanwhile).to.deep.equal(before);
    await eventually(async () => expect(sum((await shownBy(live)).commands)).to.equal(2 * sum(before.commands)));
    await stand.close(live);
    const whole = await expected();
    const again = await stand.open('again.db');
    expect(await everything(again)).to.deep.equal(whole);
  });

  it('may be written by several processes together', async () => {
    const processes = [await stand.open('one.db'), await stand.open('two.db'), await stand.open('three.db')];
    for (let round = 0; round < 6; round += 1) {
      await load(5);
      await written();
    }
    const whole = await expected();
    for (const model of processes) await trim(model, 10);
    for (const model of processes) {
      expect(await everything(model)).to.deep.equal(whole);
      await stand.close(model);
    }
    stand.files('two.db').remove();
    expect(await everything(await stand.open('two.db'))).to.deep.equal(whole);
  });

  for (const [fault, change] of [
    ['a segment is gone', (name: string) => (name.startsWith('statistics/segment/') ? 'gone' : undefined)],
    ['a segment has other bytes', (name: string) => (name.startsWith('statistics/segment/') ? 'other' : undefined)],
    ['the manifest has other bytes', (name: string) => (name.startsWith('statistics/manifest/') ? 'other' : undefined)],
  ] as const) {
    it(`are not made when ${fault} as it is read back (STS2)`, async () => {
      const objects = new MemoryObjectStore();
      const written: string[] = [];
      const faulty: ObjectStore = {
        put: async (name, bytes) => {
          written.push(name);
          await objects.put(name, bytes);
        },
        get: async (name) => {
          const bytes = await objects.get(name);
          if (bytes === undefined || change(name) === 'gone') return undefined;
          return change(name) === 'other' ? bytes.map((byte) => byte ^ 1) : bytes;
        },
        list: (prefix) => objects.list(prefix),
        delete: (name) => objects.delete(name),
      };
      const snapshots = new StatisticsSnapshots(faulty, silentLog);
      const segment = await snapshots.writeSegment(7, 'a', 0, { table: 'subjects', rows: [] });
      const far = { position: 7, entry: 0, hash: new Uint8Array(), clockMs: 0, hasGap: false, dlqFrom: 0 };
      const marks = [{ shard: METER_SHARD, createdAt: 'x', ...far }];
      const manifest = { clusterId: 'c', createdAtMs: 1, marks, segments: [segment] };
      const failure = await snapshots.writeManifest(manifest).catch((error: unknown) => error);
      expect(isMillraceError(failure, 'JOURNAL_DAMAGED'), String(failure)).to.equal(true);
      // A manifest is not written if its segments cannot be read back; one that cannot be read back itself is refused by
      // every reader.
      const isWritten = written.some((name) => name.startsWith('statistics/manifest/'));
      expect(isWritten).to.equal(fault.startsWith('the manifest'));
      expect(await snapshots.newest()).to.equal(undefined);
    });
  }

  it('of a journal that was created again are kept, and its present entries are added (SN3)', async () => {
    const live = await stand.open();
    await loadTwice(10);
    const before = await everything(live);
    await stand.close(live);
    const { objects } = stand.queue;
    const older = stand;
    stand = new StatsStand();
    try {
      stand.nowMs = older.nowMs;
      // The new journal is longer than the counted one, so that positions alone cannot distinguish them.
      const atMs = MONDAY + 6 * HOUR;
      for (let number = 0; number < 25; number += 1) {
        await stand.meter(atMs, { rows: [kvRow({ commands: 2, commandCounts: [['GET', 2]] })] }, 'c');
      }
      const createdAt = async (of: StatsStand) => (await of.queue.journal.tail(METER_SHARD)).createdAt;
      expect(await createdAt(stand)).not.to.equal(await createdAt(older));
      const again = await stand.open(undefined, undefined, objects);
      const { database } = await everything(again);
      expect(sum(database.commands)).to.equal(sum(before.database.commands) + 2 * 25);
      await stand.close(again);
    } finally {
      await older.end();
    }
  });

  it('of another installation are not used', async () => {
    const live = await stand.open();
    await loadTwice(5);
    await trim(live, 5);
    await stand.close(live);
    stand.files().remove();
    const other = await stand.open(undefined, 'another-cluster');
    expect(other.status().incompleteShards).to.deep.equal([METER_SHARD]);
  });
});
