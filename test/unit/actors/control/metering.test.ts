/** Proves MG1, MW1–MW4, MLO2. */
import { expect } from 'chai';
import { ControlDuties, MeterFolder, MeterWriter } from '../../../../src/actors/control/index.js';
import { decodeMeterRecord } from '../../../../src/codec/control/index.js';
import { utcDayOf } from '../../../../src/domain/control/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import type { KvUsage, MeterLog } from '../../../../src/ports/index.js';
import { METER_SHARD } from '../../../../src/protocol/index.js';
import { accountCreated, createDatabase, db, firstStarted, lease, session } from '../../../spec/control/given.js';
import { MemoryMeterLog } from '../../../support/memory/index.js';
import { silentLog } from '../../../support/silent-log.js';
import { Installation, runReadyTasks } from './installation.js';

const USAGE: KvUsage = { commands: 2, writes: 1, bytesIn: 10, bytesOut: 20, durationMs: 3 };
const DAY_MS = 86_400_000;

async function installed(): Promise<Installation> {
  const installation = new Installation();
  await installation.activate();
  const {
    type: _,
    createdAtMs: __,
    ...account
  } = accountCreated() as Extract<ReturnType<typeof accountCreated>, { type: 'AccountCreated' }>;
  const create = createDatabase('first');
  if (create.type !== 'CreateDatabase' || firstStarted('first').type !== 'FirstStarted') throw new Error('builders');
  await installation.ask({ type: 'FirstStart', account, database: { ...create.database, account: account.id } });
  return installation;
}

function writerOf({ time }: Installation, meterLog: MeterLog, name = 'a', maxRows = 2000): MeterWriter {
  const ports = { meterLog, clock: time, timers: time, log: silentLog };
  return new MeterWriter(ports, session(name), { everyMs: 1000, maxRows, connections: () => 3 });
}

async function recordsOf({ journal }: Installation) {
  const { last } = await journal.tail(METER_SHARD);
  const records = [];
  for await (const { bytes } of journal.read(METER_SHARD, 1, last)) records.push(decodeMeterRecord(bytes));
  return records;
}

const today = ({ plane, time }: Installation) => plane.state.usageOf(db('first'), utcDayOf(time.nowMs()));

describe('meter writer', () => {
  it('writes its counts once a second, and no record without use', async () => {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal));
    writer.start();
    writer.recordKv(db('first'), USAGE);
    writer.recordKv(db('first'), { ...USAGE, durationMs: 10_000 });
    await installation.time.advance(3000);
    const [record, ...others] = await recordsOf(installation);
    expect(others).to.deep.equal([]);
    expect(record).to.deep.include({ session: session('a'), number: 1, connections: 3 });
    const [row] = record!.rows;
    expect(row).to.deep.include({ database: db('first'), commands: 4, writes: 2, bytesIn: 20, bytesOut: 40 });
    expect(row!.latencies).to.deep.equal([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    await writer.stop();
  });

  it('keeps counts that cannot be written, sends the same record again, and adds up later counts', async () => {
    const installation = await installed();
    const log = new MemoryMeterLog(installation.journal);
    const sent: string[] = [];
    let isDown = true;
    const flaky: MeterLog = {
      append: async (bytes) => {
        sent.push(Buffer.from(bytes).toString('hex'));
        if (isDown) throw new MillraceError('JOURNAL_UNAVAILABLE', 'down');
        await log.append(bytes);
      },
      follow: (from, follower) => log.follow(from, follower),
    };
    const writer = writerOf(installation, flaky);
    writer.start();
    for (let second = 0; second < 5; second += 1) {
      writer.recordKv(db('first'), USAGE);
      await installation.time.advance(1000);
    }
    expect(new Set(sent).size).to.equal(1);
    isDown = false;
    await writer.stop();
    const records = await recordsOf(installation);
    expect(records.map(({ number, rows }) => [number, rows[0]!.commands])).to.deep.equal([
      [1, 2],
      [2, 8],
    ]);
  });

  it('writes each day separately, and many databases in several records', async () => {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal), 'a', 2);
    writer.recordKv(db('first'), USAGE);
    installation.time.jumpWallClock(DAY_MS);
    for (const name of ['one', 'two', 'three']) writer.recordKv(db(name), USAGE);
    await writer.flush();
    const records = await recordsOf(installation);
    const day = utcDayOf(installation.time.nowMs());
    expect(records.map(({ day, rows }) => [day, rows.length])).to.deep.equal([
      [day - 1, 1],
      [day, 2],
      [day, 1],
    ]);
  });
});

