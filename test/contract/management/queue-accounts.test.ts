/** Queue accounts by the management API. */
import { expect } from 'chai';
import { userIdIn } from '../../../src/protocol/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

type Shown = Record<string, unknown> & { readonly id: string; readonly token: string };

describe('management API: queue accounts', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());

  const shown = async (id = face.queue) => (await face.ok('GET', `/v2/msgq/user/${id}`)).json as Shown;

  it('GET /v2/msgq/user/:id shows every field of both published versions', async () => {
    const account = await shown();
    expect(account).to.include({
      customer_id: 'owner@example.com',
      id: face.queue,
      active: true,
      state: 'active',
      modifying_state: '',
      type: 'paid',
      reserved_type: '',
      reserved_price: 0,
      prod_pack_enabled: false,
      prometheus_enabled: 'false',
      region: 'eu-central-1',
      budget: 0,
      created_by: 'owner@example.com',
      creation_time: Math.floor(face.control.nowMs / 1000),
      deletion_time: 0,
      last_plan_upgrade_time: 0,
    });
    expect(account.retention, 'in seconds').to.equal(Number(account.max_dlq_retention_time_milis) / 1000);
    expect(account.enterprise).to.deep.equal({ enabled: false });
    for (const field of [
      ...['max_message_size', 'max_requests_per_day', 'max_requests_per_day_hard', 'max_endpoints_per_topic'],
      ...['max_requests_per_second', 'max_dlq_size', 'max_completion_tokens_per_day', 'max_retries', 'max_topics'],
      ...['max_completion_tokens_per_minute', 'max_completions_per_day', 'max_completions_per_minute', 'max_queues'],
      ...['max_schedules', 'max_events_size', 'max_dlq_retention_time_milis', 'max_delay', 'max_parallelism'],
      ...['max_global_parallelism', 'retention', 'timeout', 'rate_limit', 'max_bandwidth_per_second'],
    ]) {
      expect(account[field], field).to.be.a('number').and.satisfy(Number.isSafeInteger).and.greaterThan(0);
    }
    expect(userIdIn(account.token)).to.be.a('string');
    expect(JSON.parse(Buffer.from(account.token, 'base64').toString())).to.include({ Password: account.password });
    expect(account.read_only_token).to.be.a('string').and.not.equal('');
  });

  it('GET /v2/msgq/user and /v2/msgq/users show the account', async () => {
    const account = await shown();
    expect((await face.ok('GET', '/v2/msgq/user')).json).to.deep.equal(account);
    expect((await face.ok('GET', '/v2/msgq/users')).json).to.deep.equal([account]);
  });

  it('POST rotate-token replaces all secrets, and shows the new ones', async () => {
    const before = await shown();
    const rotated = (await face.ok('POST', `/v2/msgq/rotate-token/${face.queue}`)).json as Shown;
    for (const field of ['token', 'password', 'read_only_token']) expect(rotated[field]).to.not.equal(before[field]);
    expect(await shown()).to.deep.equal(rotated);
    expect(face.control.state.queueTokens.size).to.equal(2);
  });

  it('POST set-plan sets price and limits of a plan', async () => {
    face.control.nowMs += 5000;
    await face.ok('POST', `/v2/msgq/set-plan/${face.queue}`, { body: { plan_name: 'msgq_fixed_1m' } });
    expect(await shown()).to.include({
      type: 'paid',
      reserved_type: 'msgq_fixed_1m',
      reserved_price: 180,
      max_requests_per_day: 1_000_000,
      max_requests_per_day_hard: 10_000_000,
      max_message_size: 52_428_800,
      max_dlq_retention_time_milis: 2_592_000_000,
      retention: 2_592_000,
      max_parallelism: 10,
      last_plan_upgrade_time: Math.floor(face.control.nowMs / 1000),
    });
    await face.ok('POST', `/v2/msgq/set-plan/${face.queue}`, { body: { plan_name: 'paid' } });
    expect(await shown()).to.include({ reserved_type: '', reserved_price: 0 });
  });

  it('POST set-plan refuses plans that cannot be chosen', async () => {
    for (const plan_name of ['free', 'msgq_fixed', 'gold', 7, undefined]) {
      const { status, json } = await face.call('POST', `/v2/msgq/set-plan/${face.queue}`, { body: { plan_name } });
      expect(status).to.equal(400);
      expect((json as { error: string }).error).to.match(/^plan_name: /);
    }
  });

  it('PATCH update-budget accepts 0, or 20 to 10000 dollars', async () => {
    for (const budget of [20, 10_000, 0]) {
      await face.ok('PATCH', `/v2/msgq/update-budget/${face.queue}`, { body: { budget } });
      expect(await shown()).to.include({ budget });
    }
    for (const budget of [1, 19, 10_001, -20, 20.5, '20', undefined]) {
      const { status, json } = await face.call('PATCH', `/v2/msgq/update-budget/${face.queue}`, { body: { budget } });
      expect(status, String(budget)).to.equal(400);
      expect((json as { error: string }).error).to.match(/^budget: /);
    }
    expect(await shown()).to.include({ budget: 0 });
  });

  it('PATCH update-budget sets the limit of the queue', async () => {
    await face.ok('PATCH', `/v2/msgq/update-budget/${face.queue}`, { body: { budget: 25 } });
    expect(face.control.state.accounts.get(face.ownerAccount)?.limits?.budgetCents).to.equal(2500);
  });

  it('POST enable-prodpack and disable-prodpack switch the production pack', async () => {
    for (const [verb, isOn] of [
      ['enable', true],
      ['enable', true],
      ['disable', false],
    ] as const) {
      await face.ok('POST', `/v2/msgq/${verb}-prodpack/${face.queue}`);
      expect(await shown()).to.include({ prod_pack_enabled: isOn });
    }
  });

  it('a suspended account has state passive', async () => {
    await face.control.send({ type: 'SetAccountState', account: face.ownerAccount, state: 'passive' });
    expect(await shown()).to.include({ state: 'passive', active: false, modifying_state: 'suspended' });
  });

  it('POST move-to-team moves the queue, and the person gets a new one', async () => {
    const before = await shown();
    const team = await face.newTeam();
    const body = { msgq_id: face.queue, target_team_id: team };
    expect((await face.ok('POST', '/v2/msgq/move-to-team', { body })).text).to.equal('"OK"');
    expect((await face.call('GET', `/v2/msgq/user/${face.queue}`)).status).to.equal(404);
    const left = (await face.ok('GET', '/v2/msgq/user')).json as Shown;
    expect(left.id).to.not.equal(face.queue);
    expect(left.token).to.not.equal(before.token);
    expect(left).to.include({ customer_id: 'owner@example.com', created_by: 'owner@example.com' });
    const of = await face.newKey(face.owner, 'of the team', { team_id: team });
    const moved = (await face.ok('GET', `/v2/msgq/user/${face.queue}`, { as: of })).json as Shown;
    expect(moved).to.include({ customer_id: team, token: before.token });
  });

  it('POST /v2/msgq/user creates an account in the other region once, with the plan of the first', async () => {
    await face.ok('POST', `/v2/msgq/set-plan/${face.queue}`, { body: { plan_name: 'msgq_fixed_1m' } });
    const first = await shown();
    face.control.nowMs += 1000;
    const second = (await face.ok('POST', '/v2/msgq/user', { body: { region: 'us-east-1' } })).json as Shown;
    expect(second).to.include({
      region: 'us-east-1',
      reserved_type: 'msgq_fixed_1m',
      active: true,
      customer_id: 'owner@example.com',
    });
    expect(second.max_requests_per_day).to.equal(first.max_requests_per_day);
    expect(second.token).to.not.equal(first.token);
    expect(second.read_only_token).to.be.a('string').and.not.equal('');
    const users = (await face.ok('GET', '/v2/msgq/users')).json as Shown[];
    expect(users.map(({ region }) => region)).to.deep.equal(['eu-central-1', 'us-east-1']);
    expect((await face.ok('GET', '/v2/msgq/user')).json).to.deep.equal(first);
    for (const [region, text] of [
      ['us-east-1', 'region: the account has a message queue in us-east-1 already'],
      ['eu-central-1', 'region: the account has a message queue in eu-central-1 already'],
      ['mars-1', 'region'],
    ]) {
      const { status, json } = await face.call('POST', '/v2/msgq/user', { body: { region } });
      expect(status).to.equal(400);
      expect((json as { error: string }).error).to.include(text);
    }
  });

  it('GET /v2/msgq/ipv4 shows the delivery addresses without credentials', async () => {
    for (const as of [null, undefined, { email: 'wrong@example.com', key: 'wrong' }]) {
      const { status, json } = await face.call('GET', '/v2/msgq/ipv4', as === undefined ? {} : { as });
      expect([status, json]).to.deep.equal([200, ['192.0.2.1/32']]);
    }
  });

  it('a queue account gets 404 for other accounts', async () => {
    const { caller: as } = await face.newPerson('stranger@example.com');
    for (const [method, path, body] of [
      ['GET', 'user'],
      ['GET', 'stats'],
      ['POST', 'rotate-token'],
      ['POST', 'set-plan', { plan_name: 'paid' }],
      ['PATCH', 'update-budget', { budget: 20 }],
      ['POST', 'enable-prodpack'],
    ] as const) {
      const { status, json } = await face.call(method, `/v2/msgq/${path}/${face.queue}`, { as, body });
      expect([status, json], path).to.deep.equal([404, { error: 'message queue account not found' }]);
    }
  });
});
