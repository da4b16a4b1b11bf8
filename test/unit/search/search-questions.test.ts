/** Questions to the search indexes and their answers, encoded and decoded. */
import { expect } from 'chai';
import { type DatabaseId, isMillraceError, MillraceError } from '../../../src/kernel/index.js';
import type { SearchHit, SearchQueries, VectorQueries, VectorQuery } from '../../../src/ports/index.js';
import { answerSearch, SearchClient } from '../../../src/query/index.js';
import { PLAIN_QUERY } from '../../support/search-stand.js';

const INDEX = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;

describe('a question to the search indexes', () => {
  const hits: SearchHit[] = [
    { id: 'a', score: 0.123456789, content: JSON.parse('{"__proto__": {"x": "ä😀"}}'), metadata: { m: [null, 1e300] } },
    { id: 'b', score: 0 },
  ];
  const asked: unknown[] = [];
  const indexes: SearchQueries & VectorQueries = {
    search: async (...question) => {
      asked.push(question);
      if (question[1] === 'wrong') throw new MillraceError('INVALID', 'no');
      return hits;
    },
    queryVectors: async (...question) => {
      asked.push(question);
      return { hits: [{ id: 'ü', score: 0.5 }], denseLast: { id: 'ü', score: 0.5 } };
    },
    info: async (index) => {
      asked.push([index]);
      return { namespaces: new Map([['ä', { documents: 2, bytes: 30 }]]), dimensions: 256 };
    },
  };
  const remote = new SearchClient((question) => answerSearch(indexes, question));

  it('arrives unchanged, and so does its answer', async () => {
    const query = { ...PLAIN_QUERY, text: 'größe', vector: [0.1, -2], filter: `a = 'b'` };
    expect(JSON.stringify(await remote.search(INDEX, 'näme', query))).to.equal(JSON.stringify(hits));
    expect(asked.at(-1)).to.deep.equal([INDEX, 'näme', query]);
    expect(await remote.info(INDEX)).to.deep.equal({
      namespaces: new Map([['ä', { documents: 2, bytes: 30 }]]),
      dimensions: 256,
    });
  });

  it('arrives unchanged if it has vectors', async () => {
    const query: VectorQuery = {
      dense: [0.5, -2],
      sparse: { indices: [-7, 3], values: [1, 0.25] },
      topK: 3,
      filter: '',
      weighsByRarity: true,
      fusion: 'DBSF',
      denseAfter: { id: 'ä', score: 0.25 },
    };
    const answer = await remote.queryVectors(INDEX, 'näme', query);
    expect(answer).to.deep.equal({ hits: [{ id: 'ü', score: 0.5 }], denseLast: { id: 'ü', score: 0.5 } });
    expect(asked.at(-1)).to.deep.equal([INDEX, 'näme', query]);
  });

  it('fails with the error of the indexes', async () => {
    const failure = await remote.search(INDEX, 'wrong', PLAIN_QUERY).catch((error: unknown) => error);
    expect(isMillraceError(failure, 'INVALID')).to.equal(true);
  });

  it('is refused in an unknown form', async () => {
    for (const text of ['', '{}', '[2,{"kind":"info"}]', '[1,{"kind":"other"}]', '[1,null]']) {
      const failure = await answerSearch(indexes, Buffer.from(text)).catch((error: unknown) => error);
      expect(isMillraceError(failure, 'INVALID'), text).to.equal(true);
    }
  });
});
