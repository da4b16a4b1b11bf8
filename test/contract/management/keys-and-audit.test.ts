/** API keys, and the log of the actions taken with them. */
import { expect } from 'chai';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

type Entry = Record<string, unknown>;

describe('management API: API keys', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());

  const keys = async () => (await face.ok('GET', '/v2/apikeys')).json as Entry[];

  it('POST /apikey shows the secret once, and the key works immediately', async () => {
    const made = (await face.ok('POST', '/apikey', { body: { name: 'ci' } })).json as Entry;
    expect(made).to.include({
      name: 'ci',
      readonly: false,
      customer_id: 'owner@example.com',
      creation_time: Math.floor(face.control.nowMs / 1000),
    });
    const as = { email: 'owner@example.com', key: made.api_key as string };
    expect((await face.call('GET', '/v2/kv/databases', { as })).status).to.equal(200);
    expect((await keys()).map(({ name }) => name)).to.deep.equal(['default', 'ci']);
    expect(JSON.stringify(await keys())).to.not.include(made.api_key);
    expect(JSON.stringify([...face.control.state.apiKeys.byId.values()])).to.not.include(made.api_key);
  });

  it('a key works only with the e-mail of its person', async () => {
    const { key } = await face.newKey(face.owner, 'ci');
    const { caller } = await face.newPerson('ada@example.com');
    expect((await face.call('GET', '/v2/teams', { as: { email: caller.email, key } })).status).to.equal(401);
  });

  it('DELETE /v2/apikey ends a key, also when it deletes itself', async () => {
    const as = await face.newKey(face.owner, 'ci');
    expect((await face.ok('DELETE', '/v2/apikey/ci', { as })).text).to.equal('"OK"');
    expect((await face.call('GET', '/v2/teams', { as })).status).to.equal(401);
    expect((await face.call('DELETE', '/v2/apikey/ci')).status).to.equal(404);
  });

  it('a name can be used once for each person', async () => {
    await face.newKey(face.owner, 'ci');
    for (const name of ['ci', 'default']) {
      const { status, json } = await face.call('POST', '/apikey', { body: { name } });
      expect(status).to.equal(400);
      expect((json as { error: string }).error).to.include(name);
    }
    const { caller } = await face.newPerson('ada@example.com');
    await face.newKey(caller, 'ci');
  });

  it('a person has at most 37 keys', async () => {
    for (let count = 1; count < 37; count += 1) await face.newKey(face.owner, `key ${count}`);
    expect((await face.ok('GET', '/v2/apikeys')).json).to.have.length(37);
    const { status, json } = await face.call('POST', '/apikey', { body: { name: 'one more' } });
    expect(status).to.equal(400);
    expect((json as { error: string }).error).to.include('37');
  });

  it("POST /apikey with another person's team gets 404", async () => {
    const { caller } = await face.newPerson('ada@example.com');
    const team_id = await face.newTeam('theirs', caller);
    expect((await face.call('POST', '/apikey', { body: { name: 'a', team_id } })).status).to.equal(404);
  });

  it('a read-only key gets 403 for the deletion of a missing database, and another key 404', async () => {
    const path = '/v2/kv/database/readonly-check-nonexistent';
    const reader = await face.call('DELETE', path, { as: await face.readOnlyKey() });
    expect([reader.status, reader.text]).to.satisfy(([, text]: [number, string]) => text.includes('Readonly API key'));
    const writer = await face.call('DELETE', path);
    expect([writer.status, writer.text]).to.deep.equal([404, '{"error":"database not found"}']);
  });
});