describe('meter writer with more databases than rows of a record', () => {
  /** Names of the databases in the records of each second. */
  async function written(databases: number, seconds: number, isInUse: (second: number) => boolean) {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal), 'a', 4);
    writer.start();
    const bySecond: string[][] = [];
    let read = 0;
    for (let second = 0; second < seconds; second += 1) {
      for (let n = 0; isInUse(second) && n < databases; n += 1) writer.recordKv(db(`db-${n}`), USAGE);
      await installation.time.advance(1000);
      const records = await recordsOf(installation);
      bySecond.push(records.slice(read).flatMap(({ rows }) => rows.map(({ database }) => database)));
      read = records.length;
    }
    await writer.stop();
    const commands = (await recordsOf(installation))
      .flatMap(({ rows }) => rows)
      .reduce((sum, row) => sum + row.commands, 0);
    return { bySecond, commands };
  }

  it('writes one record a second, each database in its turn, with all of its counts', async () => {
    const { bySecond, commands } = await written(10, 5, () => true);
    expect(bySecond.map((names) => names.length)).to.deep.equal([4, 4, 4, 4, 4]);
    expect(new Set(bySecond.slice(0, 3).flat()).size).to.equal(10);
    expect(commands).to.equal(5 * 10 * USAGE.commands);
  });

  it('writes larger parts when counts would wait for more than ten seconds', async () => {
    const { bySecond } = await written(100, 11, (second) => second === 0);
    expect(bySecond.map((names) => names.length)).to.deep.equal([...new Array(10).fill(10), 0]);
    expect(new Set(bySecond.flat()).size).to.equal(100);
  });

  it('writes gauges each second, and all counts at its end', async () => {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal), 'a', 2);
    writer.start();
    for (let n = 0; n < 5; n += 1) writer.recordKv(db(`db-${n}`), USAGE);
    writer.gaugeKv({ database: db('first'), index: 0, keys: 1, storageBytes: 2, epoch: 1 });
    await installation.time.advance(1000);
    const first = await recordsOf(installation);
    expect(first.flatMap(({ rows }) => rows).length).to.equal(2);
    expect(first.flatMap(({ kvGauges }) => kvGauges ?? []).length).to.equal(1);
    await writer.stop();
    expect((await recordsOf(installation)).flatMap(({ rows }) => rows).length).to.equal(5);
  });
});

describe('meter writer, further figures', () => {
  it('counts reads and writes separately, and commands by name', async () => {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal));
    const [get, set] = [{ name: 'GET' }, { name: 'SET' }];
    writer.recordKv(db('first'), { ...USAGE, commands: 4, specs: [get, set, set, get], durationMs: 1.5 });
    writer.recordKv(db('first'), { ...USAGE, commands: 3, writes: 0, specs: [get, get, get], durationMs: 0.25 });
    // No command of it ran, so only its bytes count.
    writer.recordKv(db('first'), { commands: 0, writes: 0, bytesIn: 1, bytesOut: 2, durationMs: 9, specs: [] });
    writer.recordLookups(db('first'), 5, 6);
    await writer.flush();
    const [record] = await recordsOf(installation);
    expect(record?.rows[0]).to.deep.include({
      ...{ commands: 7, writes: 1, bytesIn: 21, bytesOut: 42, hits: 5, misses: 6 },
      ...{ readMicros: 250, writeMicros: 1500 },
      latencies: [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      writeLatencies: [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      commandCounts: [
        ['GET', 5],
        ['SET', 2],
      ],
    });
  });

  it('adds up the use of search indexes', async () => {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal));
    writer.recordSearch(db('index'), { queries: 1, reranks: 2, bytesIn: 3, queryMs: 1, rerankMs: 0.2 });
    writer.recordSearch(db('index'), { updates: 100, bytesOut: 4, updateMs: 5000 });
    writer.gaugeSearch(db('index'), 7, 700);
    for (const keys of [1, 2])
      writer.gaugeKv({ database: db('first'), index: 3, keys, storageBytes: keys * 100, epoch: 1 });
    await writer.flush();
    await writer.flush();
    const [record, ...others] = await recordsOf(installation);
    expect(others).to.deep.equal([]);
    expect(record?.rows).to.deep.equal([]);
    const [search] = record?.searches ?? [];
    expect(search).to.deep.include({
      index: db('index'),
      queries: 1,
      updates: 100,
      reranks: 2,
      bytesIn: 3,
      bytesOut: 4,
    });
    const works = [search?.query, search?.update, search?.embedding, search?.rerank];
    expect(works.map((work) => [work?.micros, work?.latencies.indexOf(1)])).to.deep.equal([
      [1000, 2],
      [5_000_000, 14],
      [0, -1],
      [200, 0],
    ]);
    expect(record?.searchGauges).to.deep.equal([{ index: db('index'), documents: 7, storageBytes: 700 }]);
    expect(record?.kvGauges).to.deep.equal([{ database: db('first'), index: 3, keys: 2, storageBytes: 200, epoch: 1 }]);
  });

  it('reports connections when their number changes, and once a minute while there are any', async () => {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal));
    writer.start();
    writer.connected(db('first'), 1);
    writer.connected(db('first'), 1);
    await installation.time.advance(130_000);
    writer.connected(db('first'), -1);
    writer.recordKv(db('first'), USAGE);
    await installation.time.advance(1000);
    writer.connected(db('first'), -1);
    await installation.time.advance(130_000);
    await writer.stop();
    const rows = (await recordsOf(installation)).flatMap((record) => record.rows);
    expect(rows.map(({ connections, commands }) => [connections, commands])).to.deep.equal([
      [2, 0],
      [2, 0],
      [2, 0],
      [1, 2],
      [0, 0],
    ]);
  });

  it('keeps a record below the message size, for any number of names', async () => {
    const installation = await installed();
    const writer = writerOf(installation, new MemoryMeterLog(installation.journal));
    const specs = Array.from({ length: 250 }, (_, at) => ({ name: `A.LONG.NAME.OF.${at}` }));
    for (let n = 0; n < 300; n += 1) writer.recordKv(db(`database-${n}`), { ...USAGE, specs });
    await writer.flush();
    const { last } = await installation.journal.tail(METER_SHARD);
    let rows = 0;
    let largest = 0;
    for await (const { bytes } of installation.journal.read(METER_SHARD, 1, last)) {
      rows += decodeMeterRecord(bytes).rows.length;
      largest = Math.max(largest, bytes.length);
    }
    expect(rows).to.equal(300);
    expect(largest).to.be.below(1024 * 1024);
  });
});

