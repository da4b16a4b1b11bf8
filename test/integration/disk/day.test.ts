/**
 * Disk usage after a day of traffic, for each part of the data directory. The day is compressed, so that every bound is
 * reached many times: DAY_SCALE=90 makes it ten messages a second, a real day's rate.
 */
import { expect } from 'chai';
import { DayOfTraffic, HOURS } from '../../support/day-of-traffic.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const MIB = 1024 * 1024;
const SCALE = Number(process.env.DAY_SCALE ?? '1');
const MESSAGES = 400;
const RECORDS = 100;
const RETENTION_HOURS = 4;
/** Size of the bodies and events of a message in all stored forms, with some margin. */
const LOG_BYTES = 4000;
/** Messages that are remembered after their end have no bodies any more; those of the last hour may. */
const BODY_ROOM = 2500;
const METER_BYTES = 64 * 1024;
const JOURNAL_BYTES = 4 * MIB * SCALE;
/** Of a write-ahead log: the bytes before a checkpoint, and the largest transactions after it. */
const WAL_BYTES = 24 * MIB;
/** A stream's files go when all that is in them has gone. */
const BLOCK_BYTES = 8 * MIB;

describe("a day's traffic", function () {
  this.timeout(120_000 * Math.max(1, SCALE));
  const day = standOfAllTests(() =>
    DayOfTraffic.begin({
      messages: MESSAGES * SCALE,
      records: RECORDS * SCALE,
      retentionMs: RETENTION_HOURS * 3_600_000,
      journalTotalBytes: JOURNAL_BYTES,
      meterBytes: METER_BYTES,
    }),
  );

  it('leaves at most the retained data on the disk, in each part of the data directory', async () => {
    const most = new Map<string, number>();
    for (let hour = 0; hour < HOURS; hour += 1) {
      await day.hour();
      for (const [part, bytes] of await day.bytes()) most.set(part, Math.max(most.get(part) ?? 0, bytes));
    }
    if (process.env.DAY_SCALE !== undefined) {
      process.stdout.write(`${JSON.stringify({ meterWritten: day.meterBytesWritten, ...Object.fromEntries(most) })}\n`);
    }
    const atMost = (part: string, bytes: number) => expect(most.get(part) ?? 0, part).to.be.at.most(bytes);
    const keptMessages = MESSAGES * SCALE * (RETENTION_HOURS + 2);
    atMost('message-log', WAL_BYTES + 4 * MIB + keptMessages * LOG_BYTES * 1.34);
    atMost('statistics', WAL_BYTES + 4 * MIB);
    const recordBytes = day.meterBytesWritten / (RECORDS * SCALE * HOURS);
    atMost('meter', 4 * METER_BYTES + 2 * RECORDS * SCALE * (recordBytes + 100));
    // The bound of the total, and the bytes that arrive until the next check.
    atMost('journals-queue', JOURNAL_BYTES * 1.5);
    atMost('journals-kv', 0);
    atMost('intakes', 0);
    atMost('leases', 64 * 1024);
    atMost('objects', 8 * MIB + MESSAGES * SCALE * BODY_ROOM);
    const logical = ['meter', 'journals-queue', 'objects', 'leases', 'journal-control'];
    const held = logical.reduce((sum, part) => sum + (most.get(part) ?? 0), 0);
    atMost('jetstream-files', held * 2 + logical.length * BLOCK_BYTES);
    atMost('server-log', 16 * MIB);
    atMost('other', 64 * 1024);
    // Purged meter records were counted before: none is missing from the total.
    expect(await day.firstMeterPosition()).to.be.above(1);
    expect(await day.commands()).to.equal(9 * RECORDS * SCALE * HOURS);
  });
});
