/**
 * A search for secrets in clear text: every endpoint of a real process is used with known secrets, and then all its
 * output and files are searched for them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { filesWith, spellingsOf } from '../../support/canary.js';
import { answered, bearer, CanaryStand, STORED, signedIn, TYPED, USER_PASSWORD } from '../../support/canary-stand.js';
import { eventually } from '../../support/eventually.js';
import { PASSWORD, READONLY_TOKEN, runMillrace, TOKEN, temporaryDirectory } from '../../support/millrace-process.js';
import { QUEUE_READONLY_TOKEN, QUEUE_TOKEN } from '../../support/queue-process.js';
import { RespClient } from '../../support/resp-client.js';
import { databaseOf, MGMT_KEY, searchCall } from '../../support/search-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const LONG = { timeoutMs: 20_000, everyMs: 100 };
/** These are not secrets, but must not be in a log either. */
const IN_A_DESTINATION = 'in-the-query-of-a-destination-0123456789';
const IN_A_REQUEST = 'in-the-query-of-a-request-0123456789';
/** Where secrets are by design, each readable by the owner of the process alone. */
const KEPT_FOR_OPERATORS = ['credentials.env', 'seal.key'];
const DATABASE = { region: 'eu-west-1', plan: 'payg' };
const OF_A_DATABASE = ['password', 'rest_token', 'read_only_rest_token'];

