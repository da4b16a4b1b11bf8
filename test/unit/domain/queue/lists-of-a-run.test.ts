import { expect } from 'chai';
import fc from 'fast-check';
import { appended, without } from '../../../../src/domain/queue/model/runs/run.js';

describe('the lists of a run', () => {
  it('has the appended items without the removed ones, in order, at any length', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 60 }), fc.array(fc.nat(40)), (items, gone) => {
        let list: readonly number[] = items.reduce<number[]>((all, item) => appended(all, item), []);
        expect(list).to.deep.equal(items);
        const left = [...items];
        for (const item of gone) {
          list = without(list, item);
          if (left.includes(item)) left.splice(left.indexOf(item), 1);
        }
        expect(list).to.deep.equal(left);
      }),
    );
  });
});
