import { expect } from 'chai';
import { WorkShare } from '../../../../src/actors/runtime/work-share.js';
import { ManualTime } from '../../../support/memory/index.js';

describe('the share of a core', () => {
  it('approaches the part of the time that work took, and fades when it ends', async () => {
    const time = new ManualTime();
    const share = new WorkShare(time);
    expect(share.ofCore).to.equal(0);
    for (let ms = 0; ms < 120_000; ms += 10) {
      await time.advance(10);
      share.add(3);
    }
    expect(share.ofCore).to.be.closeTo(0.3, 0.01);
    await time.advance(20_000);
    expect(share.ofCore).to.be.closeTo(0.3 / Math.E, 0.01);
    await time.advance(400_000);
    expect(share.ofCore).to.be.lessThan(0.001);
  });
});