describe('canary: secrets of every kind', function () {
  this.timeout(120_000);
  const stand = standOfAllTests(() => CanaryStand.start());

  it('are sent through REST and RESP', async () => {
    const { canary, millrace, environment } = stand;
    const { kvUrl, kv } = millrace;
    for (const token of [TOKEN, READONLY_TOKEN]) {
      await answered(200, `${kvUrl}/get/stored?_token=${token}`);
      await answered(200, `${kvUrl}/get/stored`, bearer(token));
      await answered(400, `${kvUrl}/nonsense/stored?_token=${token}`);
    }
    await answered(401, `${kvUrl}/get/stored?_token=${TYPED.token}`);
    await answered(401, `${kvUrl}/get/stored`, bearer(TYPED.token));
    await kv.ask('ACL', 'SETUSER', 'ada', 'on', `>${USER_PASSWORD}`, '~*', '+@all');
    const userToken = canary.add('token of a user', await kv.ask('ACL', 'RESTTOKEN', 'ada', USER_PASSWORD));
    await answered(200, `${kvUrl}/get/stored?_token=${userToken}`);
    const resp = await RespClient.connect({ port: Number(environment.MILLRACE_RESP_PORT), host: '127.0.0.1' });
    expect(await resp.call(['AUTH', TYPED.password])).to.match(/^-WRONGPASS/);
    expect(await resp.call(['AUTH', 'ada', TYPED.password])).to.match(/^-WRONGPASS/);
    expect(await resp.call(['HELLO', '2', 'AUTH', 'default', PASSWORD])).to.match(/^\*/);
    expect(await resp.call(['NONSENSE', PASSWORD])).to.match(/^-/);
    expect(await resp.call(['AUTH', PASSWORD])).to.equal('+OK\r\n');
    expect(await resp.call(['AUTH', 'ada', USER_PASSWORD])).to.equal('+OK\r\n');
    expect(await resp.call(['GET', 'stored'])).to.contain(STORED);
    resp.close();
  });

  it('are sent through the queue', async () => {
    const { sink, readSide } = stand;
    const url = readSide.faces.queueUrl;
    sink.answer('/bad', { status: 500 });
    for (const path of ['/good', '/bad']) {
      const headers = { authorization: `Bearer ${QUEUE_TOKEN}`, 'Svc-Retries': '0' };
      const target = `${url}/v2/publish/${sink.url(path)}?token=${IN_A_DESTINATION}`;
      await answered(200, target, { method: 'POST', headers, body: 'hello' });
    }
    await eventually(async () => expect((await readSide.state()).dlq).to.have.length(1), LONG);
    await answered(200, `${url}/v2/events`, bearer(QUEUE_READONLY_TOKEN));
    await answered(401, `${url}/v2/events`, bearer(TYPED.token));
    const rotated = await answered(200, `${url}/v2/keys/rotate`, { method: 'POST', ...bearer(QUEUE_TOKEN) });
    stand.addAll('a rotation', await rotated.json(), ['next']);
  });

  it('are sent through the management API', async () => {
    const { canary, millrace, readSide } = stand;
    const { mgmtUrl } = readSide.faces;
    const made = await readSide.manage('POST', '/v2/kv/database', { name: 'db', ...DATABASE });
    stand.addAll('a database', made, OF_A_DATABASE);
    await answered(200, `${millrace.kvUrl}/set/stored/${STORED}`, bearer(made.rest_token));
    const renewed = await readSide.manage('POST', `/v2/kv/reset-password/${made.database_id}`);
    stand.addAll('a renewed database', renewed, OF_A_DATABASE);
    const watched = await readSide.manage('POST', `/v2/kv/enable-prometheus/${made.database_id}`);
    stand.addAll('a watched database', watched, ['prometheus_token']);
    await answered(200, `${mgmtUrl}/monitoring/prometheus/federate`, bearer(watched.prometheus_token));
    await answered(401, `${mgmtUrl}/monitoring/prometheus/federate`, bearer(TYPED.token));
    await readSide.manage('POST', `/v2/kv/create-backup/${made.database_id}`, { name: 'kept' });
    const { api_key } = await readSide.manage('POST', '/v2/apikey', { name: 'second' });
    canary.add('an API key', api_key);
    await answered(200, `${mgmtUrl}/auditlogs`, signedIn(api_key));
    await answered(401, `${mgmtUrl}/auditlogs`, signedIn(TYPED.key));
    const { id } = await readSide.manage('GET', '/v2/msgq/user');
    stand.addAll('a rotated queue', await readSide.manage('POST', `/v2/msgq/rotate-token/${id}`), ['token']);
  });

  it('are sent through search', async () => {
    const { readSide } = stand;
    const index = await readSide.manage('POST', '/v2/search', { name: 'idx', region: 'eu-west-1', type: 'payg' });
    stand.addAll('a search index', index, ['token', 'read_only_token']);
    const search = databaseOf(index);
    const status = async (token: string) =>
      (await searchCall({ ...search, token }, 'upsert-data/notes', { id: 'one', content: { text: STORED } })).status;
    await eventually(async () => expect(await status(search.token)).to.equal(200), LONG);
    expect(await status(search.readOnlyToken)).to.be.within(400, 403);
    expect(await status(TYPED.token)).to.equal(401);
    await readSide.manage('POST', `/v2/search/${index.id}/reset-password`);
    const renewed = await readSide.manage('GET', `/v2/search/${index.id}`);
    stand.addAll('a renewed search index', renewed, ['token', 'read_only_token']);
  });

  it("are sent through the operators' API", async () => {
    const { canary, readSide } = stand;
    const admin = `${readSide.faces.mgmtUrl}/v2/admin`;
    const begun = await answered(200, `${admin}/sessions`, { method: 'POST', ...signedIn(MGMT_KEY) });
    const session = canary.add('a session', ((await begun.json()) as { session: string }).session);
    await answered(200, `${admin}/session`, bearer(session));
    await answered(401, `${admin}/session`, bearer(TYPED.token));
    const headers = { cookie: `millrace_session=${encodeURIComponent(session)}` };
    const [{ database_id: id }] = await readSide.manage('GET', '/v2/kv/databases');
    for (const path of ['session', `databases/${id}/timeline`]) await answered(200, `${admin}/${path}`, { headers });
  });

  it('appear in none of its output, its files or a backup', async () => {
    const { canary, dataDir, millrace, readSide } = stand;
    for (const url of [millrace.kvUrl, millrace.metricsUrl, readSide.faces.queueUrl, readSide.faces.mgmtUrl]) {
      for (const path of ['/', '/v2/nothing', '/v2/events', '/search/nothing']) {
        expect((await fetch(`${url}${path}?q=${IN_A_REQUEST}`)).status).to.be.within(200, 404);
      }
    }
    // Enough entries for a snapshot of every journal, so that all earlier ones are in a snapshot.
    for (let more = 0; more < 12; more += 1) {
      await readSide.manage('POST', '/v2/kv/database', { name: `more ${more}`, ...DATABASE });
      await millrace.kv.ask('SET', `more ${more}`, 'x');
    }
    const backup = join(await temporaryDirectory(), 'backup');
    const words = ['backup', 'create', '--to', backup, '--key-to', join(await temporaryDirectory(), 'kept.key')];
    const { code, stdout, stderr } = await runMillrace(words, stand.environment, { timeoutMs: 60_000 });
    expect(code, stderr).to.equal(0);
    await stand.end();
    await stand.begin();
    await stand.end();
    const { printed, logged } = stand;
    const stored = await filesWith(dataDir, STORED);
    expect(
      stored.some((path) => path.includes('jetstream')),
      `stored is in ${stored}`,
    ).to.equal(true);
    expect(
      stored.some((path) => path.includes('OBJ_')),
      `stored is in ${stored}`,
    ).to.equal(true);
    expect(await filesWith(join(dataDir, 'read-models'), IN_A_DESTINATION)).to.not.deep.equal([]);
    expect(await filesWith(backup, STORED)).to.not.deep.equal([]);
    expect(await readFile(join(dataDir, 'credentials.env'), 'utf8')).to.contain(TOKEN);
    expect(logged).to.contain('"event":"shard.serving"');
    // Standard output is not a terminal, so the process prints the place of the credentials instead of their values.
    expect(printed).to.contain('the credentials are stored in');
    const texts = { 'what is printed': printed, 'the log': logged, backup: `${stdout}${stderr}` };
    const found = [
      ...Object.entries(texts).flatMap(([where, text]) => canary.inText(where, text)),
      ...(await canary.inFiles(dataDir, KEPT_FOR_OPERATORS)),
      ...(await canary.inFiles(backup)),
    ];
    expect(found, `of ${canary.names.length} secrets`).to.deep.equal([]);
    expect(logged, 'a query string').to.not.contain(IN_A_DESTINATION);
    expect(logged, 'a query string').to.not.contain(IN_A_REQUEST);
  });

  it('would be found in every encoding', () => {
    const { canary } = stand;
    for (const prefix of ['', 'a', 'ab']) {
      for (const code of ['base64', 'base64url', 'hex'] as const) {
        const text = Buffer.from(`${prefix}${MGMT_KEY}:`).toString(code);
        expect(canary.inText('here', text), `${prefix} ${code}`).to.have.length(1);
      }
    }
    expect(spellingsOf(MGMT_KEY).every(([, bytes]) => bytes.length >= MGMT_KEY.length)).to.equal(true);
  });
});
