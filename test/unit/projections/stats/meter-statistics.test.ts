/** The statistics of databases and search indexes from the meter's log. Proves STA2, STA3, MF1. */
import { expect } from 'chai';
import { FRESH_MS } from '../../../../src/ports/index.js';
import type { MeterSearchRow } from '../../../../src/protocol/index.js';
import { ACCOUNT } from '../../../support/message-log-stand.js';
import { CLASSES, DATABASE, DAY, fromEnd, HOUR, INDEX, kvRow, MINUTE, MONDAY, StatsStand, sum } from './stats-stand.js';

function classes(...at: readonly (readonly [place: number, count: number])[]): number[] {
  const counts = new Array<number>(CLASSES).fill(0);
  for (const [place, count] of at) counts[place] = count;
  return counts;
}

describe('statistics of databases', () => {
  let stand: StatsStand;
  const now = MONDAY + 10 * HOUR;

  beforeEach(() => {
    stand = new StatsStand();
    stand.nowMs = now;
  });
  afterEach(() => stand.end());

  it('count commands, reads and writes, bytes and hits in the minute in which they were written', async () => {
    const used = { commands: 10, writes: 4, hits: 5, misses: 1, bytesIn: 100, bytesOut: 300 };
    await stand.meter(now - 5 * MINUTE, { rows: [kvRow(used)] });
    await stand.meter(now - 5 * MINUTE + 59_999, { rows: [kvRow(used)] });
    await stand.meter(now, { rows: [kvRow({ commands: 1 })] }, 'b');
    const series = await (await stand.open()).database(DATABASE, '1h', now);
    expect(fromEnd(series.commands)).to.deep.equal({ 5: 20, 0: 1 });
    expect(fromEnd(series.reads)).to.deep.equal({ 5: 12, 0: 1 });
    expect(fromEnd(series.writes)).to.deep.equal({ 5: 8 });
    expect([fromEnd(series.hits), fromEnd(series.misses)]).to.deep.equal([{ 5: 10 }, { 5: 2 }]);
    expect(fromEnd(series.bandwidthBytes)).to.deep.equal({ 5: 800 });
    expect(series.days.at(-1)).to.deep.include({ commands: 21, writes: 8, bandwidthBytes: 800, scripts: 0 });
  });

  it('combine all databases: counts are summed, latencies are over all requests, and each has its own use', async () => {
    const other = 'db-cccccccccccccccc' as typeof DATABASE;
    await stand.meter(now - 2 * DAY, { rows: [kvRow({ commands: 100, bytesOut: 7 })] });
    await stand.meter(now - 5 * MINUTE, {
      rows: [kvRow({ commands: 10, writes: 4 }), kvRow({ database: other, commands: 5, hits: 2 })],
    });
    const model = await stand.open();
    const unknown = 'db-dddddddddddddddd' as typeof DATABASE;
    const { each, ...series } = await model.databases([DATABASE, other, unknown], '1h', now);
    expect([fromEnd(series.commands), fromEnd(series.writes), fromEnd(series.hits)]).to.deep.equal([
      { 5: 15 },
      { 5: 4 },
      { 5: 2 },
    ]);
    const nothing = { keys: 0, storageBytes: 0, connections: 0 };
    expect(each).to.deep.equal([
      { id: DATABASE, ...nothing, commandsToday: 10, commandsThisMonth: 110, bandwidthBytesThisMonth: 7 },
      { id: other, ...nothing, commandsToday: 5, commandsThisMonth: 5, bandwidthBytesThisMonth: 0 },
      { id: unknown, ...nothing, commandsToday: 0, commandsThisMonth: 0, bandwidthBytesThisMonth: 0 },
    ]);
    const many = Array.from({ length: 1001 }, () => DATABASE);
    expect(await model.databases(many, '1h', now).catch(({ code }) => code)).to.equal('INVALID');
  });

  it('have the same sum in every period that covers it, and in the day', async () => {
    for (let minute = 0; minute < 600; minute += 7) {
      await stand.meter(MONDAY + minute * MINUTE, { rows: [kvRow({ commands: minute + 1, writes: 1 })] });
    }
    const model = await stand.open();
    const expected = (fromMs: number) => {
      let commands = 0;
      for (let minute = 0; minute < 600; minute += 7) if (MONDAY + minute * MINUTE >= fromMs) commands += minute + 1;
      return commands;
    };
    for (const period of ['1h', '3h', '12h', '1d', '3d', '7d', '30d'] as const) {
      const series = await model.database(DATABASE, period, now);
      expect(sum(series.commands), period).to.equal(expected(series.times.firstAtMs));
      expect(series.commands).to.have.length(series.times.count);
    }
    const { days } = await model.database(DATABASE, '1h', now);
    expect(days.at(-1)?.commands).to.equal(expected(MONDAY));
  });

  it('count a record once, even if it was stored twice', async () => {
    const first = await stand.meter(now - MINUTE, { rows: [kvRow({ commands: 3 })] });
    await stand.again(first);
    await stand.meter(now, { rows: [kvRow({ commands: 4 })] });
    await stand.again(first);
    const model = await stand.open();
    expect(sum((await model.database(DATABASE, '1h', now)).commands)).to.equal(7);
    await stand.close(model);
    await stand.again(first);
    await stand.meter(now, { rows: [kvRow({ commands: 5 })] });
    expect(sum((await (await stand.open()).database(DATABASE, '1h', now)).commands)).to.equal(12);
  });

  it('count a record written after midnight on the day of its use', async () => {
    stand.nowMs = MONDAY + MINUTE;
    await stand.meter(MONDAY + 700, { day: MONDAY / DAY - 1, rows: [kvRow({ commands: 9 })] });
    const { days, commands } = await (await stand.open()).database(DATABASE, '1h', MONDAY + MINUTE);
    expect(days.slice(-2).map((day) => day.commands)).to.deep.equal([9, 0]);
    expect(fromEnd(commands)).to.deep.equal({ 2: 9 });
  });

  it('show the latency of reads and writes: the mean, and the class of the 99th percentile', async () => {
    const latencies = classes([0, 98], [3, 1], [9, 2]);
    const row = { latencies, writeLatencies: classes([9, 1]), readMicros: 100_000, writeMicros: 90_000, writes: 1 };
    await stand.meter(now, { rows: [kvRow(row)] });
    const { latency, readLatency, writeLatency } = await (await stand.open()).database(DATABASE, '1h', now);
    expect(readLatency.mean.at(-1)).to.equal(1);
    expect(readLatency.p99.at(-1)).to.equal(2);
    expect([writeLatency.mean.at(-1), writeLatency.p99.at(-1)]).to.deep.equal([90, 128]);
    expect(latency.mean.at(-1)).to.be.closeTo(190 / 101, 1e-9);
    expect(latency.p99.at(-1)).to.equal(128);
    expect([sum(readLatency.mean.slice(0, -1)), sum(latency.p99.slice(0, -1))]).to.deep.equal([0, 0]);
  });

  it('count commands by name, sorted, and scripts among them', async () => {
    const at = (minutes: number, ...commandCounts: (readonly [string, number])[]) =>
      stand.meter(now - minutes * MINUTE, { rows: [kvRow({ commandCounts })] });
    await at(3, ['SET', 2], ['EVALSHA', 4]);
    await at(0, ['GET', 1], ['SET', 1], ['FCALL_RO', 1]);
    await at(61, ['PING', 1]);
    const { commandCounts, days } = await (await stand.open()).database(DATABASE, '1h', now);
    expect(commandCounts.map(({ name, counts }) => [name, fromEnd(counts)])).to.deep.equal([
      ['EVALSHA', { 3: 4 }],
      ['FCALL_RO', { 0: 1 }],
      ['GET', { 0: 1 }],
      ['SET', { 3: 2, 0: 1 }],
    ]);
    expect(days.at(-1)?.scripts).to.equal(5);
  });

  it('report a lag above the usual delay, and its end', async () => {
    await stand.meter(now - MINUTE, { rows: [kvRow({ commands: 1 })] });
    const { journal } = stand.queue;
    const { follow } = journal;
    const model = await stand.open();
    const ask = () => model.database(DATABASE, '1h', now);
    expect((await ask()).behind).to.equal(undefined);
    await stand.close(model);
    // A journal that exists and delivers no entries.
    journal.follow = () => ({ stop: () => undefined });
    const deaf = stand.begin();
    await stand.counted(deaf);
    expect((await deaf.database(DATABASE, '1h', now)).behind).to.equal(undefined);
    stand.nowMs += FRESH_MS + 1;
    expect((await deaf.database(DATABASE, '1h', now)).behind).to.deep.equal({ positions: 0, ms: FRESH_MS + 1 });
    expect((await deaf.searchTotals([INDEX], now)).behind?.ms).to.equal(FRESH_MS + 1);
    await stand.close(deaf);
    journal.follow = follow;
    const again = await stand.open();
    expect((await again.account(ACCOUNT, '1h', now)).behind).to.equal(undefined);
  });

  it('sum the partitions of a database, and keep a size until the next report', async () => {
    const size = (atMs: number, index: number, keys: number) =>
      stand.meter(atMs, { kvGauges: [{ database: DATABASE, index, keys, storageBytes: keys * 100 }] });
    await size(now - 3 * DAY, 0, 1);
    await size(now - 40 * MINUTE, 1, 10);
    await size(now - 20 * MINUTE, 0, 3);
    const model = await stand.open();
    const { keys, storageBytes, current, days } = await model.database(DATABASE, '1h', now);
    expect(keys).to.deep.equal([...Array(19).fill(1), ...Array(20).fill(11), ...Array(21).fill(13)]);
    expect(storageBytes).to.deep.equal(keys.map((count) => count * 100));
    expect(current).to.deep.equal({ connections: 0, keys: 13, storageBytes: 1300 });
    expect(days.slice(-5).map((day) => day.storageBytes)).to.deep.equal([0, 100, 100, 100, 1300]);
    const week = await model.database(DATABASE, '7d', now);
    expect([week.keys[0], week.keys.at(-2), week.keys.at(-1)]).to.deep.equal([0, 1, 13]);
  });

  it('ignore a size reported by an earlier owner, also after a restart', async () => {
    const size = (atMs: number, process: string, epoch: number | undefined, keys: number) =>
      stand.meter(
        atMs,
        { kvGauges: [{ database: DATABASE, index: 0, keys, storageBytes: keys * 100, epoch }] },
        process,
      );
    await size(now - 30 * MINUTE, 'old', undefined, 10);
    await size(now - 20 * MINUTE, 'old', 3, 530);
    await size(now - 10 * MINUTE, 'new', 4, 540);
    await size(now - 9 * MINUTE, 'old', 3, 530);
    const model = await stand.open();
    const { current, keys } = await model.database(DATABASE, '1h', now);
    expect(current).to.deep.equal({ connections: 0, keys: 540, storageBytes: 54_000 });
    expect(keys.slice(-31)).to.deep.equal([...Array(10).fill(10), ...Array(10).fill(530), ...Array(11).fill(540)]);
    await stand.close(model);
    await size(now - 8 * MINUTE, 'old', 3, 531);
    await size(now - 7 * MINUTE, 'new', 4, 541);
    expect((await (await stand.open()).database(DATABASE, '1h', now)).current.keys).to.equal(541);
  });

  it('sum the connections of processes, and drop those of a process that stops reporting', async () => {
    const told = (minutes: number, process: string, connections: number) =>
      stand.meter(now - minutes * MINUTE, { rows: [kvRow({ connections })] }, process);
    for (const minutes of [10, 9]) await told(minutes, 'a', 2);
    await told(9, 'b', 3);
    // The second of them was killed.
    for (const minutes of [8, 7, 6, 5]) await told(minutes, 'a', 2);
    await told(4, 'a', 0);
    const model = await stand.open();
    const { connections } = await model.database(DATABASE, '1h', now);
    expect(fromEnd(connections)).to.deep.equal({ 10: 2, 9: 5, 8: 5, 7: 5, 6: 2, 5: 2 });
    expect((await model.database(DATABASE, '1h', now)).current.connections).to.equal(0);
  });

  it('have zeros, and every day, for unknown times', async () => {
    const series = await (await stand.open()).database('db-nobodynobodynob' as never, '30d', now);
    expect(series.commands).to.deep.equal(Array(240).fill(0));
    expect(series.latency.p99).to.deep.equal(Array(240).fill(0));
    expect(series.commandCounts).to.deep.equal([]);
    expect(series.days.map(({ day }) => day)).to.deep.equal(
      Array.from({ length: 21 }, (_, at) => MONDAY / DAY - 20 + at),
    );
  });

  it('reach back to the first of a month in which the last five days begin', async () => {
    const nowMs = Date.UTC(2026, 9, 2, 12);
    const { days } = await (await stand.open()).database(DATABASE, '1h', nowMs);
    expect([days[0]?.day, days.at(-1)?.day]).to.deep.equal([Date.UTC(2026, 8, 1) / DAY, Date.UTC(2026, 9, 2) / DAY]);
  });
});

