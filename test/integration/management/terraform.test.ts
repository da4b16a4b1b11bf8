/**
 * The requests of the published Terraform provider (2.1), in its order, and the fields that it decodes. The provider is a
 * Go program that is not in a package registry of this language, so its requests are sent as its source has them: a call
 * without an argument has the body `null`, and each field must have the type that its decoder expects.
 */
import { expect } from 'chai';
import { endEverything, type MillraceProcess, startMillrace } from '../../support/millrace-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const GOOD_STATUSES = [200, 201, 202];

type Shown = Readonly<Record<string, unknown>>;
type Kind = 'string' | 'number' | 'boolean';

/** The types of a resource's fields; a field that is left out is read as the zero of its type. */
function expectTypes(shown: Shown, types: Readonly<Record<string, Kind>>): void {
  for (const [field, type] of Object.entries(types)) {
    const value = shown[field];
    if (value === undefined) continue;
    expect(value, field).to.be.a(type);
    if (type === 'number') expect(Number.isSafeInteger(value), `${field}: ${value}`).to.equal(true);
  }
}

const typed = (type: Kind, ...fields: string[]) => Object.fromEntries(fields.map((field) => [field, type]));

describe('management API: the requests of the published Terraform provider', function () {
  this.timeout(60_000);
  let millrace: MillraceProcess;

  before(async () => {
    millrace = await startMillrace({
      env: {
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: KEY,
        MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
        MILLRACE_WIRE_ALIAS: 'Upstash:QStash:redis',
      },
    });
  });
  after(endEverything);

  async function sent(url: string, method: string, headers: Record<string, string>, body?: unknown) {
    const answer = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      ...(method !== 'GET' && { body: JSON.stringify(body ?? null) }),
    });
    const text = await answer.text();
    return { status: answer.status, text };
  }

  const basic = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
  const managed = (method: string, path: string, body?: unknown) =>
    sent(
      `${millrace.addresses.mgmt}${path}`,
      method,
      { authorization: basic, 'content-type': 'application/json' },
      body,
    );

  /** A call that the provider takes as a success. @returns the answer's JSON */
  async function ok<T = Shown>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await managed(method, path, body);
    expect(GOOD_STATUSES, `${method} ${path}: ${text}`).to.include(status);
    return JSON.parse(text) as T;
  }

  it('upstash_redis_database is created, changed in each way, read without a difference, and deleted', async () => {
    const asked = { tls: true, consistent: false, multizone: false, eviction: true, auto_upgrade: true, budget: 20 };
    const regions = { region: 'global', primary_region: 'eu-west-1', read_regions: ['us-east-1'] };
    const made = await ok('POST', '/v2/redis/database', {
      database_name: 'planned',
      prod_pack_enabled: false,
      ...asked,
      ...regions,
    });
    const id = made.database_id as string;
    const read = () => ok('GET', `/v2/redis/database/${id}`);
    const shown = await read();
    expect(shown).to.deep.include({ database_name: 'planned', ...asked, ...regions, prod_pack_enabled: false });
    expectTypes(shown, {
      ...typed('string', 'endpoint', 'password', 'rest_token', 'read_only_rest_token', 'database_type', 'state'),
      ...typed('string', 'user_email', 'region', 'primary_region'),
      ...typed('number', 'port', 'creation_time', 'budget', 'db_max_clients', 'db_max_request_size'),
      ...typed('number', 'db_disk_threshold', 'db_max_entry_size', 'db_memory_threshold', 'db_daily_bandwidth_limit'),
      ...typed('number', 'db_max_commands_per_second'),
      ...typed('boolean', 'tls', 'eviction', 'auto_upgrade', 'consistent', 'multizone', 'prod_pack_enabled'),
    });
    await ok('POST', `/v2/redis/update-regions/${id}`, { read_regions: ['us-west-1'] });
    await ok('POST', `/v2/redis/enable-tls/${id}`);
    for (const switched of ['eviction', 'autoupgrade', 'prodpack']) {
      await ok('POST', `/v2/redis/enable-${switched}/${id}`);
      await ok('POST', `/v2/redis/disable-${switched}/${id}`);
    }
    await ok('PATCH', `/v2/redis/update-budget/${id}`, { budget: 30 });
    await ok('POST', `/v2/redis/update-allowlist/${id}`, { allowed_ips: ['127.0.0.1'] });
    expect(await read()).to.deep.include({
      read_regions: ['us-west-1'],
      eviction: false,
      auto_upgrade: false,
      budget: 30,
      allowed_ip_ranges: ['127.0.0.1'],
    });
    await ok('DELETE', `/v2/redis/database/${id}`);
    expect(GOOD_STATUSES).to.not.include((await managed('GET', `/v2/redis/database/${id}`)).status);
  });

  it('upstash_team is created, its members are set, and it is deleted', async () => {
    const { team_id: team } = await ok('POST', '/v2/team', { team_name: 'planned', copy_cc: false });
    const member = { team_id: team, member_email: 'dev@tests.example' };
    // The provider removes each member before it adds it, and accepts exactly this text.
    const missing = await managed('DELETE', '/v2/teams/member', member);
    expect(GOOD_STATUSES).to.not.include(missing.status);
    await ok('POST', '/v2/teams/member', { ...member, member_role: 'dev' });
    await ok('DELETE', '/v2/teams/member', member);
    await ok('POST', '/v2/teams/member', { ...member, member_role: 'finance' });
    const members = await ok<Shown[]>('GET', `/v2/teams/${team}`);
    expect(members.map((one) => [one.member_email, one.member_role])).to.deep.include(['dev@tests.example', 'finance']);
    for (const one of members) expectTypes(one, typed('string', 'team_id', 'team_name', 'member_email', 'member_role'));
    await ok('DELETE', `/v2/team/${team}`);
  });

  it('upstash_vector_index and upstash_search are created, renamed, given another plan, and deleted', async () => {
    const vector = await ok('POST', '/v2/vector/index', {
      name: 'planned',
      similarity_function: 'COSINE',
      dimension_count: 8,
      region: 'us-east-1',
      type: 'free',
    });
    await ok('POST', `/v2/vector/index/${vector.id}/setplan`, { target_plan: 'payg' });
    await ok('POST', `/v2/vector/index/${vector.id}/rename`, { name: 'replanned' });
    const shown = await ok('GET', `/v2/vector/index/${vector.id}`);
    expect(shown).to.include({ name: 'replanned', similarity_function: 'COSINE', dimension_count: 8, type: 'payg' });
    const limits = ['max_vector_count', 'max_daily_updates', 'max_daily_queries', 'max_monthly_bandwidth'];
    const rates = ['max_writes_per_second', 'max_query_per_second', 'max_reads_per_request', 'max_writes_per_request'];
    expectTypes(shown, {
      ...typed('string', 'id', 'customer_id', 'endpoint', 'token', 'read_only_token', 'region'),
      ...typed('number', ...limits, ...rates, 'max_total_metadata_size', 'reserved_price', 'creation_time'),
    });
    await ok('DELETE', `/v2/vector/index/${vector.id}`);

    const search = await ok('POST', '/v2/search', { name: 'planned', region: 'us-central1', type: 'free' });
    await ok('POST', `/v2/search/${search.id}/setplan`, { target_plan: 'payg' });
    await ok('POST', `/v2/search/${search.id}/rename`, { name: 'replanned' });
    expect(await ok('GET', `/v2/search/${search.id}`)).to.include({ name: 'replanned', type: 'payg' });
    await ok('DELETE', `/v2/search/${search.id}`);
  });

  it('upstash_qstash_topic_v2 and upstash_qstash_schedule_v2 use the token of GET /v2/qstash/user', async () => {
    const { token } = await ok('GET', '/v2/qstash/user');
    const queued = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const bearer = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
      const { status, text } = await sent(`${millrace.addresses.queue}${path}`, method, bearer, body);
      expect(GOOD_STATUSES, `${method} ${path}: ${text}`).to.include(status);
      return (text === '' ? {} : JSON.parse(text)) as Shown;
    };
    const urls = ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'];
    const [first, second] = urls.map((url) => ({ endpoints: [{ url }] }));
    await queued('POST', '/v2/topics/planned/endpoints', first);
    await queued('POST', '/v2/topics/planned/endpoints', second);
    await queued('DELETE', '/v2/topics/planned/endpoints', first);
    const topic = await queued('GET', '/v2/topics/planned');
    expect((topic.endpoints as Shown[]).map(({ url }) => url)).to.deep.equal([urls[1]]);
    expectTypes(topic, typed('number', 'createdAt', 'updatedAt'));
    await queued('DELETE', '/v2/topics/planned');

    // Headers without a value are sent empty.
    const unset = { 'Upstash-Method': '', 'Upstash-Delay': '', 'Upstash-Callback': '' };
    const set = { 'Upstash-Cron': '0 3 * * *', 'Upstash-Retries': '3', 'Upstash-Forward-Trace': 'plan' };
    const { scheduleId } = await queued('POST', `/v2/schedules/${urls[0]}`, 'nightly', { ...unset, ...set });
    expect(scheduleId).to.be.a('string');
    const schedule = await queued('GET', `/v2/schedules/${scheduleId}`);
    expect(schedule).to.include({ cron: '0 3 * * *', destination: urls[0], retries: 3, method: 'POST' });
    await queued('DELETE', `/v2/schedules/${scheduleId}`);
  });
});
