import { expect } from 'chai';
import fc from 'fast-check';
import { BestDocuments } from '../../../../src/projections/search-index/best-documents.js';

describe('the best documents', () => {
  it('equal the first ones of a sorted list', () =>
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        (scores, most) => {
          const idOf = (ordinal: number) => `id${(ordinal * 7919) % 61}`;
          const best = new BestDocuments(most, (ordinal) => scores[ordinal] as number, idOf);
          for (const ordinal of scores.keys()) best.offer(ordinal);
          const sorted = [...scores.keys()].sort(
            (a, b) => (scores[b] as number) - (scores[a] as number) || (idOf(a) < idOf(b) ? -1 : 1),
          );
          expect(best.sorted()).to.deep.equal(sorted.slice(0, most));
          const last = sorted[most - 1];
          expect(best.floor).to.equal(last === undefined ? Number.NEGATIVE_INFINITY : scores[last]);
        },
      ),
    ));
});
