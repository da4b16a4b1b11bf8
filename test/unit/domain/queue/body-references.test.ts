import { expect } from 'chai';
import { BodyReferences } from '../../../../src/domain/queue/model/messages/body-references.js';

describe('body references', () => {
  it('report when the last one is removed', () => {
    const references = new BodyReferences();
    for (const number of [1, 31, 32, 511, 512, 5_000_000_000]) {
      references.add(number);
      references.add(number);
      references.add(number);
      expect(references.remove(number)).to.equal(false);
      expect(references.remove(number)).to.equal(false);
      expect(references.isNeeded(number)).to.equal(true);
      expect(references.remove(number)).to.equal(true);
      expect(references.isNeeded(number)).to.equal(false);
    }
  });

  it('count one and several, with other bodies unchanged', () => {
    const references = new BodyReferences();
    const counts = new Map(Array.from({ length: 1200 }, (_, i) => [i + 1, 1 + (i % 5)]));
    for (const [number, count] of counts) {
      for (let i = 0; i < count; i += 1) expect(references.add(number)).to.equal(i === 0);
      expect(references.isShared(number)).to.equal(count > 1);
    }
    for (let round = 0; round < 5; round += 1) {
      for (const [number, count] of counts) {
        const left = Math.max(0, count - round);
        expect([references.isNeeded(number), references.isShared(number)]).to.deep.equal([left > 0, left > 1]);
        if (left > 0) expect(references.remove(number)).to.equal(left === 1);
      }
    }
  });

  it('are not needed for the empty body', () => {
    const references = new BodyReferences();
    references.add(0);
    expect(references.isNeeded(0)).to.equal(false);
    expect(references.remove(0)).to.equal(false);
  });

  it('cannot be removed where there is none', () => {
    const references = new BodyReferences();
    references.add(7);
    expect(() => references.remove(8)).to.throw('loses a reference');
  });
});
