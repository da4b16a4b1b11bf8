/** Every command of the published command line, run against a real process as an operator would run it. */
import { expect } from 'chai';
import { ManagementCli } from '../../support/management-cli.js';
import {
  endEverything,
  type MillraceProcess,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';

type Shown = Record<string, unknown>;

describe('management API: the published command line', function () {
  this.timeout(180_000);
  let millrace: MillraceProcess;
  let cli: ManagementCli;

  before(async () => {
    millrace = await startMillrace({
      env: {
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: KEY,
        MILLRACE_WIRE_ALIAS: 'Upstash:QStash:redis',
      },
    });
    cli = await ManagementCli.for(await temporaryDirectory(), millrace.addresses.mgmt as string, EMAIL, KEY);
  });
  after(() => endEverything());

  it('redis commands create, show, change and delete databases', async () => {
    const made = (await cli.json(
      'redis',
      'create',
      '--name',
      'shop',
      '--region',
      'eu-west-1',
      '--read-regions',
      'us-east-1',
    )) as Shown;
    const id = made.database_id as string;
    expect(made).to.include({ database_name: 'shop', region: 'global', primary_region: 'eu-west-1', state: 'active' });
    expect(((await cli.json('redis', 'list')) as Shown[]).map(({ database_name }) => database_name)).to.include('shop');
    const db = ['--db-id', id] as const;
    expect(await cli.json('redis', 'get', ...db)).to.deep.equal(made);
    expect(await cli.json('redis', 'get', ...db, '--hide-credentials')).to.not.have.property('rest_token');
    const exec = (token: unknown, ...words: string[]) =>
      cli.json('redis', 'exec', '--db-url', millrace.kvUrl, '--db-token', String(token), ...words);
    await exec(made.rest_token, 'SET', 'cart', 'apples');
    expect(await exec(made.rest_token, 'GET', 'cart')).to.satisfy((got: unknown) =>
      JSON.stringify(got).includes('apples'),
    );
    expect(await cli.json('redis', 'rename', ...db, '--name', 'store')).to.include({ database_name: 'store' });
    const reset = (await cli.json('redis', 'reset-password', ...db)) as Shown;
    expect(reset.rest_token).to.not.equal(made.rest_token);
    expect(
      await cli.refusal(
        'redis',
        'exec',
        '--db-url',
        millrace.kvUrl,
        '--db-token',
        String(made.rest_token),
        'GET',
        'cart',
      ),
    ).to.match(/WRONGPASS/);
    expect(JSON.stringify(await exec(reset.rest_token, 'GET', 'cart'))).to.include('apples');
    expect(await cli.json('redis', 'enable-tls', ...db)).to.include({ tls: true });
    for (const verb of ['enable-eviction', 'disable-eviction', 'enable-autoupgrade', 'disable-autoupgrade']) {
      expect((await cli.run('redis', verb, ...db)).code, verb).to.equal(0);
    }
    for (const plan of ['pro', 'payg'])
      expect((await cli.run('redis', 'change-plan', ...db, '--plan', plan)).code).to.equal(0);
    expect((await cli.run('redis', 'update-budget', ...db, '--budget', '50')).code).to.equal(0);
    expect((await cli.run('redis', 'update-regions', ...db, '--read-regions', 'us-west-1')).code).to.equal(0);
    for (const verb of ['enable-daily', 'disable-daily'])
      expect((await cli.run('redis', 'backup', verb, ...db)).code).to.equal(0);
    expect(await cli.json('redis', 'get', ...db)).to.deep.include({
      type: 'payg',
      budget: 50,
      read_regions: ['us-west-1'],
    });
    expect(await cli.json('redis', 'backup', 'list', ...db)).to.deep.equal([]);
    expect(((await cli.json('redis', 'stats', ...db)) as Shown).days).to.have.length(5);
    expect((await cli.run('redis', 'delete', ...db)).code).to.equal(0);
    expect(await cli.refusal('redis', 'get', ...db)).to.equal('database not found');
  });

  it('search commands create, show, change and delete search indexes', async () => {
    const made = (await cli.json(
      'search',
      'create',
      '--name',
      'papers',
      '--region',
      'eu-west-1',
      '--type',
      'payg',
    )) as Shown;
    const index = ['--index-id', made.id as string] as const;
    expect(await cli.json('search', 'get', ...index)).to.include({ name: 'papers', token: made.token });
    expect(await cli.json('search', 'list')).to.have.length(1);
    for (const words of [
      ['rename', ...index, '--name', 'books'],
      ['reset-password', ...index],
    ]) {
      expect((await cli.run('search', ...words)).code, words[0] as string).to.equal(0);
    }
    const changed = (await cli.json('search', 'get', ...index)) as Shown;
    expect(changed).to.include({ name: 'books' });
    expect(changed.token).to.not.equal(made.token);
    expect(await cli.json('search', 'stats')).to.have.property('record_count');
    expect(((await cli.json('search', 'index-stats', ...index)) as Shown).days).to.have.length(5);
    expect((await cli.run('search', 'delete', ...index)).code).to.equal(0);
    expect(await cli.json('search', 'list')).to.deep.equal([]);
  });

  it('vector commands create, show, change, transfer and delete indexes of vectors', async () => {
    const asked = ['--name', 'films', '--region', 'eu-west-1', '--similarity-function', 'COSINE'];
    const made = (await cli.json('vector', 'create', ...asked, '--dimension-count', '3', '--type', 'payg')) as Shown;
    const index = ['--index-id', made.id as string] as const;
    expect(made).to.include({ name: 'films', dimension_count: 3, index_type: 'DENSE', type: 'payg' });
    expect(await cli.json('vector', 'get', ...index)).to.include({ name: 'films', token: made.token });
    expect(await cli.json('vector', 'list')).to.have.length(1);
    for (const words of [
      ['rename', ...index, '--name', 'series'],
      ['reset-password', ...index],
      ['set-plan', ...index, '--plan', 'free'],
    ]) {
      expect((await cli.run('vector', ...words)).code, words[0] as string).to.equal(0);
    }
    const changed = (await cli.json('vector', 'get', ...index)) as Shown;
    expect(changed).to.include({ name: 'series', type: 'free' });
    expect(changed.token).to.not.equal(made.token);
    expect(await cli.json('vector', 'stats')).to.have.property('record_count');
    expect(((await cli.json('vector', 'index-stats', ...index)) as Shown).days).to.have.length(5);
    const team = (await cli.json('team', 'create', '--name', 'viewers')) as Shown;
    const target = String(team.team_id);
    expect((await cli.run('vector', 'transfer', ...index, '--target-account', target)).code).to.equal(0);
    expect(await cli.json('vector', 'list')).to.deep.equal([]);
    expect(await cli.refusal('vector', 'get', ...index)).to.match(/not found/);
  });

  it('qstash commands show and change the queue account', async () => {
    const [account] = (await cli.json('qstash', 'list')) as Shown[];
    const id = ['--qstash-id', account?.id as string] as const;
    expect(await cli.json('qstash', 'get', ...id)).to.deep.equal(account);
    const rotated = (await cli.json('qstash', 'rotate-token', ...id)) as Shown;
    expect(rotated.token).to.not.equal(account?.token);
    const status = async (token: unknown) =>
      (await fetch(`${millrace.addresses.queue}/v2/queues`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await status(rotated.token), await status(account?.token)]).to.deep.equal([200, 401]);
    expect((await cli.run('qstash', 'set-plan', ...id, '--plan', 'qstash_fixed_1m')).code).to.equal(0);
    expect(await cli.json('qstash', 'get', ...id)).to.include({
      reserved_type: 'qstash_fixed_1m',
      reserved_price: 180,
    });
    expect((await cli.run('qstash', 'update-budget', ...id, '--budget', '40')).code).to.equal(0);
    expect((await cli.run('qstash', 'enable-prodpack', ...id)).code).to.equal(0);
    expect(await cli.json('qstash', 'get', ...id)).to.include({ budget: 40, prod_pack_enabled: true });
    expect((await cli.run('qstash', 'disable-prodpack', ...id)).code).to.equal(0);
    expect(await cli.json('qstash', 'stats', ...id, '--period', '30d')).to.have.property('daily_qstash_messages');
    expect(await cli.json('qstash', 'ipv4')).to.be.an('array');
  });

  it('team commands create teams, add members and move databases and indexes', async () => {
    const team = (await cli.json('team', 'create', '--name', 'crew')) as Shown;
    const id = ['--team-id', team.team_id as string] as const;
    expect(await cli.json('team', 'list')).to.deep.include(team);
    const member = [...id, '--member-email', 'ada@tests.example'] as const;
    expect(await cli.json('team', 'add-member', ...member, '--role', 'dev')).to.include({ member_role: 'dev' });
    expect(await cli.json('team', 'members', ...id)).to.have.length(2);
    expect((await cli.run('team', 'remove-member', ...member)).code).to.equal(0);
    const { database_id } = (await cli.json('redis', 'create', '--name', 'moving', '--region', 'us-east-1')) as Shown;
    expect((await cli.run('redis', 'move-to-team', '--db-id', String(database_id), ...id)).code).to.equal(0);
    const { id: index } = (await cli.json(
      'search',
      'create',
      '--name',
      'm',
      '--region',
      'eu-west-1',
      '--type',
      'payg',
    )) as Shown;
    const transfer = ['--index-id', String(index), '--target-account', team.team_id as string];
    expect((await cli.run('search', 'transfer', ...transfer)).code).to.equal(0);
    expect(await cli.refusal('team', 'delete', ...id)).to.match(/databases and search indexes/);
  });

  it('errors and the refusals of a read-only key are shown', async () => {
    expect(await cli.as(EMAIL, 'wrong').refusal('redis', 'list')).to.match(/^unauthorized/);
    expect(await cli.refusal('redis', 'rename', '--db-id', 'nothing', '--name', 'x')).to.equal('database not found');
    const response = await fetch(`${millrace.addresses.mgmt}/apikey`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` },
      body: JSON.stringify({ name: 'looks only', readonly: true }),
    });
    const { api_key } = (await response.json()) as { api_key: string };
    const reader = cli.as(EMAIL, api_key);
    expect(await reader.json('redis', 'list')).to.be.an('array');
    expect(await reader.refusal('redis', 'delete', '--db-id', 'readonly-check-nonexistent')).to.include(
      'Readonly API key',
    );
  });
});
