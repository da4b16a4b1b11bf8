import { expect } from 'chai';
import { Membership } from '../../../../src/actors/runtime/index.js';
import type { SessionId } from '../../../../src/kernel/index.js';
import { ManualTime, MemoryNetwork } from '../../../support/memory/index.js';

describe('the silence of other processes', () => {
  const gone = 'node-gone' as SessionId;

  it('counts from the start of listening, and counts earlier silence up to a given bound', async () => {
    const clock = new ManualTime();
    const membership = new Membership(new MemoryNetwork(clock).connect(), clock);
    membership.start();
    await clock.advance(10_000);
    expect(membership.silentForMs(gone)).to.equal(10_000);
    membership.countSilenceFor(2_000);
    expect(membership.silentForMs(gone)).to.equal(2_000);
    await clock.advance(500);
    membership.countSilenceFor(5_000);
    expect(membership.silentForMs(gone)).to.equal(2_500);
    membership.countSilenceFor(0);
    expect(membership.silentForMs(gone)).to.equal(0);
    membership.stop();
  });
});
