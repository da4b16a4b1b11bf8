import { expect } from 'chai';
import { BodyReferences } from '../../../../src/domain/queue/messages/body-references.js';

describe('body references', () => {
  it('say when the last one has gone', () => {
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

  it('are never needed for the empty body', () => {
    const references = new BodyReferences();
    references.add(0);
    expect(references.isNeeded(0)).to.equal(false);
    expect(references.remove(0)).to.equal(false);
  });

  it('cannot be taken away where there is none', () => {
    const references = new BodyReferences();
    references.add(7);
    expect(() => references.remove(8)).to.throw('loses a reference');
  });
});
