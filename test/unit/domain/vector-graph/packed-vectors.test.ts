/** Vectors in four precisions. Proves PV1 and PV2. */
import { expect } from 'chai';
import { PackedVectors } from '../../../../src/domain/vector-graph/index.js';

const stored = (precision: 'F32' | 'F16' | 'I8' | 'B1', numbers: readonly number[]): PackedVectors => {
  const vectors = new PackedVectors(numbers.length, precision);
  vectors.set(0, Float32Array.from(numbers));
  return vectors;
};

const samples = Array.from({ length: 60 }, (_, seed) =>
  Float32Array.from({ length: 37 }, (_, at) => Math.sin(seed * 7.3 + at * 1.7) * 10 ** (seed % 30)),
);

describe('packed vectors', () => {
  it('of 32 bits have a cosine of exactly 1 with themselves and a distance of exactly 0', () => {
    const vectors = new PackedVectors(37, 'F32');
    for (const [ordinal, numbers] of samples.entries()) vectors.set(ordinal, numbers);
    for (const [ordinal, numbers] of samples.entries()) {
      expect(vectors.cosine(vectors.query(numbers), ordinal)).to.equal(1);
      expect(vectors.squaredDistance(vectors.query(numbers), ordinal)).to.equal(0);
    }
  });

  for (const [precision, error] of [
    ['F16', 2 ** -11],
    ['I8', 1 / 254],
  ] as const) {
    it(`of ${precision} differ from the given numbers by at most ${error} of the largest, for any length`, () => {
      for (const numbers of samples) {
        const largest = Math.max(...numbers.map(Math.abs));
        const read = stored(precision, [...numbers]).read(0);
        const errors = read.map((value, at) => Math.abs(value - (numbers[at] as number)));
        expect(Math.max(...errors)).to.be.at.most(error * largest * 1.001);
      }
    });

    it(`of ${precision} have products, cosines and distances of the numbers that they read as`, () => {
      const vectors = stored(precision, [0.5, -1, 3, 0, 2.5]);
      const query = vectors.query(Float32Array.from([1, 2, -1, 4, 0.5]));
      const read = [...vectors.read(0)];
      const product = read.reduce((sum, value, at) => sum + value * (query.numbers[at] as number), 0);
      expect(vectors.product(query, 0)).to.be.closeTo(product, 1e-5);
      const distance = read.reduce((sum, value, at) => sum + (value - (query.numbers[at] as number)) ** 2, 0);
      expect(vectors.squaredDistance(query, 0)).to.be.closeTo(distance, 1e-4);
      const squared = read.reduce((sum, value) => sum + value * value, 0);
      expect(vectors.cosine(query, 0)).to.be.closeTo(product / Math.sqrt(query.squared * squared), 1e-5);
    });
  }

  it('of signs have as cosine the share of equal signs', () => {
    const numbers = Array.from({ length: 70 }, (_, at) => (at % 3 === 0 ? 1 : -1));
    const vectors = stored('B1', numbers);
    expect([...vectors.read(0)]).to.deep.equal(numbers);
    const different = numbers.map((value, at) => (at < 7 ? -value : value));
    expect(vectors.cosine(vectors.query(Float32Array.from(different)), 0)).to.be.closeTo(1 - 14 / 70, 1e-12);
  });

  it('without a direction have no cosine', () => {
    for (const precision of ['F32', 'F16', 'I8'] as const) {
      const vectors = stored(precision, [0, 0]);
      expect(vectors.cosine(vectors.query(Float32Array.from([1, 1])), 0), precision).to.equal(undefined);
    }
  });
});
