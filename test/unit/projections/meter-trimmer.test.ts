/** The front of the meter's log is removed up to the position that no reader needs any more. */
import { expect } from 'chai';
import { MeterTrimmer } from '../../../src/projections/stats/meter-trimmer.js';
import { METER_SHARD } from '../../../src/protocol/index.js';
import { MemoryJournal, MemoryMeterLog } from '../../support/memory/index.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';

describe('trimming the meter log', () => {
  async function firstAfter(covered: number, counted: number, records = 10): Promise<number> {
    const journal = new MemoryJournal({ clock: realTime, timers: realTime });
    journal.createStream(METER_SHARD);
    const meterLog = new MemoryMeterLog(journal);
    for (let number = 0; number < records; number += 1) await meterLog.append(new Uint8Array([number]));
    const parts = { journal, timers: realTime, log: silentLog };
    const trimmer = new MeterTrimmer({ ...parts, coveredUpTo: () => covered, countedUpTo: () => counted });
    await trimmer.trim();
    await trimmer.trim();
    return (await journal.tail(METER_SHARD)).first;
  }

  it('removes records that are in two snapshots, except the last', async () => {
    expect(await firstAfter(7, 100)).to.equal(7);
    expect(await firstAfter(10, 10)).to.equal(10);
  });

  it('keeps records that the control state has not counted', async () => {
    expect(await firstAfter(7, 4)).to.equal(4);
    expect(await firstAfter(7, 0)).to.equal(1);
  });

  it('removes no record without two snapshots', async () => {
    expect(await firstAfter(0, 100)).to.equal(1);
  });

  it('leaves a log alone that ends before', async () => {
    expect(await firstAfter(20, 20)).to.equal(1);
  });

  it('continues when the journal did not answer', async () => {
    const journal = new MemoryJournal({ clock: realTime, timers: realTime });
    journal.createStream(METER_SHARD);
    const meterLog = new MemoryMeterLog(journal);
    for (let number = 0; number < 10; number += 1) await meterLog.append(new Uint8Array([number]));
    let isAway = true;
    const answering = {
      tail: (shard: typeof METER_SHARD) => (isAway ? Promise.reject(new Error('away')) : journal.tail(shard)),
      truncateFront: (shard: typeof METER_SHARD, keepFrom: number) => journal.truncateFront(shard, keepFrom),
    };
    const parts = { journal: answering, timers: realTime, log: silentLog };
    const trimmer = new MeterTrimmer({ ...parts, coveredUpTo: () => 5, countedUpTo: () => 5 });
    await trimmer.trim();
    isAway = false;
    await trimmer.trim();
    expect((await journal.tail(METER_SHARD)).first).to.equal(5);
  });
});
