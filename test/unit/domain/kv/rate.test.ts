import { expect } from 'chai';
import { Rate } from '../../../../src/domain/kv/index.js';

describe('the rate of a counter', () => {
  it('is zero before a value was noted', () => {
    expect(new Rate().perSecond(5_000, 100)).to.equal(0);
  });

  it('is the increase of the last one to two seconds', () => {
    const rate = new Rate();
    for (let ms = 0; ms <= 10_000; ms += 100) rate.note(ms, ms);
    expect(rate.perSecond(10_000, 10_000)).to.equal(1_000);
    expect(rate.perSecond(10_900, 10_900)).to.equal(1_000);
  });

  it('is not extrapolated in the first moments', () => {
    const rate = new Rate();
    rate.note(1_000, 0);
    expect(rate.perSecond(1_001, 5)).to.equal(5);
  });

  it('falls when the counter no longer grows', () => {
    const rate = new Rate();
    for (let ms = 0; ms <= 3_000; ms += 1_000) rate.note(ms, ms);
    expect(rate.perSecond(102_000, 3_000)).to.equal(10);
  });

  it('starts again at zero after a restart', () => {
    const rate = new Rate();
    rate.note(0, 1_000);
    rate.restart();
    expect(rate.perSecond(1_000, 0)).to.equal(0);
  });
});
