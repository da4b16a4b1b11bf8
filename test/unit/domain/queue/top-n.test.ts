/** The first few of many items, in an order. */
import { expect } from 'chai';
import fc from 'fast-check';
import { TopN } from '../../../../src/domain/queue/collections/top-n.js';

describe('the first few of many items', () => {
  it('are those of the sorted list without duplicates, and hasMore reports the others', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30)), fc.nat(6), (offered, count) => {
        const top = new TopN<number>(count, (a, b) => a - b);
        for (const item of offered) top.offer(item);
        const sorted = [...new Set(offered)].sort((a, b) => a - b);
        expect(top.items).to.deep.equal(sorted.slice(0, count));
        expect(top.hasMore).to.equal(sorted.length > count);
      }),
    );
  });
});
