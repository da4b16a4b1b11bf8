/** Databases by the management API: creation, records and refusals. */
import { expect } from 'chai';
import { databaseIdOfUuid } from '../../../src/protocol/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

type Shown = Record<string, unknown> & { readonly database_id: string };

describe('management API: databases', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());

  const create = async (body: object) => (await face.ok('POST', '/v2/kv/database', { body })).json as Shown;
  const refused = async (body: object) => {
    const { status, json } = await face.call('POST', '/v2/kv/database', { body });
    expect(status).to.equal(400);
    expect((await shownAll()).length).to.equal(0);
    return (json as { error: string }).error;
  };
  const shown = async (id: string) => (await face.ok('GET', `/v2/kv/database/${id}`)).json as Shown;
  const shownAll = async () => (await face.ok('GET', '/v2/kv/databases')).json as Shown[];
  const post = (path: string, body?: object) => face.ok('POST', path, { body });

  it('POST /v2/kv/database shows every requested setting', async () => {
    const made = await create({
      database_name: 'sessions',
      platform: 'aws',
      primary_region: 'eu-west-1',
      read_regions: ['us-east-1', 'us-west-2'],
      plan: 'fixed_5gb',
      budget: 45,
      eviction: true,
      tls: false,
      auto_upgrade: true,
      prod_pack_enabled: true,
      partitions: 3,
      cluster: true,
    });
    expect(made).to.include({
      database_name: 'sessions',
      database_type: 'Fixed 5GB',
      region: 'global',
      type: 'paid',
      primary_region: 'eu-west-1',
      endpoint: 'kv.example',
      port: 6379,
      replicas: 3,
      state: 'active',
      modifying_state: '',
      customer_id: 'owner@example.com',
      user_email: 'owner@example.com',
      tls: true,
      eviction: true,
      db_eviction: true,
      auto_upgrade: true,
      prod_pack_enabled: true,
      consistent: false,
      budget: 45,
      last_plan_upgrade_time: 0,
      reserved_per_region_price: 100,
      prometheus_enabled: 'false',
      db_disk_threshold: 5 * 1024 ** 3,
      db_max_request_size: 20 * 1024 ** 2,
      db_max_entry_size: 300 * 1024 ** 2,
      db_max_commands_per_second: 10_000,
      db_resource_size: 'M',
      db_conn_idle_timeout: 21_600_000_000_000,
      db_lua_timeout: 250_000_000,
      db_store_max_idle: 900_000_000_000,
      creation_time: Math.floor(face.control.nowMs / 1000),
      partitions: 3,
      cluster: true,
    });
    expect(made.primary_members).to.deep.equal(['eu-west-1']);
    expect(made.all_members).to.deep.equal(['eu-west-1', 'us-east-1', 'us-west-2']);
    expect(made.read_regions).to.deep.equal(['us-east-1', 'us-west-2']);
    expect(made).to.not.have.property('platform');
    const id = databaseIdOfUuid(made.database_id);
    const stored = id === undefined ? undefined : face.control.state.databases.get(id);
    expect(stored).to.include({ partitions: 3, isCluster: true });
    expect(await shown(made.database_id)).to.deep.equal(made);
    expect(await shownAll()).to.deep.equal([made]);
  });

  it('POST /v2/kv/database shows working tokens and a working password', async () => {
    const { database_id, rest_token, read_only_rest_token, password } = await create({
      name: 'tokens',
      region: 'global',
      primary_region: 'us-east-1',
    });
    const secrets = face.control.state.databases.get(databaseIdOfUuid(database_id) as never)?.secrets;
    if (secrets === undefined) throw new Error('the database has no secrets');
    const { standardToken, readOnlyToken, password: kept } = secrets;
    expect(face.sealing.open(standardToken.sealed)).to.equal(rest_token);
    expect(face.sealing.open(readOnlyToken.sealed)).to.equal(read_only_rest_token);
    expect(face.sealing.open(kept.sealed)).to.equal(password);
  });

  it('POST /v2/kv/database accepts the fields of older clients', async () => {
    const made = await create({ name: 'old', region: 'eu-west-1', consistent: true, multizone: true });
    expect(made).to.include({ region: 'eu-west-1', primary_region: '', consistent: false, type: 'payg' });
    expect(made.all_members).to.deep.equal(['eu-west-1']);
    const replicated = await create({ name: 'old too', region: 'eu-west-1', read_regions: ['us-east-1'] });
    expect(replicated).to.deep.include({ region: 'eu-west-1', primary_region: '', read_regions: ['us-east-1'] });
    const other = await create({ name: 'both', region: 'eu-west-1', primary_region: 'us-east-2' });
    expect(other).to.include({ region: 'eu-west-1', primary_region: 'us-east-2' });
  });

  it('POST /v2/kv/database accepts a name twice', async () => {
    await create({ name: 'twin', region: 'eu-west-1' });
    await create({ name: 'twin', region: 'eu-west-1' });
    expect((await shownAll()).length).to.equal(2);
  });

  for (const [feature, body, text] of [
    ['without a name', { region: 'eu-west-1' }, /^database_name: is required$/],
    ['with an empty name', { database_name: '', region: 'eu-west-1' }, /^database_name: must be 1 to 64 characters/],
    ['with a name of 65', { database_name: 'x'.repeat(65), region: 'eu-west-1' }, /^database_name: /],
    ['with a control character', { database_name: 'a\nb', region: 'eu-west-1' }, /^database_name: /],
    ['without a region', { database_name: 'a' }, /^primary_region: is required$/],
    ['with a global region alone', { database_name: 'a', region: 'global' }, /^primary_region: is required$/],
    ['with an unknown region', { database_name: 'a', region: 'mars-1' }, /^region: /],
    [
      'with an unknown primary region',
      { database_name: 'a', primary_region: 'mars-1' },
      /^Invalid request, primary region might be wrong/,
    ],
    [
      'with a primary region of another platform',
      { database_name: 'a', platform: 'gcp', primary_region: 'eu-west-1' },
      /^Invalid request, primary region might be wrong/,
    ],
    ['with an unknown platform', { database_name: 'a', platform: 'moon', primary_region: 'eu-west-1' }, /^platform: /],
    [
      'with its primary region among the read regions',
      { database_name: 'a', primary_region: 'eu-west-1', read_regions: ['eu-west-1'] },
      /^read_regions: must not contain the primary region$/,
    ],
    [
      'with a read region that has no replicas',
      { database_name: 'a', primary_region: 'eu-west-1', read_regions: ['af-south-1'] },
      /^read_regions: /,
    ],
    [
      'with a read region twice',
      { database_name: 'a', primary_region: 'eu-west-1', read_regions: ['us-east-1', 'us-east-1'] },
      /^read_regions: /,
    ],
    [
      'with two read regions on the free plan',
      { database_name: 'a', plan: 'free', primary_region: 'eu-west-1', read_regions: ['us-east-1', 'us-east-2'] },
      /^read_regions: the free plan has one at most$/,
    ],
    ['with an unknown plan', { database_name: 'a', region: 'eu-west-1', plan: 'gold' }, /^plan: /],
    ['with a budget below 0', { database_name: 'a', region: 'eu-west-1', budget: -1 }, /^budget: /],
    ['with a fractional budget', { database_name: 'a', region: 'eu-west-1', budget: 0.5 }, /^budget: /],
    ['with a string for a flag', { database_name: 'a', region: 'eu-west-1', eviction: 'true' }, /^eviction: /],
    ['with a string for cluster', { database_name: 'a', region: 'eu-west-1', cluster: 'yes' }, /^cluster: /],
    ['with 0 partitions', { database_name: 'a', region: 'eu-west-1', partitions: 0 }, /^partitions: /],
  ] as const) {
    it(`POST /v2/kv/database is refused ${feature}`, async () => expect(await refused(body)).to.match(text));
  }

  it('POST /v2/kv/database accepts one database on the free plan', async () => {
    await create({ name: 'free', plan: 'free', region: 'eu-west-1' });
    const { status } = await face.call('POST', '/v2/kv/database', {
      body: { name: 'second', plan: 'free', region: 'eu-west-1' },
    });
    expect(status).to.equal(400);
  });

  it('GET with credentials=hide leaves out the password and both tokens', async () => {
    const whole = await create({ name: 'a', region: 'eu-west-1' });
    const hidden = (await face.ok('GET', `/v2/kv/database/${whole.database_id}?credentials=hide`)).json as Shown;
    const { password, rest_token, read_only_rest_token, ...rest } = whole;
    expect([password, rest_token, read_only_rest_token]).to.not.include(undefined);
    expect(hidden).to.deep.equal(rest);
  });

  it('POST rename changes the name', async () => {
    const id = await face.newDatabase();
    expect((await post(`/v2/kv/rename/${id}`, { name: 'other' })).json).to.include({ database_name: 'other' });
    expect(await shown(id)).to.include({ database_name: 'other' });
  });

  it('POST reset-password replaces all secrets', async () => {
    const before = await create({ name: 'a', region: 'eu-west-1' });
    const after = (await post(`/v2/kv/reset-password/${before.database_id}`)).json as Shown;
    for (const field of ['password', 'rest_token', 'read_only_rest_token']) {
      expect(after[field]).to.be.a('string').and.not.equal(before[field]);
    }
    expect(face.control.state.tokens.size).to.equal(2);
  });

  it('POST enable and disable switch settings, repeatedly', async () => {
    const id = await face.newDatabase();
    for (const [feature, field] of [
      ['eviction', 'eviction'],
      ['autoupgrade', 'auto_upgrade'],
      ['prodpack', 'prod_pack_enabled'],
      ['dailybackup', 'daily_backup_enabled'],
    ] as const) {
      for (const isOn of [true, true, false, false]) {
        const { text } = await post(`/v2/kv/${isOn ? 'enable' : 'disable'}-${feature}/${id}`);
        expect(text).to.equal('"OK"');
        expect((await shown(id))[field]).to.equal(isOn);
      }
    }
  });

  it('db_memory_threshold is the bound of the process when that is below the plan', async () => {
    const small = await new ManagementHarness({ maxHeldBytes: 77_000_000 }).start();
    try {
      const id = await small.newDatabase({ plan: 'fixed_1gb' });
      const { json } = await small.ok('GET', `/v2/kv/database/${id}`);
      expect(json).to.include({ db_disk_threshold: 1024 ** 3, db_memory_threshold: 77_000_000 });
    } finally {
      await small.stop();
    }
  });

  it('next_daily_backup_time shows when the next daily backup is due', async () => {
    const id = await face.newDatabase();
    expect(await shown(id)).to.include({ next_daily_backup_time: 0 });
    await face.ok('PATCH', `/v2/kv/enable-dailybackup/${id}`);
    expect(Number((await shown(id)).next_daily_backup_time) * 1000).to.be.greaterThan(face.control.nowMs);
  });

  it('POST change-plan sets the limits of a plan, by either path and field, and keeps other settings', async () => {
    const id = await face.newDatabase({ auto_upgrade: true });
    face.control.nowMs += 60_000;
    const upgradedAt = Math.floor(face.control.nowMs / 1000);
    await post(`/v2/kv/${id}/change-plan`, { plan_name: 'fixed_1gb', database_id: id });
    const limits = { db_disk_threshold: 1024 ** 3, db_max_entry_size: 200 * 1024 ** 2 };
    const upgraded = { ...limits, type: 'paid', auto_upgrade: true, last_plan_upgrade_time: upgradedAt };
    expect(await shown(id)).to.include(upgraded);
    await post(`/v2/kv/change-plan/${id}`, { plan: 'payg', auto_upgrade: false, prod_pack_enabled: true });
    expect(await shown(id)).to.include({ type: 'payg', auto_upgrade: false, prod_pack_enabled: true });
    await post(`/v2/kv/change-plan/${id}`, { plan: 'pro' });
    expect(await shown(id)).to.include({ database_type: 'Fixed 10GB' });
    for (const [body, text] of [
      [{}, 'plan_name: is required'],
      [{ plan: 'gold' }, 'plan_name: there is no such plan'],
    ] as const) {
      const { status, json } = await face.call('POST', `/v2/kv/change-plan/${id}`, { body });
      expect([status, json]).to.deep.equal([400, { error: text }]);
    }
  });

  it('PATCH update-budget sets a budget in dollars', async () => {
    const id = await face.newDatabase();
    await face.ok('PATCH', `/v2/kv/update-budget/${id}`, { body: { budget: 360 } });
    expect(await shown(id)).to.include({ budget: 360 });
    await face.ok('PATCH', `/v2/kv/update-budget/${id}`, { body: { budget: 0 } });
    expect(await shown(id)).to.include({ budget: 0 });
  });

  it('POST update-regions replaces all read regions', async () => {
    const id = await face.newDatabase({ read_regions: ['eu-west-1', 'us-west-1'] });
    await post(`/v2/kv/update-regions/${id}`, { read_regions: ['ap-south-1'] });
    expect((await shown(id)).read_regions).to.deep.equal(['ap-south-1']);
    const { status } = await face.call('POST', `/v2/kv/update-regions/${id}`, {
      body: { read_regions: ['us-east-1'] },
    });
    expect(status).to.equal(400);
  });

  it('POST update-allowlist sets allowed addresses, and an empty list allows all', async () => {
    const id = await face.newDatabase();
    const allowed_ips = ['192.0.2.7', '198.51.100.0/24'];
    await post(`/v2/kv/update-allowlist/${id}`, { allowed_ips });
    const { allowed_ip_ranges, securityAddons } = await shown(id);
    expect(allowed_ip_ranges).to.deep.equal(allowed_ips);
    expect(securityAddons).to.include({ ipWhitelisting: true });
    await post(`/v2/kv/update-allowlist/${id}`, { allowed_ips: [] });
    expect((await shown(id)).allowed_ip_ranges).to.deep.equal([]);
    for (const wrong of [['10.0.0.256'], ['10.0.0.0/33'], ['::1'], [7], 'all', undefined]) {
      const { status, json } = await face.call('POST', `/v2/kv/update-allowlist/${id}`, {
        body: { allowed_ips: wrong },
      });
      expect(status).to.equal(400);
      expect((json as { error: string }).error).to.match(/^allowed_ips: /);
    }
  });

  it('a suspended database has state suspended', async () => {
    const id = await face.newDatabase();
    const database = databaseIdOfUuid(id) as never;
    await face.control.send({
      type: 'ChangeDatabase',
      account: face.ownerAccount,
      database,
      change: { settings: { isSuspended: true } },
    });
    expect(await shown(id)).to.include({ state: 'suspended' });
  });

  it('DELETE removes a database, and later calls get 404', async () => {
    const id = await face.newDatabase({ partitions: 3 });
    expect((await face.ok('DELETE', `/v2/kv/database/${id}`)).text).to.equal('"OK"');
    expect(face.removed).to.deep.equal([[databaseIdOfUuid(id), 3]]);
    for (const path of [`/v2/kv/database/${id}`, `/v2/kv/stats/${id}`, `/v2/kv/list-backup/${id}`]) {
      expect((await face.call('GET', path)).status).to.equal(404);
    }
    expect((await face.call('DELETE', `/v2/kv/database/${id}`)).status).to.equal(404);
    expect(await shownAll()).to.deep.equal([]);
    expect(face.removed.length).to.equal(1);
  });

  it('a database gets 404 for other accounts', async () => {
    const id = await face.newDatabase();
    const { caller: stranger } = await face.newPerson('stranger@example.com');
    const unknown = await face.call('GET', '/v2/kv/database/00000000-0000-8000-80db-000000000000', { as: stranger });
    for (const [method, path, body] of [
      ['GET', `/v2/kv/database/${id}`],
      ['DELETE', `/v2/kv/database/${id}`],
      ['POST', `/v2/kv/rename/${id}`, { name: 'mine' }],
      ['POST', `/v2/kv/reset-password/${id}`],
      ['PATCH', `/v2/kv/update-budget/${id}`, { budget: 1 }],
      ['GET', `/v2/kv/stats/${id}`],
    ] as const) {
      const { status, text } = await face.call(method, path, { as: stranger, body });
      expect([status, text]).to.deep.equal([unknown.status, unknown.text]);
    }
    expect(await shown(id)).to.include({ database_name: 'first', budget: 0 });
  });

  it('ids of search indexes and queues get 404 on database paths', async () => {
    const id = await face.newDatabase();
    const index = await face.newSearchIndex();
    expect((await face.call('GET', `/v2/search/${id}`)).status).to.equal(404);
    expect((await face.call('GET', `/v2/kv/database/${index}`)).status).to.equal(404);
    expect((await face.call('DELETE', `/v2/kv/database/${face.queue}`)).status).to.equal(404);
    expect((await face.call('DELETE', '/v2/kv/database/readonly-check-nonexistent')).status).to.equal(404);
  });

  it('POST move-to-team moves a database to a team of the caller', async () => {
    const id = await face.newDatabase();
    const team = await face.newTeam();
    const of = await face.newKey(face.owner, 'of the team', { team_id: team });
    await post('/v2/kv/move-to-team', { database_id: id, team_id: `team:${team}` });
    expect((await face.call('GET', `/v2/kv/database/${id}`)).status).to.equal(404);
    const { json } = await face.ok('GET', `/v2/kv/database/${id}`, { as: of });
    expect(json).to.include({ customer_id: team, database_name: 'first' });
    const strange = await face.newPerson('stranger@example.com');
    const theirs = await face.newTeam('theirs', strange.caller);
    const second = await face.newDatabase();
    const { status, text } = await face.call('POST', '/v2/kv/move-to-team', {
      body: { database_id: second, team_id: theirs },
    });
    expect([status, text]).to.deep.equal([404, '{"error":"team not found"}']);
  });

  it('an internal error gets 500 with an incident number and no details', async () => {
    const id = await face.newDatabase();
    const send = face.control.send.bind(face.control);
    face.control.send = () => Promise.reject(new Error('away'));
    const broken = await face.call('GET', `/v2/kv/database/${id}`);
    face.control.send = send;
    expect(broken.status).to.equal(500);
    expect((broken.json as { error: string }).error).to.match(/^internal error, incident=/);
    expect(broken.text).to.not.include('away');
    expect(await shown(id)).to.include({ database_id: id });
  });
});
