import { expect } from 'chai';
import fc from 'fast-check';
import { rangeAfter, rangeOf } from '../../../src/domain/search/index.js';
import { bytesOfText } from '../../../src/kernel/index.js';
import { repetitions } from '../../support/depth.js';

/** The comparison of ZRANGEBYLEX. */
function isWithin(id: string, { from, to }: { from: string; to: string }): boolean {
  const isFrom = from === '-' || (from[0] === '[' ? id >= from.slice(1) : id > from.slice(1));
  const isTo = to === '+' || (to[0] === '[' ? id <= to.slice(1) : id < to.slice(1));
  return isFrom && isTo;
}

const text = fc.string({
  unit: fc.constantFrom('a', 'b', '\u007f', 'é', '\u00ff', '€', '\uffff', '😀', '\u{10ffff}'),
  maxLength: 4,
});

describe('ranges of document ids', () => {
  it('contain exactly the ids with the prefix', () => {
    fc.assert(
      fc.property(text, text, (prefix, id) => {
        const [bytes, range] = [bytesOfText(id), rangeOf(bytesOfText(prefix))];
        expect(isWithin(bytes, range)).to.equal(id.startsWith(prefix));
      }),
      { numRuns: repetitions(5000) },
    );
  });

  it('continue after an id, within the prefix', () => {
    fc.assert(
      fc.property(text, text, text, (prefix, last, id) => {
        const range = rangeAfter(bytesOfText(prefix), bytesOfText(last));
        const isBehind = bytesOfText(id) > bytesOfText(last);
        expect(isWithin(bytesOfText(id), range)).to.equal(id.startsWith(prefix) && isBehind);
      }),
      { numRuns: repetitions(5000) },
    );
  });

  it('start at the first id without a last one', () => {
    expect(rangeAfter('', undefined)).to.deep.equal({ from: '-', to: '+' });
    expect(rangeAfter('a', undefined)).to.deep.equal({ from: '[a', to: '(b' });
  });
});
