import { expect } from 'chai';
import { HashedNgrams } from '../../../../src/domain/search/index.js';
import {
  BLOCK_ORDINALS,
  cosine,
  normalized,
  quantized,
  VectorBlocks,
} from '../../../../src/projections/search-index/vector-blocks.js';

describe('vectors of documents', () => {
  const embedding = new HashedNgrams();
  const cosineOf = (a: Float32Array, b: Float32Array) => cosine(normalized([...a]), normalized([...b]));

  it('give nearly the similarity of the exact vectors', () => {
    const texts = ['a red bicycle', 'red bicycles', 'the history of tea', '', 'bicycle red a'];
    const blocks = new VectorBlocks(embedding.dimensions);
    const ordinals = [0, 1, BLOCK_ORDINALS - 1, BLOCK_ORDINALS, 3 * BLOCK_ORDINALS + 5];
    texts.forEach((text, at) => void blocks.set(ordinals[at] as number, quantized(embedding.embed(text)), false));
    for (const query of texts) {
      const into = new Float32Array(BLOCK_ORDINALS);
      texts.forEach((text, at) => {
        const ordinal = ordinals[at] as number;
        blocks.cosines(Math.floor(ordinal / BLOCK_ORDINALS), quantized(embedding.embed(query)), into);
        const expected = query === '' || text === '' ? 0 : cosineOf(embedding.embed(query), embedding.embed(text));
        expect(into[ordinal % BLOCK_ORDINALS], `${query} / ${text}`).to.be.closeTo(expected, 0.02);
      });
    }
  });

  it('stay unchanged while the first block grows', () => {
    const blocks = new VectorBlocks(embedding.dimensions);
    for (let ordinal = 0; ordinal < BLOCK_ORDINALS; ordinal += 7) {
      blocks.set(ordinal, quantized(embedding.embed(`word${ordinal} other${ordinal}`)), false);
    }
    const into = new Float32Array(BLOCK_ORDINALS);
    for (const ordinal of [0, 14, 15 * 7, 1022]) {
      blocks.cosines(0, quantized(embedding.embed(`word${ordinal} other${ordinal}`)), into);
      expect(into[ordinal]).to.be.closeTo(1, 1e-5);
    }
  });

  it('leave no values in a reused ordinal', () => {
    const blocks = new VectorBlocks(embedding.dimensions);
    blocks.set(3, quantized(embedding.embed('something with many words')), false);
    blocks.set(3, quantized(embedding.embed('tea')), true);
    const into = new Float32Array(BLOCK_ORDINALS);
    blocks.cosines(0, quantized(embedding.embed('tea')), into);
    expect(into[3]).to.be.closeTo(1, 1e-5);
    expect(into[2]).to.equal(0);
  });

  it('of clients have length 1, for any values', () => {
    for (const vector of [
      [3, 4],
      [3e300, 4e300],
      [3e-300, 4e-300],
    ]) {
      expect([...normalized(vector)].map((value) => Math.round(value * 10) / 10)).to.deep.equal([0.6, 0.8]);
    }
  });
});
