/** Calls of the published vector client, unmodified, to any server with vector indexes. */
import { FusionAlgorithm, Index, QueryMode, WeightingStrategy } from '@upstash/vector';
import { expect } from 'chai';
import { eventually } from './eventually.js';

export interface VectorServer {
  readonly url: string;
  readonly token: string;
  readonly readOnlyToken: string;
}

/** The indexes that the program needs. */
export type WantedIndex = 'dense' | 'texts' | 'sparse' | 'hybrid';

type Facts = { genre?: string; year: number; tags?: string[] };

const FILMS: { id: string | number; vector: number[]; metadata: Facts; data: string }[] = [
  { id: 'metropolis', vector: [1, 0, 0], metadata: { genre: 'sci-fi', year: 1927, tags: ['city'] }, data: 'Robots.' },
  { id: 'stalker', vector: [0.9, 0.1, 0], metadata: { genre: 'sci-fi', year: 1979 }, data: 'A zone.' },
  { id: 33, vector: [0, 1, 0], metadata: { genre: 'drama', year: 1953 }, data: 'Tokyo.' },
  { id: 'film-heat', vector: [0, 0.1, 0.9], metadata: { genre: 'crime', year: 1995 }, data: 'Los Angeles.' },
];

/** Declares the tests. @param server called once for each index; `dense` has three dimensions, `texts` has a model */
export function describeVectorClient(server: (wanted: WantedIndex) => Promise<VectorServer>): void {
  const opened = new Map<WantedIndex, VectorServer>();
  const index = (wanted: WantedIndex) => {
    const { url = '', token = '' } = opened.get(wanted) ?? {};
    return new Index<Facts>({ url, token });
  };
  const isIndexed = (wanted: WantedIndex) =>
    eventually(async () => {
      expect((await index(wanted).info()).pendingVectorCount).to.equal(0);
    });

  before(async () => {
    for (const wanted of ['dense', 'texts', 'sparse', 'hybrid'] as const) opened.set(wanted, await server(wanted));
  });

  it('upsert stores vectors, and fetch finds them at once, with null for a missing id', async () => {
    expect(await index('dense').upsert(FILMS)).to.equal('Success');
    const [tokyo, missing, first] = await index('dense').fetch(['33', 'none', 'metropolis'], {
      includeVectors: true,
      includeMetadata: true,
      includeData: true,
    });
    expect(tokyo).to.deep.equal({ ...FILMS[2], id: '33' });
    expect([missing, first]).to.deep.equal([null, FILMS[0]]);
    const byPrefix = await index('dense').fetch({ prefix: 'film-' });
    expect(byPrefix).to.deep.equal([{ id: 'film-heat' }]);
  });

  it('query finds the nearest first, the same vector with a score of exactly 1', async () => {
    await isIndexed('dense');
    const found = await index('dense').query({ vector: [1, 0, 0], topK: 2, includeMetadata: true, includeData: true });
    expect(found.map(({ id }) => id)).to.deep.equal(['metropolis', 'stalker']);
    expect(found[0]).to.deep.equal({ id: 'metropolis', score: 1, metadata: FILMS[0]?.metadata, data: 'Robots.' });
    expect(found[1]?.score).to.equal(0.99694186);
    expect(Object.keys((await index('dense').query({ vector: [1, 0, 0], topK: 1 }))[0] ?? {})).to.deep.equal([
      'id',
      'score',
    ]);
  });

  for (const [filter, ids] of [
    ["genre = 'sci-fi' AND year > 1950", ['stalker']],
    ["tags CONTAINS 'city' OR genre GLOB 'cr*'", ['metropolis', 'film-heat']],
    ['year IN (1953, 1995) AND HAS NOT FIELD tags', ['33', 'film-heat']],
    ["tags[0] = 'city'", ['metropolis']],
  ] as const) {
    it(`query finds only vectors with ${filter}`, async () => {
      const found = await index('dense').query({ vector: [1, 0, 0], topK: 10, filter });
      expect(found.map(({ id }) => id)).to.deep.equal(ids);
    });
  }

  it('queryMany answers several queries in their order', async () => {
    const many = await index('dense').queryMany([
      { vector: [1, 0, 0], topK: 1 },
      { vector: [0, 1, 0], topK: 1, includeVectors: true },
    ]);
    expect(many.map(([best]) => best?.id)).to.deep.equal(['metropolis', '33']);
    expect(many[1]?.[0]?.vector).to.deep.equal([0, 1, 0]);
    expect((await index('dense').queryMany([{ vector: [1, 0, 0], topK: 1 }]))[0]?.[0]?.id).to.equal('metropolis');
  });

  it('update changes the named parts, merges metadata with PATCH, and tells a missing id', async () => {
    const dense = index('dense');
    expect(await dense.update({ id: 'stalker', metadata: { year: 1980 }, metadataUpdateMode: 'PATCH' })).to.deep.equal({
      updated: 1,
    });
    expect(await dense.update({ id: 'stalker', data: 'A room.' })).to.deep.equal({ updated: 1 });
    const shown = { includeVectors: true, includeMetadata: true, includeData: true };
    expect(await dense.fetch(['stalker'], shown)).to.deep.equal([
      { id: 'stalker', vector: [0.9, 0.1, 0], metadata: { genre: 'sci-fi', year: 1980 }, data: 'A room.' },
    ]);
    expect(await dense.update({ id: 'none', data: 'x' })).to.deep.equal({ updated: 0 });
  });

  it('range reads pages in the order of writing, with the position as cursor', async () => {
    const namespace = index('dense').namespace('pages');
    await namespace.upsert(Array.from({ length: 20 }, (_, at) => ({ id: `p${(at * 7) % 20}`, vector: [at, 1, 1] })));
    const first = await namespace.range({ cursor: 0, limit: 5, includeVectors: true });
    expect(first.nextCursor).to.equal('5');
    expect(first.vectors.map(({ id }) => id)).to.deep.equal(['p0', 'p7', 'p14', 'p1', 'p8']);
    expect(first.vectors[3]?.vector).to.deep.equal([3, 1, 1]);
    const rest = await namespace.range({ cursor: first.nextCursor, limit: 15 });
    expect([rest.nextCursor, rest.vectors.length]).to.deep.equal(['', 15]);
    const withPrefix = await namespace.range({ cursor: 0, limit: 3, prefix: 'p1' });
    expect(withPrefix.vectors.map(({ id }) => id)).to.deep.equal(['p14', 'p1', 'p15']);
  });

  it('a resumable query gives all results in parts, until it is stopped', async () => {
    const namespace = index('dense').namespace('pages');
    await isIndexed('dense');
    const all = await namespace.query({ vector: [1, 0, 0], topK: 20 });
    const { result, fetchNext, stop } = await namespace.resumableQuery({ vector: [1, 0, 0], topK: 3, maxIdle: 60 });
    const parts = [result, await fetchNext(10), await fetchNext(10), await fetchNext(10)];
    expect(parts.map((part) => part.length)).to.deep.equal([3, 10, 7, 0]);
    expect(parts.flat()).to.deep.equal(all);
    expect(await stop()).to.equal('Success');
    const { url = '', token = '' } = opened.get('dense') ?? {};
    const ended = await fetch(`${url}/resumable-query-end`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ uuid: '8f2e3d0c-5a4b-4c1d-9e8f-7a6b5c4d3e2f' }),
    });
    const { error } = (await ended.json()) as { error: string };
    expect([ended.status, error]).to.deep.equal([
      404,
      'there is no resumable query 8f2e3d0c-5a4b-4c1d-9e8f-7a6b5c4d3e2f: it has ended, or was idle too long',
    ]);
  });

  it('namespaces are made by the first upsert, listed, counted, reset and deleted', async () => {
    const dense = index('dense');
    expect(await dense.listNamespaces()).to.deep.equal(['', 'pages']);
    expect((await dense.info()).namespaces).to.deep.equal({
      '': { vectorCount: 4, pendingVectorCount: 0 },
      pages: { vectorCount: 20, pendingVectorCount: 0 },
    });
    await dense.reset({ namespace: 'pages' });
    expect((await dense.info()).namespaces.pages?.vectorCount).to.equal(0);
    expect(await dense.namespace('pages').range({ cursor: 0, limit: 5 })).to.deep.equal({
      nextCursor: '',
      vectors: [],
    });
    expect(await dense.deleteNamespace('pages')).to.equal('Success');
    expect(await refusal(dense.deleteNamespace('pages'))).to.match(/^Namespace pages for the index .* does not exist$/);
    expect(await dense.namespace('missing').query({ vector: [1, 0, 0], topK: 3 })).to.deep.equal([]);
  });

  it('info describes a dense index', async () => {
    const { dimension, similarityFunction, denseIndex, vectorCount } = await index('dense').info();
    expect({ dimension, similarityFunction, denseIndex, vectorCount }).to.deep.equal({
      dimension: 3,
      similarityFunction: 'COSINE',
      denseIndex: { dimension: 3, similarityFunction: 'COSINE' },
      vectorCount: 4,
    });
  });

  it('delete removes by ids, by prefix and by filter, and refuses two of them', async () => {
    const dense = index('dense');
    expect(await dense.delete(['33', 'none'])).to.deep.equal({ deleted: 1 });
    expect(await dense.delete({ prefix: 'film-' })).to.deep.equal({ deleted: 1 });
    expect(await dense.delete({ filter: 'year < 1930' })).to.deep.equal({ deleted: 1 });
    expect(await refusal(dense.delete({ ids: ['a'], prefix: 'b' } as never))).to.equal(
      'Only and only one of the ids, prefix, or filter must be provided.',
    );
    expect((await dense.range({ cursor: 0, limit: 10 })).vectors).to.deep.equal([{ id: 'stalker' }]);
    await dense.reset();
  });

  it('refuses vectors of another length, texts without a model, and writes with the read-only token', async () => {
    const dense = index('dense');
    expect(await refusal(dense.upsert({ id: 'a', vector: [1, 2] }))).to.equal(
      'Invalid vector dimension: 2, expected: 3',
    );
    expect(await refusal(dense.upsert({ id: 'a', data: 'text' }))).to.equal(
      'Embedding data for this index is not allowed. The index must be created with an embedding model to use it.',
    );
    expect(await refusal(dense.fetch({ ids: ['a'], prefix: 'b' } as never))).to.equal(
      'Only one of ids or prefix must be provided.',
    );
    const { url = '', readOnlyToken = '' } = opened.get('dense') ?? {};
    const reader = new Index({ url, token: readOnlyToken });
    expect(await reader.query({ vector: [1, 0, 0], topK: 1 })).to.deep.equal([]);
    expect(await refusal(reader.upsert({ id: 'a', vector: [1, 0, 0] }))).to.contain('read-only');
    const wrong = new Index({ url, token: 'wrong' });
    expect(await refusal(wrong.info())).to.equal('Unauthorized: Invalid auth token');
  });

  it('texts are embedded by hashing, which info names: the same text has a score of exactly 1', async () => {
    const texts = index('texts');
    await texts.upsert([
      { id: 'a', data: 'Journals are append-only.', metadata: { genre: 'note', year: 1 } },
      { id: 'b', data: 'Cats sleep for most of the day.' },
    ]);
    await isIndexed('texts');
    const exact = await texts.query({ data: 'Cats sleep for most of the day.', topK: 2, includeData: true });
    expect(exact[0]).to.deep.equal({ id: 'b', score: 1, data: 'Cats sleep for most of the day.' });
    const [misspelled] = await texts.query({ data: 'Jornals are append-only', topK: 1, includeMetadata: true });
    expect(misspelled).to.deep.include({ id: 'a', metadata: { genre: 'note', year: 1 } });
    expect((await texts.info()).denseIndex?.embeddingModel).to.equal('HASHING_384');
    expect(
      await refusal(
        texts.upsert([
          { id: 'c', data: 'x' },
          { id: 'd', vector: [1] },
        ] as never),
      ),
    ).to.contain('vector is required; upsert-data takes texts');
  });

  it('sparse vectors are found by the inner product of common dimensions, and weighted by rarity on request', async () => {
    const sparse = index('sparse');
    await sparse.upsert(
      [0, 1, 2].map((at) => ({
        id: `id${at}`,
        sparseVector: { indices: [at, at + 1], values: [(at + 1) / 10, (at + 2) / 10] },
      })),
    );
    await isIndexed('sparse');
    const sparseVector = { indices: [0, 1], values: [0.1, 0.2] };
    const plain = await sparse.query({ sparseVector, topK: 5, includeVectors: true });
    expect(plain.map(({ id, score }) => [id, score])).to.deep.equal([
      ['id0', 0.05],
      ['id1', 0.040000003],
    ]);
    expect(plain[1]?.sparseVector).to.deep.equal({ indices: [1, 2], values: [0.2, 0.3] });
    const weighted = await sparse.query({ sparseVector, topK: 5, weightingStrategy: WeightingStrategy.IDF });
    expect(weighted.map(({ id, score }) => [id, score])).to.deep.equal([
      ['id0', 0.028608438],
      ['id1', 0.018800145],
    ]);
  });

  it('a hybrid index fuses both parts by rank, or by scores', async () => {
    const hybrid = index('hybrid');
    const dense = (first: number) => [first, ...Array.from({ length: 383 }, () => 0.1)];
    await hybrid.upsert([
      { id: 'a', vector: dense(4), sparseVector: { indices: [1], values: [1] } },
      { id: 'b', vector: dense(2), sparseVector: { indices: [1], values: [0.5] } },
    ]);
    await isIndexed('hybrid');
    const query = { vector: dense(4), sparseVector: { indices: [1], values: [1] }, topK: 2 };
    const byRank = await hybrid.query(query);
    expect(byRank).to.deep.equal([
      { id: 'a', score: 0.033333335 },
      { id: 'b', score: 0.032786883 },
    ]);
    const byScore = await hybrid.query({ ...query, fusionAlgorithm: FusionAlgorithm.DBSF });
    expect(byScore.map(({ id, score }) => [id, Math.round(score * 1e5) / 1e5])).to.deep.equal([
      ['a', 1.2357],
      ['b', 0.7643],
    ]);
    expect((await hybrid.query({ sparseVector: query.sparseVector, topK: 2 })).map(({ score }) => score)).to.deep.equal(
      [1, 0.5],
    );
    expect(await refusal(hybrid.upsert({ id: 'c', vector: dense(1) } as never))).to.contain('sparseVector is required');
    await hybrid.reset();
  });

  it('a hybrid index embeds texts in both ways, and searches one part on request', async () => {
    const hybrid = index('hybrid');
    await hybrid.upsert([
      { id: 'a', data: 'The running of the bulls' },
      { id: 'b', data: 'Green tea with honey' },
    ]);
    await isIndexed('hybrid');
    const both = await hybrid.query({ data: 'bulls run', topK: 2 });
    expect(both[0]?.id).to.equal('a');
    const words = await hybrid.query({ data: 'he runs', topK: 2, queryMode: QueryMode.SPARSE, includeData: true });
    expect(words.map(({ id }) => id)).to.deep.equal(['a']);
    const alike = await hybrid.query({ data: 'Green tea with honey', topK: 1, queryMode: QueryMode.DENSE });
    expect(alike).to.deep.equal([{ id: 'b', score: 1 }]);
    expect((await hybrid.info()).sparseIndex?.embeddingModel).to.equal('BM25');
  });
}

/** The error message of a failed call. */
async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the call did not fail');
}
