/** Scores, fusion and numbers of vectors, against values that were computed by hand. */
import { expect } from 'chai';
import {
  fused,
  inverseFrequency,
  scoreOf,
  shortFloat,
  sparseOfDocument,
  sparseOfQuery,
  type VectorSimilarity,
} from '../../../../src/domain/search/index.js';
import { PackedVectors } from '../../../../src/domain/vector-graph/index.js';

function score(metric: VectorSimilarity, query: readonly number[], stored: readonly number[]): number {
  const vectors = new PackedVectors(stored.length, 'F32');
  vectors.set(0, Float32Array.from(stored));
  return scoreOf(metric)(vectors, vectors.query(Float32Array.from(query)), 0);
}

describe('scores of vectors', () => {
  for (const [metric, query, stored, expected] of [
    ['COSINE', [1, 0], [0, 1], 0.5],
    ['COSINE', [1, 0], [-2, 0], 0],
    ['COSINE', [3, 4], [6, 8], 1],
    ['COSINE', [0, 0], [1, 1], 0.5],
    ['EUCLIDEAN', [1, 2], [1, 2], 1],
    ['EUCLIDEAN', [1, 2], [3, 3], 1 / 6],
    ['DOT_PRODUCT', [0.5, 0.5], [1, 0], 0.75],
  ] as const) {
    it(`of ${metric} for ${query} and ${stored} is ${expected}`, () =>
      expect(score(metric, query, stored)).to.equal(expected));
  }

  it('of a vector and itself is exactly 1 by cosine, for any numbers', () => {
    for (let seed = 1; seed < 500; seed += 1) {
      const vector = Array.from(
        { length: 1 + (seed % 70) },
        (_, at) => Math.sin(seed * 7.3 + at * 1.7) * 10 ** (at % 9),
      );
      expect(score('COSINE', vector, vector), String(seed)).to.equal(1);
    }
  });

  it('by rarity weigh a dimension by ln(((N - n + 0.5) / (n + 0.5)) + 1)', () => {
    expect(inverseFrequency(3, 1)).to.be.closeTo(Math.log(2.5 / 1.5 + 1), 1e-15);
    expect(inverseFrequency(1, 1)).to.be.closeTo(Math.log(0.5 / 1.5 + 1), 1e-15);
  });
});

describe('numbers of 32 bits', () => {
  for (const [number, shown] of [
    [Math.fround(0.1), 0.1],
    [Math.fround(1 / 30), 0.033333335],
    [0.028608438, 0.028608438],
    [-3, -3],
    [16_777_217, 16_777_216],
    [Math.fround(3.4e38), 3.4e38],
  ] as const) {
    it(`${number} is shown as ${shown}`, () => expect(shortFloat(number)).to.be.closeTo(shown, Math.abs(shown) * 1e-6));
  }

  it('are shown so that they are read back as the same number', () => {
    for (let at = 0; at < 5000; at += 1) {
      const number = Math.fround(Math.sin(at) * 10 ** ((at % 60) - 30));
      expect(Math.fround(shortFloat(number))).to.equal(number);
    }
  });
});

describe('the fusion of two lists', () => {
  const list = (...entries: readonly (readonly [string, number])[]) => entries.map(([id, score]) => ({ id, score }));

  it('by ranks adds 1 / (rank + 60) of each list, ranks from 0', () => {
    const hits = fused([list(['a', 9], ['b', 8]), list(['b', 1], ['c', 0.5])], 'RRF', 10);
    expect(hits).to.deep.equal([
      { id: 'b', score: 1 / 61 + 1 / 60 },
      { id: 'a', score: 1 / 60 },
      { id: 'c', score: 1 / 61 },
    ]);
  });

  it('by scores spreads each list over six standard deviations', () => {
    const [first, second] = fused([list(['a', 0.99497], ['b', 0.99029])], 'DBSF', 10);
    expect(first?.score).to.be.closeTo(0.617851, 1e-6);
    expect(second?.score).to.be.closeTo(1 - 0.617851, 1e-6);
  });

  it('by scores gives 0.5 to a list with one score, and adds both lists', () => {
    expect(fused([list(['a', 0.3]), list(['a', 7])], 'DBSF', 10)).to.deep.equal([{ id: 'a', score: 1 }]);
    expect(fused([list(['a', 2], ['b', 2]), []], 'DBSF', 1)).to.deep.equal([{ id: 'a', score: 0.5 }]);
  });
});

describe('sparse vectors of texts', () => {
  const product = (query: string, text: string) => {
    const [asked, stored] = [sparseOfQuery(query), sparseOfDocument(text)];
    return [...asked.indices].reduce((sum, dimension, at) => {
      const place = stored.indices.indexOf(dimension);
      return place < 0 ? sum : sum + (asked.values[at] as number) * (stored.values[place] as number);
    }, 0);
  };

  it('have BM25 as their inner product, with k1 1.2, b 0.75 and an average length of 32', () => {
    // One of two words; the text is shorter than the average: 2.2 / (1 + 1.2 · (0.25 + 0.75 · 2 / 32)).
    expect(product('boats', 'red boats')).to.be.closeTo(2.2 / (1 + 1.2 * (0.25 + (0.75 * 2) / 32)), 1e-6);
    expect(product('boats', 'boats boats')).to.be.closeTo(4.4 / (2 + 1.2 * (0.25 + (0.75 * 2) / 32)), 1e-6);
  });

  it('reduce words to their stem and leave out the most common ones', () => {
    expect(product('running', 'they run')).to.be.greaterThan(1);
    expect(product('the and of', 'the and of')).to.equal(0);
    expect(sparseOfDocument('the and of').indices).to.have.length(0);
  });
});