describe('management API: audit log', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());

  const entries = async (as = face.owner, path = '/auditlogs') => (await face.ok('GET', path, { as })).json as Entry[];

  it('shows person, action, objects, source and key, newest first', async () => {
    const database = await face.newDatabase();
    const ci = await face.newKey(face.owner, 'ci');
    face.control.nowMs += 1000;
    await face.ok('POST', `/v2/kv/rename/${database}`, { as: ci, body: { name: 'second' } });
    const [newest, ...others] = await entries();
    const timestamp = Math.floor(face.control.nowMs / 1000);
    expect(newest).to.include({
      customer_id: 'owner@example.com',
      actor: 'owner@example.com',
      timestamp,
      action: 3,
      action_string: 'Rename Database',
      source: 'API_KEY - ci',
      entity: 'first',
      secondary_entity: 'second',
      third_entity: '',
      ip: '127.0.0.1',
      ttl: timestamp + 182 * 86_400,
      reason: '',
      notes: '',
    });
    expect(newest?.log_id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(newest?.readable_format).to.be.a('string').and.include('Rename Database');
    expect(others.map(({ action_string }) => action_string)).to.deep.equal(['Create API Key', 'Create Database']);
    expect(await entries(face.owner, '/v2/auditlogs')).to.deep.equal([newest, ...others]);
  });

  it('filters by actor, action, entity and time, page by page', async () => {
    const database = await face.newDatabase();
    const ci = await face.newKey(face.owner, 'ci');
    const before = Math.floor(face.control.nowMs / 1000);
    face.control.nowMs += 10_000;
    for (const name of ['second', 'third', 'fourth']) {
      await face.ok('POST', `/v2/kv/rename/${database}`, { as: ci, body: { name } });
    }
    const all = await entries();
    const asked = (query: string) => entries(face.owner, `/auditlogs?${query}`);
    expect(await asked(`actor=OWNER@example.com&count=1000`)).to.deep.equal(all);
    expect(await asked('actor=nobody@example.com')).to.deep.equal([]);
    expect(await asked('action=3')).to.deep.equal(all.slice(0, 3));
    expect(await asked('action=rename%20database')).to.deep.equal(all.slice(0, 3));
    expect(await asked('entity=THIR')).to.deep.equal(all.slice(0, 2));
    expect(await asked(`to=${before}`)).to.deep.equal(all.slice(3));
    expect(await asked(`from=${before + 1}`)).to.deep.equal(all.slice(0, 3));
    const pages: Entry[] = [];
    for (
      let page = await asked('count=2');
      page.length > 0;
      page = await asked(`count=2&cursor=${pages.at(-1)?.log_id}`)
    ) {
      expect(page.length).to.be.at.most(2);
      pages.push(...page);
    }
    expect(pages).to.deep.equal(all);
    for (const wrong of ['count=0', 'count=1001', 'count=x', 'from=yesterday', 'to=-1', 'cursor=none']) {
      const { status, json } = await face.call('GET', `/auditlogs?${wrong}`);
      expect([wrong, status]).to.deep.equal([wrong, 400]);
      expect((json as { error: string }).error).to.match(new RegExp(`^${wrong.split('=')[0]}: must be`));
    }
  });

  it('has action 13 for the deletion of a team, in the log of the person', async () => {
    const team = await face.newTeam('crew');
    await face.ok('DELETE', `/v2/team/${team}`);
    expect((await entries())[0]).to.include({ action: 13, action_string: 'Delete Team', entity: 'crew' });
  });

  it('has the deletion of a team by its own key in the log of its owner', async () => {
    const team = await face.newTeam('crew');
    const as = await face.newKey(face.owner, 'of the crew', { team_id: team });
    await face.ok('DELETE', `/v2/team/${team}`, { as });
    expect((await entries())[0]).to.include({ action: 13, entity: 'crew', source: 'API_KEY - of the crew' });
  });

  it('has a line for each change, and none for refused calls and reads', async () => {
    const database = await face.newDatabase();
    const index = await face.newSearchIndex();
    const steps: [string, string, object?][] = [
      ['POST', `/v2/kv/reset-password/${database}`],
      ['POST', `/v2/kv/enable-eviction/${database}`],
      ['POST', `/v2/kv/${database}/change-plan`, { plan_name: 'fixed_1gb' }],
      ['PATCH', `/v2/kv/update-budget/${database}`, { budget: 5 }],
      ['POST', `/v2/kv/update-regions/${database}`, { read_regions: ['us-west-1'] }],
      ['POST', `/v2/kv/update-allowlist/${database}`, { allowed_ips: ['192.0.2.1'] }],
      ['POST', `/v2/search/${index}/rename`, { name: 'books' }],
      ['POST', `/v2/search/${index}/reset-password`],
      ['POST', `/v2/msgq/rotate-token/${face.queue}`],
      ['POST', `/v2/msgq/set-plan/${face.queue}`, { plan_name: 'msgq_fixed_1m' }],
      ['PATCH', `/v2/msgq/update-budget/${face.queue}`, { budget: 20 }],
      ['POST', `/v2/msgq/enable-prodpack/${face.queue}`],
      ['DELETE', `/v2/search/${index}`],
      ['DELETE', `/v2/kv/database/${database}`],
    ];
    let count = (await entries()).length;
    for (const [method, path, body] of steps) {
      await face.ok(method, path, { body });
      count += 1;
      expect((await entries()).length, path).to.equal(count);
    }
    await face.call('DELETE', `/v2/kv/database/${database}`);
    await face.call('POST', '/v2/search', { body: {} });
    expect((await entries()).length).to.equal(count);
  });

  it('has a line for a change without effect', async () => {
    const database = await face.newDatabase();
    const team = await face.newTeam();
    const member = { team_id: team, member_email: 'ada@example.com', member_role: 'dev' };
    const as = await face.newKey(face.owner, 'of the team', { team_id: team });
    const steps: [string, string, object?][] = [
      ['POST', `/v2/kv/enable-eviction/${database}`],
      ['POST', `/v2/kv/rename/${database}`, { name: 'second' }],
      ['PATCH', `/v2/kv/update-budget/${database}`, { budget: 5 }],
      ['POST', `/v2/msgq/enable-prodpack/${face.queue}`],
      ['POST', '/v2/teams/member', member],
    ];
    for (const [method, path, body] of steps) {
      const log = async () => (await entries(path.startsWith('/v2/teams') ? as : face.owner)).length;
      const before = await log();
      await face.ok(method, path, { body });
      await face.ok(method, path, { body });
      expect(await log(), path).to.equal(before + 2);
    }
  });

  it('shows the plan of a change', async () => {
    const database = await face.newDatabase();
    await face.ok('POST', `/v2/kv/change-plan/${database}`, { body: { plan: 'pro' } });
    expect((await entries())[0]).to.include({ action_string: 'Change Plan', secondary_entity: 'fixed_10gb' });
  });

  it('is separate for each team and person', async () => {
    const team = await face.newTeam('crew');
    const admin = await face.memberOf(team, 'admin');
    await face.newDatabase({}, admin);
    const own = (await entries()).map(({ action_string }) => action_string);
    const theirs = (await entries(admin)).map(({ action_string }) => action_string);
    expect(own).to.deep.equal(['Create Team']);
    expect(theirs).to.deep.equal(['Create Database', 'Create API Key', 'Add Team Member']);
    expect((await entries(admin))[0]).to.include({ customer_id: team, actor: 'admin@example.com' });
    const { caller } = await face.newPerson('stranger@example.com');
    expect(await entries(caller)).to.deep.equal([]);
  });

  it('POST /v2/auditlogs/export sends it to an address, which GET shows with its lag and DELETE removes', async () => {
    const path = '/v2/auditlogs/export';
    expect((await face.ok('GET', path)).json).to.deep.equal({ url: '', lag_seconds: 0, undelivered_seconds: 0 });
    const refused = await face.call('POST', path, { body: { url: 'https://10.0.0.1/' } });
    expect([refused.status, refused.json]).to.deep.equal([400, { error: 'url: the address is private' }]);
    await face.ok('POST', path, { body: { url: 'https://a.example/audit' } });
    expect((await face.ok('GET', path)).json).to.deep.equal({
      url: 'https://a.example/audit',
      lag_seconds: 1,
      position: 9,
      undelivered_seconds: 0,
      problem: 'HTTP status 500',
    });
    await face.ok('DELETE', path);
    expect((await face.call('DELETE', path)).status).to.equal(404);
    const actions = (await entries()).map(({ action_string }) => action_string);
    expect(actions.slice(0, 2)).to.deep.equal(['Delete Audit Export', 'Set Audit Export']);
  });

  it('contains no secret', async () => {
    const database = await face.newDatabase();
    const { rest_token, password } = (await face.ok('GET', `/v2/kv/database/${database}`)).json as Entry;
    const { key } = await face.newKey(face.owner, 'ci');
    const text = JSON.stringify([await entries(), face.log.lines]);
    for (const secret of [rest_token, password, key, face.owner.key]) expect(text).to.not.include(secret);
  });
});
