import { expect } from 'chai';
import { RightsFreshness } from '../../../../src/actors/control/rights-freshness.js';
import { encodeControlApplied } from '../../../../src/codec/control/index.js';
import type { SessionId } from '../../../../src/kernel/index.js';
import { ManualTime, MemoryNetwork } from '../../../support/memory/index.js';

const STALE_MS = 500;
/** A sign of life of the stream, which is as late as on a busy machine. */
const SIGN_MS = 250;
const LATE_MS = 40;

describe('the question to the owner of the control shard', () => {
  function asking() {
    const time = new ManualTime();
    const network = new MemoryNetwork(time);
    const questions: number[] = [];
    network.connect().serve({ kind: 'access' }, async () => {
      questions.push(time.monotonicMs());
      return encodeControlApplied({ session: 'node-owner' as SessionId, position: 7 });
    });
    const confirmed: number[] = [];
    const ports = { bus: network.connect(), clock: time, timers: time };
    const freshness = new RightsFreshness(ports, STALE_MS, (_, askedAtMs) => confirmed.push(askedAtMs));
    return { time, questions, confirmed, freshness };
  }

  it('is not asked while the stream gives its signs of life, also if they are late (OW3)', async () => {
    const { time, questions, freshness } = asking();
    for (let sign = 0; sign < 40; sign += 1) {
      freshness.heard(time.monotonicMs());
      await time.advance(SIGN_MS + (sign % 2) * LATE_MS);
    }
    expect(questions).to.deep.equal([]);
    freshness.stop();
  });

  it('is answered before the last sign of life is stale', async () => {
    const { time, questions, confirmed, freshness } = asking();
    const heardAtMs = time.monotonicMs();
    freshness.heard(heardAtMs);
    await time.advance(STALE_MS - 1);
    expect(questions).to.have.length.above(0);
    expect(confirmed[0]).to.be.within(heardAtMs + SIGN_MS + LATE_MS, heardAtMs + STALE_MS - 1);
    freshness.stop();
  });
});
