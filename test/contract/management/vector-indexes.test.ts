/** Indexes of vectors by the management API. */
import { expect } from 'chai';
import { databaseIdOfUuid } from '../../../src/protocol/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

type Shown = Record<string, unknown> & { readonly id: string };

const DENSE = { name: 'films', region: 'us-east-1', similarity_function: 'COSINE', dimension_count: 384, type: 'payg' };

describe('management API: indexes of vectors', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());

  const shown = async (id: string) => (await face.ok('GET', `/v2/vector/index/${id}`)).json as Shown;
  const made = async (body: object) => (await face.ok('POST', '/v2/vector/index', { body })).json as Shown;

  it('POST /v2/vector/index shows every documented field', async () => {
    const index = await made(DENSE);
    expect(index).to.include({
      customer_id: 'owner@example.com',
      name: 'films',
      similarity_function: 'COSINE',
      dimension_count: 384,
      embedding_model: '',
      sparse_embedding_model: '',
      endpoint: `search.example/at/vector/${index.id}`,
      type: 'payg',
      region: 'us-east-1',
      max_vector_count: 2_000_000,
      max_daily_updates: -1,
      max_daily_queries: -1,
      max_monthly_bandwidth: -1,
      max_writes_per_second: 10_000,
      max_query_per_second: 1000,
      max_reads_per_request: 1000,
      max_writes_per_request: 1000,
      max_total_metadata_size: -1,
      reserved_price: 0,
      creation_time: Math.floor(face.control.nowMs / 1000),
      index_type: 'DENSE',
    });
    expect(index.token).to.be.a('string').and.not.equal(index.read_only_token);
    expect(Object.keys(index).length).to.equal(25);
    expect(await shown(index.id)).to.deep.equal(index);
    expect((await face.ok('GET', '/v2/vector/index')).json).to.deep.equal([index]);
  });

  it('GET of one plane does not show indexes of the other', async () => {
    const [search, vector] = [await face.newSearchIndex(), (await made(DENSE)).id];
    expect((await face.call('GET', `/v2/search/${vector}`)).json).to.deep.equal({ error: 'search index not found' });
    expect((await face.call('GET', `/v2/vector/index/${search}`)).json).to.deep.equal({
      error: 'vector index not found',
    });
    expect(((await face.ok('GET', '/v2/search')).json as Shown[]).map(({ id }) => id)).to.deep.equal([search]);
    expect(((await face.ok('GET', '/v2/vector/index')).json as Shown[]).map(({ id }) => id)).to.deep.equal([vector]);
  });

  for (const [what, body, expected] of [
    [
      'names the hashing method in place of a known model, with the dimension of the model',
      { ...DENSE, dimension_count: undefined, embedding_model: 'BGE_M3' },
      { embedding_model: 'HASHING_1024', dimension_count: 1024 },
    ],
    [
      'makes a sparse index without a dimension',
      { ...DENSE, index_type: 'SPARSE', dimension_count: 0, sparse_embedding_model: 'BGE_M3' },
      { index_type: 'SPARSE', dimension_count: 0, embedding_model: '', sparse_embedding_model: 'BM25' },
    ],
    ['makes an index with numbers of 16 bits in queries', { ...DENSE, precision: 'F16' }, { precision: 'F16' }],
    [
      'makes a hybrid index with both models, and the default plan',
      { ...DENSE, type: undefined, index_type: 'HYBRID', embedding_model: 'HASHING', sparse_embedding_model: 'BM25' },
      { type: 'payg', index_type: 'HYBRID', embedding_model: 'HASHING_384', sparse_embedding_model: 'BM25' },
    ],
  ] as const) {
    it(`POST /v2/vector/index ${what}`, async () => expect(await made(body)).to.include(expected));
  }

  it('POST /v2/vector/index keeps the name of a model that a provider knows', async () => {
    const provided = await new ManagementHarness({ hasEmbeddings: true }).start();
    try {
      const body = { ...DENSE, embedding_model: 'nomic-embed-text', dimension_count: 768 };
      const index = (await provided.ok('POST', '/v2/vector/index', { body })).json;
      expect(index).to.include({ embedding_model: 'nomic-embed-text', dimension_count: 768 });
    } finally {
      await provided.stop();
    }
  });

  for (const [mistake, change, text] of [
    ['without a name', { name: undefined }, 'name: is required'],
    ['with an unknown precision', { precision: 'F64' }, 'precision: must be one of the following values: F32, F16, I8'],
    [
      'in an unknown region',
      { region: 'eu-north-1' },
      'region: must be one of the following values: eu-west-1, us-east-1, us-central1',
    ],
    [
      'without a dimension',
      { dimension_count: undefined },
      'dimension_count: is required for dense vectors without an embedding_model',
    ],
    ['with too many dimensions', { dimension_count: 4097 }, 'dimension_count: must not be greater than 4096'],
    [
      'with another dimension than its model',
      { embedding_model: 'BGE_BASE_EN_V1_5' },
      'dimension_count: BGE_BASE_EN_V1_5 has 768 dimensions',
    ],
    [
      'with a model that no provider knows',
      { embedding_model: 'other' },
      'embedding_model: this server has no provider of embeddings, so it must be one of BGE_SMALL_EN_V1_5, BGE_BASE_EN_V1_5, BGE_LARGE_EN_V1_5, BGE_M3, HASHING',
    ],
    ['of the plan fixed', { type: 'fixed' }, 'type: fixed is not available on this server'],
  ] as const) {
    it(`POST /v2/vector/index is refused ${mistake}`, async () => {
      const { status, json } = await face.call('POST', '/v2/vector/index', { body: { ...DENSE, ...change } });
      expect([status, json]).to.deep.equal([400, { error: text }]);
      expect((await face.ok('GET', '/v2/vector/index')).json).to.deep.equal([]);
    });
  }

  it('POST rename, reset-password and setplan change name, tokens and limits', async () => {
    const before = await made(DENSE);
    const at = (call: string) => `/v2/vector/index/${before.id}/${call}`;
    expect((await face.ok('POST', at('rename'), { body: { name: 'books' } })).text).to.equal('"OK"');
    expect((await face.ok('POST', at('reset-password'))).text).to.equal('"OK"');
    expect((await face.ok('POST', at('setplan'), { body: { target_plan: 'free' } })).text).to.equal('"OK"');
    const after = await shown(before.id);
    expect(after).to.include({ name: 'books', type: 'free', max_vector_count: 200_000, max_daily_queries: 10_000 });
    expect(after.token).to.not.equal(before.token);
    expect(after.read_only_token).to.not.equal(before.read_only_token);
    const { status } = await face.call('POST', at('setplan'), { body: { target_plan: 'fixed' } });
    expect(status).to.equal(400);
  });

  it('POST transfer moves an index to a team, and refuses a person', async () => {
    const { id } = await made(DENSE);
    const team = await face.newTeam();
    const toPerson = await face.call('POST', `/v2/vector/index/${id}/transfer`, {
      body: { target_account: 'ada@example.com' },
    });
    expect(toPerson.status).to.equal(400);
    await face.ok('POST', `/v2/vector/index/${id}/transfer`, { body: { target_account: team } });
    expect((await face.call('GET', `/v2/vector/index/${id}`)).status).to.equal(404);
  });

  it('DELETE removes the index and its vectors', async () => {
    const { id } = await made(DENSE);
    expect((await face.ok('DELETE', `/v2/vector/index/${id}`)).text).to.equal('"OK"');
    expect((await face.call('GET', `/v2/vector/index/${id}`)).status).to.equal(404);
    expect(face.removed).to.deep.equal([[databaseIdOfUuid(id), 1]]);
  });

  it('GET stats shows 60 points of a period, 240 of thirty days, and the totals of all', async () => {
    const { id } = await made(DENSE);
    for (const [period, points] of [
      ['1h', 60],
      ['7d', 60],
      ['30d', 240],
    ] as const) {
      const { json } = await face.ok('GET', `/v2/vector/index/${id}/stats?period=${period}`);
      const { query_throughput, vector_count, days } = json as Record<string, unknown[]>;
      expect([query_throughput?.length, vector_count?.length, days?.length]).to.deep.equal([points, points, 5]);
    }
    expect((await face.ok('GET', '/v2/vector/index/stats')).json).to.have.property('record_count');
  });
});
