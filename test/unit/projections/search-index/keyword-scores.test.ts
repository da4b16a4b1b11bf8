/** The number of postings that one query reads. Proves KSC3. */
import { expect } from 'chai';
import { MAX_QUERY_WORDS, Postings } from '../../../../src/domain/search/index.js';
import { scoreKeywords } from '../../../../src/projections/search-index/keyword-scores.js';
import type { NamedIndex } from '../../../../src/projections/search-index/named-index.js';

/** A posting in the form of an index: the document with this ordinal has the word once. */
function postingOf(ordinal: number): number {
  const postings = new Postings();
  postings.add(ordinal, 1);
  return postings.items[0] as number;
}

/** A term with this number of postings, all of one document, so that its score shows that it was read. */
function termOf(text: string, ordinal: number, length: number) {
  const items = new Uint32Array(length).fill(postingOf(ordinal));
  return { text, ordinal, documents: 1, postings: { items, length } };
}

/** An index with every searched word, each in a separate document, and many longer words for each. */
function indexOf(wordPostings: number, formPostings: number, forms: number) {
  const terms = new Map<string, ReturnType<typeof termOf>>();
  const formsByOrdinal = new Map<number, string>();
  let ordinals = 0;
  const index = {
    size: 1_000_000,
    lengthFactors: new Float32Array(10_000).fill(1),
    documentAt: () => ({}),
    vocabulary: {
      size: 1000,
      get: (word: string) => {
        const known = terms.get(word) ?? termOf(word, ordinals++, wordPostings);
        terms.set(word, known);
        return known;
      },
      withPrefix: (word: string, most: number) =>
        Array.from({ length: Math.min(most, forms) }, (_, at) => {
          const text = `${word}${at}`;
          formsByOrdinal.set(ordinals, text);
          return { term: termOf(text, ordinals++, formPostings), distance: 1 + at };
        }),
      likeWord: () => [],
    },
  };
  const scores = new Float32Array(10_000);
  return {
    terms,
    /** The number of longer words that were read. */
    search(words: readonly string[]) {
      const steps = scoreKeywords(index as unknown as NamedIndex, words, {
        keywords: scores,
        counted: new Uint32Array(10_000),
      });
      let slices = 1;
      while (steps.next().done !== true) slices += 1;
      const seen = [...formsByOrdinal.keys()].filter((ordinal) => (scores[ordinal] as number) > 0).length;
      const isEachWordSeen = [...terms.values()].map(({ ordinal }) => (scores[ordinal] as number) > 0);
      return { seen, isEachWordSeen, slices };
    },
  };
}

describe('the work for one query', () => {
  it('leaves out longer words above its bound, the less likely first, and never the words themselves (KSC3)', () => {
    const index = indexOf(400_000, 100_000, 20);
    const { seen, isEachWordSeen, slices } = index.search(['one', 'two', 'three']);
    expect(seen).to.equal(3);
    expect(isEachWordSeen).to.deep.equal([true, true, true]);
    expect(slices).to.be.at.least(3);
  });

  it('reads a bounded number of words, and of longer ones for each (KSC3)', () => {
    const words = Array.from({ length: MAX_QUERY_WORDS + 10 }, (_, at) => `word${at}`);
    const index = indexOf(1, 1, 1000);
    expect(index.search(words).seen).to.equal(MAX_QUERY_WORDS * 32);
    expect(index.terms.size).to.equal(MAX_QUERY_WORDS);
  });
});