describe('statistics of search indexes', () => {
  let stand: StatsStand;
  const now = MONDAY + 10 * HOUR;
  const work = (micros: number, ...at: readonly (readonly [number, number])[]) => ({
    micros,
    latencies: classes(...at),
  });
  const row = (changes: Partial<MeterSearchRow>): MeterSearchRow => ({
    ...{ index: INDEX, queries: 0, updates: 0, reranks: 0, bytesIn: 0, bytesOut: 0 },
    ...{ query: work(0), update: work(0), embedding: work(0), rerank: work(0) },
    ...changes,
  });

  beforeEach(() => {
    stand = new StatsStand();
    stand.nowMs = now;
  });
  afterEach(() => stand.end());

  it('count queries, updates, units of reranking, bytes, and their latencies', async () => {
    const query = work(30_000, [4, 2], [5, 1]);
    const used = { queries: 3, updates: 100, reranks: 2, bytesIn: 10, bytesOut: 20, query, rerank: work(7000, [5, 1]) };
    await stand.meter(now - DAY, { searches: [row(used)] });
    await stand.meter(now, { searches: [row(used)] });
    const series = await (await stand.open()).search(INDEX, '1h', now);
    expect([fromEnd(series.queries), fromEnd(series.updates)]).to.deep.equal([{ 0: 3 }, { 0: 100 }]);
    expect([series.queryLatency.mean.at(-1), series.queryLatency.p99.at(-1)]).to.deep.equal([10, 8]);
    expect([series.rerankLatency.mean.at(-1), sum(series.updateLatency.mean)]).to.deep.equal([7, 0]);
    expect(series.days.slice(-2)).to.deep.equal(
      [MONDAY / DAY - 1, MONDAY / DAY].map((day) => ({
        ...{ day, queries: 3, updates: 100, reranks: 2, bandwidthBytes: 30, storageBytes: 0 },
      })),
    );
  });

  it('have the size of an index, and sum several', async () => {
    const other = 'db-cccccccccccccccc' as typeof INDEX;
    await stand.meter(now - HOUR, {
      searches: [row({ queries: 1 }), row({ index: other, queries: 5, updates: 6, bytesIn: 7 })],
      searchGauges: [
        { index: INDEX, documents: 10, storageBytes: 1000 },
        { index: other, documents: 1, storageBytes: 50 },
      ],
    });
    const model = await stand.open();
    const { documents, current } = await model.search(INDEX, '12h', now);
    expect([documents[0], documents.at(-1), current]).to.deep.equal([0, 10, { documents: 10, storageBytes: 1000 }]);
    const { days, ...totals } = await model.searchTotals([INDEX, other], now);
    expect(totals).to.deep.equal({
      ...{ documents: 11, storageBytes: 1050, queries: 6, updates: 6, reranks: 0, bandwidthBytes: 7 },
    });
    expect(days.at(-1)).to.deep.include({ day: MONDAY / DAY, queries: 6, storageBytes: 1050 });
    expect((await model.searchTotals([], now)).days).to.have.length(21);
  });

  it('are separate from those of a database with the same id', async () => {
    await stand.meter(now, { rows: [kvRow({ database: INDEX, commands: 5 })], searches: [row({ queries: 1 })] });
    const model = await stand.open();
    expect(sum((await model.database(INDEX, '1h', now)).commands)).to.equal(5);
    expect(sum((await model.search(INDEX, '1h', now)).queries)).to.equal(1);
  });
});
