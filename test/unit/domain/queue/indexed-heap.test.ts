import { expect } from 'chai';
import fc from 'fast-check';
import { IndexedHeap } from '../../../../src/domain/queue/collections/indexed-heap.js';

interface Item {
  readonly rank: number;
  heapIndex: number;
}

describe('indexed heap', () => {
  it('returns the first of the remaining items, also after removals from the middle', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.array(fc.nat(1000)), (ranks, leaving) => {
        const heap = new IndexedHeap<Item>((a, b) => a.rank < b.rank);
        const items = ranks.map((rank): Item => ({ rank, heapIndex: -1 }));
        for (const item of items) heap.push(item);
        for (const at of leaving) {
          const [gone] = items.length === 0 ? [] : items.splice(at % items.length, 1);
          if (gone === undefined) continue;
          heap.delete(gone);
          expect(gone.heapIndex).to.equal(-1);
        }
        const taken: number[] = [];
        for (let item = heap.pop(); item !== undefined; item = heap.pop()) taken.push(item.rank);
        expect(taken).to.deep.equal(items.map(({ rank }) => rank).sort((a, b) => a - b));
      }),
    );
  });
});
