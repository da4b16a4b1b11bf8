/** Every command of the data plane of vectors: its refusals, its bounds, and the calls that the client does not make. */
import { expect } from 'chai';
import type { VectorShape } from '../../../../src/domain/search/index.js';
import { VectorDatabase } from '../../../../src/projections/search-index/index.js';
import { SEARCH_READ_TOKEN, SearchEndpointHarness, WIDE_LIMITS } from '../../../support/search-endpoint.js';
import { FollowedGateway } from '../../../support/search-follower.js';

const PLAIN = { metric: 'COSINE', denseModel: '', sparseModel: '' } as const;
const DENSE: VectorShape = { ...PLAIN, kind: 'DENSE', dimension: 2 };
const HYBRID: VectorShape = { ...PLAIN, kind: 'HYBRID', dimension: 2, denseModel: 'HASHING_2', sparseModel: 'BM25' };
const UUID = '8f2e3d0c-5a4b-4c1d-9e8f-7a6b5c4d3e2f';

async function opened(vectors: VectorShape): Promise<SearchEndpointHarness> {
  const gateway = new FollowedGateway(new VectorDatabase(vectors));
  const face = new SearchEndpointHarness({ gateway, queries: gateway });
  face.vectors = vectors;
  return face.start();
}

describe('vector data plane: refusals', () => {
  let dense: SearchEndpointHarness;
  let hybrid: SearchEndpointHarness;
  before(async () => {
    [dense, hybrid] = [await opened(DENSE), await opened(HYBRID)];
  });
  beforeEach(async () => {
    for (const face of [dense, hybrid]) face.limits = { ...WIDE_LIMITS, maxReadsPerRequest: 1000 };
    await dense.result('reset?all', []);
  });
  after(() => Promise.all([dense.stop(), hybrid.stop()]));

  const big = 'x'.repeat(49 * 1024);
  for (const [command, body, status, text] of [
    ['upsert', { id: 'a' }, 422, 'vector 0: vector is required; upsert-data takes texts'],
    ['upsert', { vector: [1, 2] }, 422, 'vector 0: id is required'],
    ['upsert', [{ id: 'a', vector: [1, 2] }, 7], 422, 'vector 1 must be an object'],
    ['upsert', { id: 'a', vector: 'x' }, 422, 'vector 0: vector must be an array of numbers'],
    ['upsert', { id: 'a', vector: [1, null] }, 422, 'vector 0: vector must contain only numbers of 32 bits'],
    ['upsert', { id: 'a', vector: [1, 2, 3] }, 422, 'Invalid vector dimension: 3, expected: 2'],
    [
      'upsert',
      { id: 'a', vector: [1, 2], sparseVector: { indices: [1], values: [1] } },
      422,
      'vector 0: a dense index takes a vector, not a sparseVector',
    ],
    ['upsert', { id: 'a', vector: [1, 2], metadata: [] }, 422, 'vector 0: metadata must be an object'],
    [
      'upsert',
      { id: 'a', vector: [1, 2], metadata: { big } },
      422,
      'vector 0: metadata has 50186 bytes as JSON, at most 49152 are allowed',
    ],
    ['upsert', { id: 'a', vector: [1, 2], data: 7 }, 422, 'vector 0: data must be a string'],
    ['upsert', '{"id":', 400, undefined],
    [
      'upsert-data',
      { id: 'a', data: 'text' },
      422,
      'Embedding data for this index is not allowed. The index must be created with an embedding model to use it.',
    ],
    ['update', { vector: [1, 2] }, 422, 'id is required'],
    ['query', { topK: 3 }, 422, 'vector is required'],
    ['query', { vector: [1, 2], topK: 0 }, 400, 'topK must be a whole number from 1 to 1000'],
    ['query', { vector: [1, 2], topK: 1001 }, 400, 'topK must be a whole number from 1 to 1000'],
    [
      'query',
      { vector: [1, 2], filter: 'a = ' },
      400,
      'invalid filter at character 5: expected a value, found the end',
    ],
    ['query', { vector: [1, 2], fusionAlgorithm: 'SUM' }, 400, 'fusionAlgorithm must be one of RRF, DBSF'],
    ['query', { vector: [1, 2], includeData: 'yes' }, 400, 'includeData must be true or false'],
    ['query', [], 400, 'at least one query is needed'],
    ['query', Array(101).fill({ vector: [1, 2] }), 400, 'at most 100 queries in one request'],
    ['resumable-query', { vector: [1, 2], maxIdle: 0 }, 400, 'maxIdle must be a whole number from 1 to 86400'],
    ['resumable-query-next', { uuid: UUID }, 422, 'additionalK is required'],
    [
      'resumable-query-next',
      { uuid: UUID, additionalK: 1 },
      404,
      `there is no resumable query ${UUID}: it has ended, or was idle too long`,
    ],
    ['resumable-query-end', {}, 422, 'uuid is required: the id of a resumable query'],
    ['fetch', {}, 422, 'ids or prefix must be provided.'],
    ['fetch', { ids: ['a'], prefix: 'a' }, 422, 'Only one of ids or prefix must be provided.'],
    ['fetch', { ids: ['a', ''] }, 422, 'ids[1] must not be empty'],
    ['range', { cursor: 'x' }, 400, 'cursor is invalid: give 0, or the nextCursor of an earlier response'],
    ['range', { limit: 1001 }, 400, 'limit must be a whole number from 1 to 1000'],
    ['delete', {}, 422, 'Only and only one of the ids, prefix, or filter must be provided.'],
    ['delete-namespace', [], 400, 'the default namespace cannot be deleted: reset empties it'],
    ['rename-namespace', { namespace: '', newNamespace: 'b' }, 400, 'namespace must not be empty'],
    ['unknown', {}, 404, 'no such command'],
  ] as const) {
    const shown = JSON.stringify(body)?.slice(0, 70) ?? '';
    it(`${command} of ${shown} is ${status}`, async () => {
      const answer = await dense.call(command, body);
      expect(answer.status, answer.text).to.equal(status);
      if (text !== undefined) expect(answer.body).to.deep.equal({ error: text, status });
      expect((await dense.result('info', [])).vectorCount).to.equal(0);
    });
  }

  for (const [command, body, text] of [
    ['upsert', { id: 'a', vector: [1, 2] }, 'vector 0: sparseVector is required; upsert-data takes texts'],
    [
      'upsert-data',
      [
        { id: 'a', data: 'x' },
        { id: 'b', vector: [1, 2] },
      ],
      'document 1 has a vector: send texts with upsert-data and vectors with upsert',
    ],
    ['update', { id: 'a', vector: [1, 2] }, 'a hybrid index needs both vector and sparseVector, or neither'],
    ['query-data', {}, 'data is required: the text to search for'],
  ] as const) {
    it(`${command} of a hybrid index is 422: ${text}`, async () => {
      expect((await hybrid.call(command, body)).body).to.deep.equal({ error: text, status: 422 });
    });
  }

  for (const command of [
    'upsert',
    'upsert-data',
    'update',
    'delete',
    'reset',
    'delete-namespace/a',
    'rename-namespace',
  ]) {
    it(`${command} is 403 with the read-only token`, async () => {
      expect((await dense.call(command, {}, { token: SEARCH_READ_TOKEN })).status).to.equal(403);
    });
  }

  it('a token of an index of vectors is 401 on the paths of search indexes', async () => {
    const { status } = await fetch(dense.url.replace('/vector/', '/search/').concat('/info'), {
      method: 'POST',
      headers: { authorization: 'Bearer full-token' },
    });
    expect(status).to.equal(401);
  });

  it('limits of the index apply: its size, vectors of a request, results, and queries a second', async () => {
    const points = Array.from({ length: 3 }, (_, at) => ({ id: at, vector: [at, 1] }));
    dense.limits = { ...WIDE_LIMITS, maxVectorCount: 2 };
    expect((await dense.call('upsert', points)).body.error).to.equal(
      'max_vector_count: the limit is 2 documents: there are 0, and the request adds 3',
    );
    dense.limits = { ...WIDE_LIMITS, maxWritesPerRequest: 2, maxReadsPerRequest: 2, maxQueryPerSecond: 2 };
    expect((await dense.call('upsert', points)).body.error).to.contain('max_writes_per_request: at most 2');
    expect((await dense.call('fetch', { ids: [1, 2, 3] })).status).to.equal(422);
    expect((await dense.call('query', { vector: [1, 2], topK: 3 })).body.error).to.contain('from 1 to 2');
    const three = Array(3).fill({ vector: [1, 2], topK: 1 });
    expect((await dense.call('query', three)).status).to.equal(429);
  });

  it('an index has at most 200 open resumable queries, and an ended one makes room', async () => {
    const begin = () => dense.call('resumable-query', { vector: [1, 2], maxIdle: 60 });
    const uuids: string[] = [];
    for (let count = 0; count < 200; count += 1) uuids.push((await begin()).body.result.uuid);
    expect((await begin()).status).to.equal(429);
    await dense.result('resumable-query-end', { uuid: uuids[0] });
    expect((await begin()).status).to.equal(200);
  });

  it('namespaces may have any characters, encoded or not, and a name is needed by no command', async () => {
    for (const [path, name] of [
      ['a/b', 'a/b'],
      ['gr%C3%B6%C3%9Fer', 'größer'],
      ['__proto__', '__proto__'],
      ['100%', '100%'],
    ] as const) {
      await dense.result(`upsert/${path}`, { id: 'x', vector: [1, 2] });
      expect(await dense.result('list-namespaces', [])).to.include(name);
      expect(await dense.result(`fetch/${path}`, { ids: 'x' })).to.deep.equal([{ id: 'x' }]);
    }
    expect(await dense.result('random/a/b', undefined, { method: 'GET' })).to.deep.equal({ id: 'x', vector: [1, 2] });
    expect(await dense.result('random', undefined, { method: 'GET' })).to.equal(null);
    expect((await dense.call('upsert/a%00', { id: 'x', vector: [1, 2] })).status).to.equal(400);
    expect(await dense.result('rename-namespace', { namespace: 'a/b', newNamespace: 'c' })).to.deep.equal({
      renamed: true,
    });
    expect((await dense.call('rename-namespace', { namespace: 'c', newNamespace: 'größer' })).status).to.equal(400);
    expect((await dense.call('rename-namespace', { namespace: 'a/b', newNamespace: 'd' })).status).to.equal(404);
    expect(await dense.result('reset?all', [])).to.equal('Success');
    expect((await dense.result('info', [])).vectorCount).to.equal(0);
  });

  it('many updates of one vector at a time are all applied', async () => {
    await dense.result('upsert', { id: 'n', vector: [1, 2], metadata: {} });
    const changes = Array.from({ length: 4 }, (_, at) => ({
      id: 'n',
      metadata: { [`m${at}`]: at },
      metadataUpdateMode: 'PATCH',
    }));
    await Promise.all(changes.map((change) => dense.result('update', change)));
    const [found] = await dense.result('fetch', { ids: ['n'], includeMetadata: true });
    expect(found.metadata).to.deep.equal({ m0: 0, m1: 1, m2: 2, m3: 3 });
  });
});

describe('vector data plane: the precision of an index', () => {
  it('query compares bytes in an index of I8, and fetch returns the written numbers', async () => {
    const [exact, bytes] = [await opened(DENSE), await opened({ ...DENSE, precision: 'I8' })];
    const scores = await Promise.all(
      [exact, bytes].map(async (face) => {
        await face.result('upsert', { id: 'a', vector: [0.3, 0.77] });
        const [fetched] = (await face.result('fetch', { ids: ['a'], includeVectors: true })) as { vector: number[] }[];
        expect(fetched?.vector).to.deep.equal([0.3, 0.77]);
        const [found] = (await face.result('query', { vector: [1, 0.1], topK: 1 })) as { score: number }[];
        return found?.score ?? 0;
      }),
    );
    await Promise.all([exact.stop(), bytes.stop()]);
    expect(Math.abs((scores[0] ?? 0) - (scores[1] ?? 0))).to.be.within(1e-6, 0.005);
  });
});
