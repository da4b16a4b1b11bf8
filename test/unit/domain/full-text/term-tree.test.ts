/** Proves TRT1 against a comparison with every term. */
import { expect } from 'chai';
import fc from 'fast-check';
import { TermTree } from '../../../../src/domain/full-text/term-tree.js';

/** The distance by its definition, with the whole table; swaps of neighbours are one change. */
function distanceByTable(a: string, b: string, isSwapOne: boolean): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j));
  const at = (i: number, j: number): number => table[i]?.[j] as number;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapOne && isSwapped) least = Math.min(least, at(i - 2, j - 2) + 1);
      (table[i] as number[])[j] = least;
    }
  }
  return at(a.length, b.length);
}

function beginningsOf(text: string): string[] {
  return Array.from({ length: text.length + 1 }, (_, length) => text.slice(0, length));
}

const WORD = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 });
const WORDS = fc.uniqueArray(
  WORD.filter((word) => word !== ''),
  { maxLength: 40 },
);

function treeOf(words: readonly string[]): TermTree<string> {
  const tree = new TermTree<string>();
  for (const word of words) tree.set(word, word);
  return tree;
}

function all<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

describe('full-text: the tree of terms', () => {
  it('finds the terms with a prefix', () => {
    fc.assert(
      fc.property(WORDS, WORD, (words, prefix) => {
        const found = [...treeOf(words).withPrefix(prefix)].sort();
        expect(found).to.deep.equal(words.filter((word) => word.startsWith(prefix)).sort());
      }),
    );
  });

  it('finds the terms within one or two changes, with their distances', () => {
    fc.assert(
      fc.property(WORDS, WORD, fc.constantFrom(0, 1, 2), fc.boolean(), (words, word, distance, isSwapOne) => {
        const near = all(treeOf(words).near(word, { distance, isSwapOne, isPrefix: false }));
        const expected = words
          .map((term) => ({ term, distance: distanceByTable(word, term, isSwapOne) }))
          .filter((found) => found.distance <= distance);
        expect(near).to.have.deep.members(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('finds the terms that begin with a similar word', () => {
    fc.assert(
      fc.property(WORDS, WORD, fc.constantFrom(0, 1, 2), fc.boolean(), (words, word, distance, isSwapOne) => {
        const near = all(treeOf(words).near(word, { distance, isSwapOne, isPrefix: true }));
        const expected = words
          .map((term) => ({
            term,
            distance: Math.min(...beginningsOf(term).map((text) => distanceByTable(word, text, isSwapOne))),
          }))
          .filter((found) => found.distance <= distance);
        expect(near).to.have.deep.members(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('counts two swapped neighbours as one change, or as two', () => {
    const tree = treeOf(['laptop']);
    const near = (isSwapOne: boolean) => all(tree.near('latpop', { distance: 2, isSwapOne, isPrefix: false }));
    expect(near(true)).to.deep.equal([{ term: 'laptop', distance: 1 }]);
    expect(near(false)).to.deep.equal([{ term: 'laptop', distance: 2 }]);
  });
});
