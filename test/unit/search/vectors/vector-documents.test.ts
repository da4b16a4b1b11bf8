/** The stored form of vectors, their parts, and the keys that they are in. */
import { expect } from 'chai';
import {
  decodeVector,
  denseModelOf,
  encodeVector,
  floatsOf,
  hashedText,
  MAX_SPARSE_VALUES,
  type StoredVector,
  sparseOf,
  VECTOR_LAYOUT,
} from '../../../../src/domain/search/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';

describe('the stored form of a vector', () => {
  const dense = Float32Array.from([0.1, -2.5, 3e-20]);
  const sparse = { indices: Int32Array.from([7, -1, 2_147_483_647]), values: Float32Array.from([1, 0.5, -3]) };

  for (const [what, vector] of [
    ['dense numbers', { dense }],
    ['sparse numbers', { sparse }],
    ['both, metadata and data', { dense, sparse, metadata: { ä: [1, null] }, data: 'größer\u0000' }],
    ['data alone', { data: '' }],
  ] as const satisfies readonly (readonly [string, StoredVector])[]) {
    it(`keeps ${what}`, () => {
      const read = decodeVector(encodeVector(vector));
      expect(JSON.stringify(read)).to.equal(JSON.stringify({ dense: undefined, sparse: undefined, ...vector }));
    });
  }

  it('has four bytes for each number and twelve more', () => {
    expect(encodeVector({ dense })).to.have.length(12 + 3 * 4);
    expect(encodeVector({ sparse })).to.have.length(12 + 3 * 8);
  });

  it('is refused with another version, length or text', () => {
    const whole = encodeVector({ dense, metadata: { a: 1 } });
    for (const broken of [
      '',
      whole.slice(0, 15),
      `\x02${whole.slice(1)}`,
      whole.slice(0, -1),
      `${encodeVector({ dense })}[]x`,
    ]) {
      let failure: unknown;
      try {
        decodeVector(broken);
      } catch (thrown) {
        failure = thrown;
      }
      expect(isMillraceError(failure, 'INVALID'), JSON.stringify(broken)).to.equal(true);
    }
  });

  it('is in one of 32 hashes of its namespace, always the same for an id', () => {
    const keys = new Set(Array.from({ length: 2000 }, (_, at) => VECTOR_LAYOUT.keyOf('ns', `id-${at}`)));
    expect([...keys].sort()).to.deep.equal(VECTOR_LAYOUT.keysOf('ns'));
    expect(VECTOR_LAYOUT.keyOf('ns', 'id-1')).to.equal('v11:ns');
    expect([...keys].map((key) => VECTOR_LAYOUT.nameOf(key))).to.deep.equal([...keys].map(() => 'ns'));
    for (const other of ['o:ns', 's:ns', 'c', 'v20:ns', 'd:ns'])
      expect(VECTOR_LAYOUT.nameOf(other)).to.equal(undefined);
  });
});

describe('the numbers of a vector', () => {
  it('must be numbers that 32 bits can hold', () => {
    expect(floatsOf([1, 0.5])).to.deep.equal(Float32Array.from([1, 0.5]));
    for (const wrong of [['1'], [null], [Number.NaN], [1e39]]) expect(floatsOf(wrong)).to.equal(undefined);
  });

  for (const [mistake, given, text] of [
    ['no arrays', { indices: 1, values: [] }, 'must be an object with the arrays indices and values'],
    ['lists of different lengths', { indices: [1], values: [] }, 'indices and values must have the same length'],
    ['no dimension', { indices: [], values: [] }, 'must have at least one dimension'],
    ['an index with a fraction', { indices: [1.5], values: [1] }, 'indices must be whole numbers of 32 bits'],
    ['a repeated index', { indices: [1, 1], values: [1, 2] }, 'indices must be different numbers'],
    ['a text as a value', { indices: [1], values: ['x'] }, 'values must be numbers of 32 bits'],
    [
      'too many dimensions',
      {
        indices: Array.from({ length: MAX_SPARSE_VALUES + 1 }, (_, at) => at),
        values: Array(MAX_SPARSE_VALUES + 1).fill(1),
      },
      `has ${MAX_SPARSE_VALUES + 1} dimensions, at most ${MAX_SPARSE_VALUES} are allowed`,
    ],
  ] as const) {
    it(`are refused for a sparse vector with ${mistake}`, () => expect(sparseOf(given)).to.equal(text));
  }
});

describe('vectors of texts by hashing', () => {
  const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);

  it('are the same for the same text, and nearer to a misspelling than to another text', () => {
    const text = hashedText('Journals are append-only', 384);
    expect(hashedText('Journals are append-only', 384)).to.deep.equal(text);
    const [misspelled, other] = [hashedText('Jornals are append-only', 384), hashedText('Cats sleep all day', 384)];
    expect(cosine(text, misspelled)).to.be.greaterThan(cosine(text, other) + 0.3);
  });

  it('have length 1, also for a text without words', () => {
    for (const text of ['word', '!?', '…', 'two words'])
      expect(cosine(hashedText(text, 768), hashedText(text, 768))).to.be.closeTo(1, 1e-5);
  });
});

describe('the model of an index', () => {
  it('is hashing for a known name without a provider, and that name with one', () => {
    expect(denseModelOf('BGE_M3', 0, false)).to.deep.equal({ model: 'HASHING_1024', dimension: 1024 });
    expect(denseModelOf('BGE_M3', 1024, true)).to.deep.equal({ model: 'BGE_M3', dimension: 1024 });
    expect(denseModelOf('HASHING_12', 12, true)).to.deep.equal({ model: 'HASHING_12', dimension: 12 });
  });
});
