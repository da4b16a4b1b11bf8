/** Search indexes by the management API. */
import { expect } from 'chai';
import { databaseIdOfUuid } from '../../../src/protocol/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

type Shown = Record<string, unknown> & { readonly id: string };

describe('management API: search indexes', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());

  const shown = async (id: string) => (await face.ok('GET', `/v2/search/${id}`)).json as Shown;

  it('POST /v2/search shows every documented field', async () => {
    const body = { name: 'papers', region: 'us-central1', type: 'payg' };
    const made = (await face.ok('POST', '/v2/search', { body })).json as Shown;
    expect(made).to.include({
      customer_id: 'owner@example.com',
      name: 'papers',
      region: 'us-central1',
      type: 'payg',
      partner_email: '',
      endpoint: `search.example/at/search/${made.id}`,
      max_vector_count: 2_000_000,
      max_monthly_reranks: -1,
      max_daily_updates: -1,
      max_daily_queries: -1,
      max_monthly_bandwidth: -1,
      max_writes_per_second: 1000,
      max_query_per_second: 1000,
      max_reads_per_request: 100,
      max_writes_per_request: 100,
      input_enrichment_enabled: true,
      creation_time: Math.floor(face.control.nowMs / 1000),
    });
    expect(made.token).to.be.a('string').and.not.equal(made.read_only_token);
    expect(Object.keys(made).length).to.equal(21);
    expect(await shown(made.id)).to.deep.equal(made);
    expect((await face.ok('GET', '/v2/search')).json).to.deep.equal([made]);
  });

  it('GET shows queries and updates a second for each minute of the last hour', async () => {
    const { throughput_vector } = await shown(await face.newSearchIndex());
    const points = throughput_vector as { x: string; y: number }[];
    expect(points.length).to.equal(60);
    expect(points.every(({ y }) => y === 18 / 60)).to.equal(true);
    expect(points[0]?.x).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:00\.000 \+0000 UTC$/);
    const steps = points.slice(1).map(({ x }, at) => Date.parse(x) - Date.parse(points[at]?.x ?? ''));
    expect(new Set(steps)).to.deep.equal(new Set([60_000]));
  });

  it('GET shows an index while statistics are unavailable', async () => {
    const id = await face.newSearchIndex();
    face.statistics.failure = new Error('away');
    expect((await shown(id)).throughput_vector).to.deep.equal([]);
  });

  for (const [mistake, body, text] of [
    ['without a name', { region: 'eu-west-1', type: 'payg' }, 'name: is required'],
    ['without a region', { name: 'a', type: 'payg' }, 'region: is required'],
    ['without a type', { name: 'a', region: 'eu-west-1' }, 'type: is required'],
    [
      'in an unknown region',
      { name: 'a', region: 'us-east-1', type: 'payg' },
      'region: must be one of the following values: eu-west-1, us-central1',
    ],
    [
      'of an unknown type',
      { name: 'a', region: 'eu-west-1', type: 'gold' },
      'type: must be one of the following values: free, payg, fixed',
    ],
    [
      'of the type fixed',
      { name: 'a', region: 'eu-west-1', type: 'fixed' },
      'type: fixed is not available on this server',
    ],
  ] as const) {
    it(`POST /v2/search is refused ${mistake}`, async () => {
      const { status, json } = await face.call('POST', '/v2/search', { body });
      expect([status, json]).to.deep.equal([400, { error: text }]);
      expect((await face.ok('GET', '/v2/search')).json).to.deep.equal([]);
    });
  }

  it('POST /v2/search accepts the type fixed when it is offered', async () => {
    const offering = await new ManagementHarness({ offersFixedSearch: true }).start();
    try {
      const id = await offering.newSearchIndex({ type: 'fixed' });
      expect((await offering.ok('GET', `/v2/search/${id}`)).json).to.include({ type: 'fixed' });
    } finally {
      await offering.stop();
    }
  });

  it('POST rename changes the name', async () => {
    const id = await face.newSearchIndex();
    expect((await face.ok('POST', `/v2/search/${id}/rename`, { body: { name: 'books' } })).text).to.equal('"OK"');
    expect(await shown(id)).to.include({ name: 'books' });
  });

  it('POST reset-password replaces both tokens', async () => {
    const id = await face.newSearchIndex();
    const before = await shown(id);
    expect((await face.ok('POST', `/v2/search/${id}/reset-password`)).text).to.equal('"OK"');
    const after = await shown(id);
    expect(after.token).to.not.equal(before.token);
    expect(after.read_only_token).to.not.equal(before.read_only_token);
  });

  it('POST setplan changes the plan and its limits, and refuses a plan that is not offered', async () => {
    const id = await face.newSearchIndex();
    const plan = (target_plan: string) => face.ok('POST', `/v2/search/${id}/setplan`, { body: { target_plan } });
    expect((await plan('payg')).text).to.equal('"OK"');
    expect(await shown(id))
      .to.include({ type: 'payg' })
      .and.to.not.include({ max_query_per_second: 100 });
    await plan('free');
    expect(await shown(id)).to.include({ type: 'free', max_query_per_second: 100 });
    const refused = await face.call('POST', `/v2/search/${id}/setplan`, { body: { target_plan: 'fixed' } });
    expect([refused.status, refused.json]).to.deep.equal([
      400,
      { error: 'target_plan: fixed is not available on this server' },
    ]);
  });

  it('POST transfer moves an index to a team, and refuses a person', async () => {
    const id = await face.newSearchIndex();
    const team = await face.newTeam();
    const toPerson = await face.call('POST', `/v2/search/${id}/transfer`, {
      body: { target_account: 'ada@example.com' },
    });
    expect(toPerson.status).to.equal(400);
    expect((toPerson.json as { error: string }).error).to.match(/^target_account: /);
    expect((await face.ok('POST', `/v2/search/${id}/transfer`, { body: { target_account: team } })).text).to.equal(
      '"OK"',
    );
    expect((await face.call('GET', `/v2/search/${id}`)).status).to.equal(404);
    const of = await face.newKey(face.owner, 'of the team', { team_id: team });
    expect((await face.ok('GET', `/v2/search/${id}`, { as: of })).json).to.include({ customer_id: team });
  });

  it('DELETE removes an index, and later calls get 404', async () => {
    const id = await face.newSearchIndex();
    expect((await face.ok('DELETE', `/v2/search/${id}`)).text).to.equal('"OK"');
    expect(face.removed).to.deep.equal([[databaseIdOfUuid(id), 1]]);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/stats'],
      ['POST', '/reset-password'],
    ] as const) {
      expect((await face.call(method, `/v2/search/${id}${path}`)).status).to.equal(404);
    }
  });

  it('a search index gets 404 for other accounts', async () => {
    const id = await face.newSearchIndex();
    const { caller: as } = await face.newPerson('stranger@example.com');
    for (const [method, path, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/stats'],
      ['POST', '/rename', { name: 'mine' }],
      ['POST', '/reset-password'],
    ] as const) {
      const { status, json } = await face.call(method, `/v2/search/${id}${path}`, { as, body });
      expect([status, json]).to.deep.equal([404, { error: 'search index not found' }]);
    }
    expect(await shown(id)).to.include({ name: 'papers' });
  });
});
