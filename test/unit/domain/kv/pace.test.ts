import { expect } from 'chai';
import { Pace } from '../../../../src/domain/kv/index.js';

describe('pace of a count', () => {
  it('is nothing before anything was noted', () => {
    expect(new Pace().perSecond(5_000, 100)).to.equal(0);
  });

  it('is what was added in the last one to two seconds', () => {
    const pace = new Pace();
    for (let ms = 0; ms <= 10_000; ms += 100) pace.note(ms, ms);
    expect(pace.perSecond(10_000, 10_000)).to.equal(1_000);
    expect(pace.perSecond(10_900, 10_900)).to.equal(1_000);
  });

  it('does not make much of the first moments', () => {
    const pace = new Pace();
    pace.note(1_000, 0);
    expect(pace.perSecond(1_001, 5)).to.equal(5);
  });

  it('falls when nothing is added any more', () => {
    const pace = new Pace();
    for (let ms = 0; ms <= 3_000; ms += 1_000) pace.note(ms, ms);
    expect(pace.perSecond(102_000, 3_000)).to.equal(10);
  });

  it('begins again', () => {
    const pace = new Pace();
    pace.note(0, 1_000);
    pace.restart();
    expect(pace.perSecond(1_000, 0)).to.equal(0);
  });
});
