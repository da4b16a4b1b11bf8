/** Proves OR1. */
import { expect } from 'chai';
import { OwnerReadings } from '../../../src/actors/runtime/owner-readings.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { ManualTime } from '../../support/memory/index.js';

const SHARD = 'KV_0' as ShardName;

describe('the clock of an owner as an edge knows it', () => {
  let time: ManualTime;
  let readings: OwnerReadings;
  /** The clock of the owner, which started long before and runs slightly slower or faster. */
  const ownersMs = (rate: number) => 1_000_000 + time.monotonicMs() * rate;

  beforeEach(() => {
    time = new ManualTime();
    readings = new OwnerReadings(time);
  });

  it('is unknown at first, and after a long silence', async () => {
    expect(readings.onOwnersClock(SHARD, 100)).to.equal(undefined);
    readings.hear(SHARD, { epoch: 3, atMs: ownersMs(1) });
    expect(readings.onOwnersClock(SHARD, 100)?.epoch).to.equal(3);
    await time.advance(60_000);
    expect(readings.onOwnersClock(SHARD, 100)).to.equal(undefined);
  });

  it('never lets a deadline pass at the owner later than at the edge, for any delay and drift', async () => {
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

  it('is taken from the quickest answer: a slow answer does not shorten deadlines', async () => {
    readings.hear(SHARD, { epoch: 3, atMs: 5000 });
    const late = { epoch: 3, atMs: 5000 + time.monotonicMs() };
    await time.advance(900);
    readings.hear(SHARD, late);
    expect(readings.onOwnersClock(SHARD, 1000)?.atMs).to.be.within(5900, 6000);
  });

  it('is that of the newest owner: readings of a replaced owner are ignored', () => {
    readings.hear(SHARD, { epoch: 4, atMs: 10 });
    readings.hear(SHARD, { epoch: 3, atMs: 99_999 });
    expect(readings.onOwnersClock(SHARD, 100)?.epoch).to.equal(4);
    readings.forget(SHARD, 3);
    expect(readings.onOwnersClock(SHARD, 100)?.epoch).to.equal(4);
    readings.forget(SHARD, 4);
    expect(readings.onOwnersClock(SHARD, 100)).to.equal(undefined);
  });
});