describe('meter folder', () => {
  it('has the log counted every few seconds, and continues after a kill where it stopped', async () => {
    const installation = await installed();
    const log = new MemoryMeterLog(installation.journal);
    const writer = writerOf(installation, log);
    const newFolder = () => {
      const { time: timers, client } = installation;
      const folder = new MeterFolder({ meterLog: log, timers, client, log: silentLog });
      folder.start(installation.plane.state.meterPosition);
      return folder;
    };
    const folder = newFolder();
    writer.recordKv(db('first'), USAGE);
    await writer.flush();
    await installation.time.advance(3100);
    expect(today(installation).commands).to.equal(2);
    folder.stop();
    writer.recordKv(db('first'), USAGE);
    await writer.flush();
    await installation.activate();
    const successor = newFolder();
    await installation.time.advance(3100);
    expect(today(installation).commands).to.equal(4);
    expect(installation.plane.state.meterPosition).to.equal(2);
    successor.stop();
  });

  it('counts a record once when two folders read it or it was stored twice', async () => {
    const installation = await installed();
    const log = new MemoryMeterLog(installation.journal);
    const twice: MeterLog = {
      append: async (bytes) => {
        await log.append(bytes);
        await log.append(bytes);
      },
      follow: (from, follower) => log.follow(from, follower),
    };
    const writer = writerOf(installation, twice);
    const { time: timers, client } = installation;
    const folders = [0, 1].map(() => new MeterFolder({ meterLog: log, timers, client, log: silentLog }));
    for (const folder of folders) folder.start(0);
    writer.recordKv(db('first'), USAGE);
    await writer.flush();
    await runReadyTasks();
    await Promise.all(folders.map((folder) => folder.fold()));
    expect(today(installation).commands).to.equal(2);
    for (const folder of folders) folder.stop();
  });

  it('skips a record that cannot be read', async () => {
    const installation = await installed();
    const log = new MemoryMeterLog(installation.journal);
    await log.append(Buffer.from('nonsense'));
    const writer = writerOf(installation, log);
    writer.recordKv(db('first'), USAGE);
    await writer.flush();
    const { time: timers, client } = installation;
    const folder = new MeterFolder({ meterLog: log, timers, client, log: silentLog });
    folder.start(0);
    await runReadyTasks();
    await folder.fold();
    expect(installation.plane.state.meterPosition).to.equal(2);
    expect(today(installation).commands).to.equal(2);
    folder.stop();
  });

  it('counts all records although it holds few at a time', async () => {
    const installation = await installed();
    const log = new MemoryMeterLog(installation.journal);
    const writer = writerOf(installation, log);
    for (let i = 0; i < 25; i += 1) {
      writer.recordKv(db('first'), USAGE);
      await writer.flush();
    }
    const { time: timers, client } = installation;
    const limits = { everyMs: 1000, maxRecords: 3, maxHeld: 7 };
    const folder = new MeterFolder({ meterLog: log, timers, client, log: silentLog }, limits);
    folder.start(0);
    await installation.time.advance(6000);
    expect(today(installation).commands).to.equal(50);
    folder.stop();
  });
});

describe('duties of the control owner', () => {
  it('return the leased quota of a process that is gone, except its recorded use', async () => {
    const installation = await installed();
    const log = new MemoryMeterLog(installation.journal);
    await installation.ask(lease('a', 1000, 0, utcDayOf(installation.time.nowMs())));
    const writer = writerOf(installation, log);
    writer.recordKv(db('first'), { ...USAGE, commands: 400 });
    await writer.flush();
    const { time: timers, client, plane } = installation;
    const isGone = (name: string) => name === 'node-a' && timers.monotonicMs() > 20_000;
    const duties = new ControlDuties({ meterLog: log, timers, client, log: silentLog, isGone }, plane);
    duties.start();
    await timers.advance(19_000);
    const day = utcDayOf(timers.nowMs());
    expect(plane.state.quotaOf(db('first'), day)?.charged).to.equal(1000);
    await timers.advance(12_000);
    expect(plane.state.quotaOf(db('first'), day)?.charged).to.equal(400);
    duties.stop();
  });
});
