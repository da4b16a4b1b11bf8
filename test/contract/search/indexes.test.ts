/** The data plane of search indexes over HTTP: whole indexes, and queries. Proves DS3. */
import { expect } from 'chai';
import { MillraceError } from '../../../src/kernel/index.js';
import { SEARCH_INDEX, SEARCH_INDEX_NAME, SearchEndpointHarness } from '../../support/search-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

describe('search data plane: indexes', () => {
  const face = standOfEachTest(() => new SearchEndpointHarness().start());

  describe('info', () => {
    it('counts documents, and those not searchable yet', async () => {
      await face.fill('films', 3);
      await face.fill('books', 2);
      face.queries.indexed = new Map([
        ['films', 1],
        ['books', 5],
        ['gone', 4],
      ]);
      const bytes = 3 * ('d0'.length + '{"content":{"number":0}}'.length) + 2 * 'd0{"content":{"number":0}}'.length;
      expect(await face.result('info')).to.deep.equal({
        vectorCount: 5,
        pendingVectorCount: 2,
        indexSize: bytes,
        dimension: 512,
        similarityFunction: 'COSINE',
        indexType: 'HYBRID',
        denseIndex: { dimension: 512, similarityFunction: 'COSINE', embeddingModel: 'HASHED_NGRAMS' },
        sparseIndex: { embeddingModel: 'BM25' },
        namespaces: {
          films: { vectorCount: 3, pendingVectorCount: 2 },
          books: { vectorCount: 2, pendingVectorCount: 0 },
        },
      });
    });

    it('is empty before the first document, and works with GET', async () => {
      const info = await face.result('info', undefined, { method: 'GET' });
      expect([info.vectorCount, info.pendingVectorCount, info.indexSize, info.namespaces]).to.deep.equal([0, 0, 0, {}]);
    });

    it('counts documents and bytes after every kind of change', async () => {
      await face.fill('a', 20);
      await face.result('upsert-data/a', { id: 'd0', content: { number: 0, longer: 'é' } });
      await face.result('delete/a', { ids: ['d1', 'd2', 'none'] });
      await face.result('delete/a', { prefix: 'd1' });
      await face.result('delete/a', { filter: 'number = 5' });
      await face.fill('b', 4);
      await face.fill('c', 5);
      await face.fill('d', 6);
      await face.result('reset/b');
      await face.result('delete-namespace/c');
      await face.result('rename-namespace', { namespace: 'd', newNamespace: 'a', deleteExisting: true });
      await face.fill('e', 1);
      const { vectorCount, indexSize, namespaces } = await face.result('info');
      const count = (name: string) => namespaces[name].vectorCount;
      expect([vectorCount, count('a'), count('b'), count('e')]).to.deep.equal([7, 6, 0, 1]);
      expect(indexSize).to.equal(7 * 'd0{"content":{"number":0}}'.length);
      expect(face.gauges.at(-1)).to.deep.equal({ documents: 7, storageBytes: indexSize });
      await face.result('delete/a', { filter: 'number >= 0' });
      await face.result('reset?all');
      const empty = await face.result('info');
      expect([empty.vectorCount, empty.indexSize]).to.deep.equal([0, 0]);
      expect(face.gauges.at(-1)).to.deep.equal({ documents: 0, storageBytes: 0 });
    });

    it('accepts the name __proto__', async () => {
      await face.fill('__proto__', 1);
      const { text } = await face.call('info');
      expect(text).to.contain('"namespaces":{"__proto__":{"vectorCount":1,');
    });
  });

  describe('list-namespaces', () => {
    it('lists names in the order of their creation, each once', async () => {
      for (const name of ['films', 'books', 'films', 'an%20index!', 'a/b/c', '%C3%A9']) await face.fill(name, 1);
      expect(await face.result('list-namespaces')).to.deep.equal(['films', 'books', 'an index!', 'a/b/c', 'é']);
      expect(await face.result('list-namespaces', undefined, { method: 'GET' })).to.have.length(5);
    });

    it('keeps a name without documents until it is deleted', async () => {
      await face.fill('films', 1);
      await face.result('delete/films', { ids: ['d0'] });
      expect(await face.result('list-namespaces')).to.deep.equal(['films']);
      await face.result('delete-namespace/films');
      expect(await face.result('list-namespaces')).to.deep.equal([]);
    });
  });

  describe('reset', () => {
    it('empties one index and keeps it', async () => {
      await face.fill('films', 3);
      await face.fill('books', 2);
      expect(await face.result('reset/films', [])).to.equal('Success');
      expect(await face.result('reset/films', undefined, { method: 'DELETE' })).to.equal('Success');
      const { namespaces } = await face.result('info');
      expect(namespaces.films.vectorCount).to.equal(0);
      expect(namespaces.books.vectorCount).to.equal(2);
      expect((await face.result('range/films', {})).vectors).to.deep.equal([]);
    });

    it('succeeds for an index that does not exist, and creates none', async () => {
      expect(await face.result('reset/none', [])).to.equal('Success');
      expect(await face.result('list-namespaces')).to.deep.equal([]);
    });

    it('empties every index with `all`, and keeps them', async () => {
      for (let at = 0; at < 30; at += 1) await face.fill(`i${at}`, 1);
      expect(await face.result('reset?all', [])).to.equal('Success');
      expect(await face.result('reset?all', [])).to.equal('Success');
      const { vectorCount, namespaces } = await face.result('info');
      expect([vectorCount, Object.keys(namespaces).length]).to.deep.equal([0, 30]);
    });

    it('requires a name without `all`', async () => {
      for (const command of ['reset', 'reset/', 'reset?some']) {
        const answer = await face.call(command, []);
        expect([answer.status, answer.body.error]).to.deep.equal([
          400,
          'index name is missing: it follows the command in the path',
        ]);
      }
    });
  });

  describe('delete-namespace', () => {
    it('deletes an index with its documents, and answers 404 for one that does not exist', async () => {
      await face.fill('films', 3);
      expect(await face.result('delete-namespace/films', [])).to.equal('Success');
      for (const method of ['POST', 'DELETE']) {
        const answer = await face.call('delete-namespace/films', [], { method });
        expect(answer.status).to.equal(404);
        expect(answer.body).to.deep.equal({
          error: `Namespace films for the index ${SEARCH_INDEX_NAME} does not exist`,
          status: 404,
        });
      }
      expect((await face.result('info')).vectorCount).to.equal(0);
    });
  });

  describe('rename-namespace', () => {
    it('keeps the documents', async () => {
      await face.fill('films', 2);
      const names = { namespace: 'films', newNamespace: 'movies' };
      expect(await face.result('rename-namespace', names)).to.deep.equal({ renamed: true });
      expect(await face.result('list-namespaces')).to.deep.equal(['movies']);
      expect((await face.result('range/movies', {})).vectors).to.deep.equal([{ id: 'd0' }, { id: 'd1' }]);
      expect((await face.result('range/films', {})).vectors).to.deep.equal([]);
    });

    it('replaces another index only with deleteExisting', async () => {
      await face.fill('films', 2);
      await face.fill('movies', 5);
      const names = { namespace: 'films', newNamespace: 'movies' };
      const refused = await face.call('rename-namespace', names);
      expect([refused.status, refused.body.error]).to.deep.equal([400, 'newNamespace: movies exists already']);
      await face.result('rename-namespace', { ...names, deleteExisting: true });
      expect((await face.result('info')).namespaces).to.deep.equal({
        movies: { vectorCount: 2, pendingVectorCount: 2 },
      });
    });

    it('renames an empty index, and one to its own name', async () => {
      await face.fill('films', 1);
      await face.result('rename-namespace', { namespace: 'films', newNamespace: 'films' });
      await face.result('reset/films');
      await face.result('rename-namespace', { namespace: 'films', newNamespace: 'movies' });
      expect(await face.result('list-namespaces')).to.deep.equal(['movies']);
    });

    it('answers 404 for an index that does not exist, and names an invalid field', async () => {
      const missing = await face.call('rename-namespace', { namespace: 'x', newNamespace: 'y' });
      expect([missing.status, missing.body.error]).to.deep.equal([
        404,
        `Namespace x for the index ${SEARCH_INDEX_NAME} does not exist`,
      ]);
      const wrong: [unknown, string][] = [
        [{}, 'namespace must be a string'],
        [{ namespace: 'x', newNamespace: '' }, 'newNamespace must not be empty'],
        [{ namespace: 'x', newNamespace: 'a\u0000' }, 'newNamespace must not have control characters'],
        [{ namespace: 'x', newNamespace: 'y', deleteExisting: 1 }, 'deleteExisting must be a boolean value'],
      ];
      for (const [body, text] of wrong) {
        const answer = await face.call('rename-namespace', body);
        expect([answer.status, answer.body.error]).to.deep.equal([400, text]);
      }
    });
  });

  describe('search', () => {
    it("passes on the client's query, and shows the hits unchanged", async () => {
      face.queries.hits = [
        { id: 'a', score: 1, content: { x: 1 }, metadata: { y: 2 } },
        { id: 'b', score: 0.5 },
      ];
      const body = {
        query: 'space opera',
        topK: 5,
        includeData: true,
        includeMetadata: true,
        filter: 'year > 1999',
        reranking: true,
        semanticWeight: 0.2,
        inputEnrichment: true,
        _appendOriginalInputToEnrichmentResult: false,
        other: 'ignored',
      };
      expect(await face.result('search/films', body)).to.deep.equal(face.queries.hits);
      expect(face.queries.asked).to.deep.equal([
        {
          index: SEARCH_INDEX,
          name: 'films',
          query: {
            text: 'space opera',
            vector: undefined,
            topK: 5,
            filter: 'year > 1999',
            semanticWeight: 0.2,
            reranking: true,
            includeData: true,
            includeMetadata: true,
          },
        },
      ]);
    });

    it('has defaults, and counts null and an empty filter as absent', async () => {
      for (const body of [{ query: 'x' }, { query: 'x', filter: '', topK: null, semanticWeight: null }])
        expect(await face.result('search/films', body)).to.deep.equal([]);
      const query = {
        text: 'x',
        vector: undefined,
        topK: 10,
        filter: '',
        semanticWeight: 0.75,
        reranking: false,
        includeData: false,
        includeMetadata: false,
      };
      expect(face.queries.asked.map((asked) => asked.query)).to.deep.equal([query, query]);
    });

    it('accepts a vector of the client, with or without text', async () => {
      await face.result('search/films', { vector: [1, 0.5] });
      await face.result('search/films', { query: 'x', vector: [1] });
      expect(face.queries.asked.map(({ query }) => [query.text, query.vector])).to.deep.equal([
        ['', [1, 0.5]],
        ['x', [1]],
      ]);
    });

    it('names the invalid field', async () => {
      const wrong: [unknown, string][] = [
        [{}, 'query must be a string'],
        [{ query: '' }, 'query must not be empty'],
        [{ query: 5 }, 'query must be a string'],
        [{ query: 'x'.repeat(4097) }, 'query must be shorter than or equal to 4096 characters'],
        [{ query: 'x', topK: 0 }, 'topK must not be less than 1'],
        [{ query: 'x', topK: 1.5 }, 'topK must be an integer number'],
        [{ query: 'x', semanticWeight: 1.1 }, 'semanticWeight must be between 0 and 1'],
        [{ query: 'x', semanticWeight: -0.1 }, 'semanticWeight must be between 0 and 1'],
        [{ query: 'x', reranking: 'yes' }, 'reranking must be a boolean value'],
        [{ query: 'x', inputEnrichment: 1 }, 'inputEnrichment must be a boolean value'],
        [{ query: 'x', vector: [] }, 'vector: a vector must have 1 to 4096 dimensions'],
        [{ query: 'x', filter: 5 }, 'filter must be a string'],
        [[], 'the body is not a JSON object'],
      ];
      for (const [body, text] of wrong) {
        const answer = await face.call('search/films', body);
        expect([answer.status, answer.body.error]).to.deep.equal([400, text]);
      }
      expect(face.queries.asked).to.deep.equal([]);
    });

    it('passes on an error in a filter, and answers 503 when the index is unavailable', async () => {
      face.queries.failure = new MillraceError('INVALID', 'filter: at character 3: expected a value');
      const wrong = await face.call('search/films', { query: 'x', filter: 'a =' });
      expect(wrong.body).to.deep.equal({ error: 'filter: at character 3: expected a value', status: 400 });
      face.queries.failure = new MillraceError('SHARD_UNAVAILABLE', 'being loaded');
      const busy = await face.call('search/films', { query: 'x' });
      expect([busy.status, busy.headers['retry-after']]).to.deep.equal([503, '1']);
      expect(busy.body.error).to.equal('the search index is not available right now, nothing was done');
    });
  });
});
