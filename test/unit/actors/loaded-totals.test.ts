import { expect } from 'chai';
import { LoadedTotals } from '../../../src/actors/kv-shard/loaded-totals.js';
import { KvEngine } from '../../../src/domain/kv/index.js';
import { ManualTime } from '../../support/memory/index.js';

const random = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };
const engine = () => new KvEngine(random, { nowMicros: () => 0, info: () => new Map() });

describe('the totals over loaded databases', () => {
  it('are counted once for all gauges that are read together, and again later', async () => {
    const time = new ManualTime();
    const engines = [engine(), engine(), engine()];
    let passes = 0;
    const totals = new LoadedTotals(time, () => {
      passes += 1;
      return engines;
    });
    const read = () => [totals.now.outbox.messages, totals.now.indexes.documents, totals.now.indexes.bytes];
    expect(read()).to.deep.equal([0, 0, 0]);
    expect(totals.now.outbox.oldestAtMs).to.equal(undefined);
    expect(passes).to.equal(1);
    await time.advance(1000);
    read();
    expect(passes).to.equal(2);
  });

  it('have the sum of all messages and the time of the oldest', () => {
    const waiting = (size: number, oldestAtMs: number | undefined) => ({
      outbox: Object.defineProperties(engine().outbox, { size: { value: size }, oldestAtMs: { value: oldestAtMs } }),
      searches: engine().searches,
    });
    const totals = new LoadedTotals(new ManualTime(), () => [
      waiting(2, 7000),
      waiting(0, undefined),
      waiting(3, 5000),
    ]);
    expect(totals.now.outbox).to.deep.equal({ messages: 5, oldestAtMs: 5000 });
  });
});
