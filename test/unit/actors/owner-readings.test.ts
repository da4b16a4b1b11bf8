/** Proves OR1. */
import { expect } from 'chai';
import { OwnerReadings } from '../../../src/actors/runtime/owner-readings.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { ManualTime } from '../../support/memory/index.js';

const SHARD = 'KV_0' as ShardName;

describe('what an edge knows of the clock of an owner', () => {
  let time: ManualTime;
  let readings: OwnerReadings;
  /** The owner's clock, which began long before and runs a little slower or faster. */
  const ownersMs = (rate: number) => 1_000_000 + time.monotonicMs() * rate;

  beforeEach(() => {
    time = new ManualTime();
    readings = new OwnerReadings(time);
  });

  it('is nothing at first, and after a long silence', async () => {
    expect(readings.onOwnersClock(SHARD, 100)).to.equal(undefined);
    readings.hear(SHARD, { epoch: 3, atMs: ownersMs(1) });
    expect(readings.onOwnersClock(SHARD, 100)?.epoch).to.equal(3);
    await time.advance(60_000);
    expect(readings.onOwnersClock(SHARD, 100)).to.equal(undefined);
  });

  it('never lets a deadline pass there later than here, whatever the delays and the drift', async () => {
    let state = 7;
    const random = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    for (const rate of [0.9975, 1, 1.0025]) {
      for (let step = 0; step < 300; step += 1) {
        const sentAtMs = ownersMs(rate);
        await time.advance(random() < 0.1 ? 4000 * random() : 5 * random());
        readings.hear(SHARD, { epoch: 3, atMs: sentAtMs });
        await time.advance(2000 * random());
        const endMs = time.monotonicMs() + 5000;
        const deadline = readings.onOwnersClock(SHARD, endMs);
        const thereAtEndMs = ownersMs(rate) + 5000 * rate;
        expect(deadline?.atMs).to.be.at.most(thereAtEndMs);
        expect(deadline?.atMs, 'cut far too short').to.be.at.least(thereAtEndMs - 4300);
      }
      readings = new OwnerReadings(time);
    }
  });

  it('keeps the best of what it heard: an answer that took long does not cut deadlines short', async () => {
    readings.hear(SHARD, { epoch: 3, atMs: 5000 });
    const late = { epoch: 3, atMs: 5000 + time.monotonicMs() };
    await time.advance(900);
    readings.hear(SHARD, late);
    expect(readings.onOwnersClock(SHARD, 1000)?.atMs).to.be.within(5900, 6000);
  });

  it('is of the newest owner: one that was replaced is not listened to', () => {
    readings.hear(SHARD, { epoch: 4, atMs: 10 });
    readings.hear(SHARD, { epoch: 3, atMs: 99_999 });
    expect(readings.onOwnersClock(SHARD, 100)?.epoch).to.equal(4);
    readings.forget(SHARD, 3);
    expect(readings.onOwnersClock(SHARD, 100)?.epoch).to.equal(4);
    readings.forget(SHARD, 4);
    expect(readings.onOwnersClock(SHARD, 100)).to.equal(undefined);
  });
});
