/**
 * The management API of a cluster of two processes: changes made at one are known at the other, and remain after a
 * kill.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { basic } from '../../support/management-endpoint.js';
import { MillraceCluster, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../../support/millrace-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';

type Shown = Record<string, unknown>;

describe('management API: two processes', function () {
  this.timeout(120_000);
  let nats: Awaited<ReturnType<typeof startPlainNats>>;
  let cluster: MillraceCluster;
  let owner: MillraceProcess;
  let edge: MillraceProcess;

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, { MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY });
    owner = await cluster.start({ MILLRACE_ROLES: 'edge,kv,queue,projection' });
    edge = await cluster.start({ MILLRACE_ROLES: 'edge' });
    for (const process of [owner, edge]) {
      await eventually(async () => expect((await ask(process, 'GET', '/v2/kv/databases')).status).to.equal(200), {
        timeoutMs: 30_000,
      });
    }
  });
  after(async () => {
    await endEverything();
    await nats.stop();
  });

  async function ask(at: MillraceProcess, method: string, path: string, body?: object, key = KEY) {
    const response = await fetch(`${at.addresses.mgmt}${path}`, {
      method,
      headers: { authorization: basic(EMAIL, key) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Shown & Shown[] };
  }

  const command = async (at: MillraceProcess, token: unknown, ...words: string[]) => {
    const response = await fetch(at.kvUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(words),
    });
    return response.status;
  };

  it('a database written at one process is read at the other', async () => {
    for (let count = 0; count < 10; count += 1) {
      const [writer, reader] = count % 2 === 0 ? [owner, edge] : [edge, owner];
      const made = await ask(writer, 'POST', '/v2/kv/database', { name: `db ${count}`, region: 'eu-west-1' });
      expect(made.status).to.equal(200);
      const { json } = await ask(reader, 'GET', `/v2/kv/database/${made.json.database_id}`);
      expect(json).to.deep.equal({ ...made.json, endpoint: json.endpoint, port: json.port });
      expect((await ask(reader, 'GET', '/auditlogs')).json[0]).to.include({ entity: `db ${count}` });
    }
  });

  it('old tokens are refused at both as soon as the answer is sent, and new ones accepted', async () => {
    const { json: made } = await ask(edge, 'POST', '/v2/kv/database', { name: 'tokens', region: 'eu-west-1' });
    for (const at of [owner, edge]) {
      await eventually(async () => expect(await command(at, made.rest_token, 'SET', 'a', '1')).to.equal(200));
    }
    const { json: reset } = await ask(edge, 'POST', `/v2/kv/reset-password/${made.database_id}`);
    for (const at of [owner, edge]) expect(await command(at, made.rest_token, 'GET', 'a')).to.equal(401);
    for (const at of [owner, edge]) {
      await eventually(async () => expect(await command(at, reset.rest_token, 'GET', 'a')).to.equal(200));
    }
    expect((await ask(owner, 'DELETE', `/v2/kv/database/${made.database_id}`)).status).to.equal(200);
    for (const at of [owner, edge]) expect(await command(at, reset.rest_token, 'GET', 'a')).to.equal(401);
  });

  it('DELETE /v2/apikey closes the key at both processes as soon as the answer is sent', async () => {
    const { json } = await ask(owner, 'POST', '/apikey', { name: 'short' });
    const key = json.api_key as string;
    for (const at of [owner, edge]) {
      await eventually(async () => {
        expect((await ask(at, 'GET', '/v2/teams', undefined, key)).status).to.equal(200);
      });
    }
    expect((await ask(edge, 'DELETE', '/v2/apikey/short')).status).to.equal(200);
    for (const at of [owner, edge]) expect((await ask(at, 'GET', '/v2/teams', undefined, key)).status).to.equal(401);
  });

  it('all data is there again after the owner was killed', async () => {
    const { json: index } = await ask(edge, 'POST', '/v2/search', {
      name: 'papers',
      region: 'eu-west-1',
      type: 'payg',
    });
    const { json: team } = await ask(edge, 'POST', '/v2/team', { team_name: 'crew', copy_cc: true });
    await ask(edge, 'POST', '/v2/teams/member', {
      team_id: team.team_id,
      member_email: 'ada@tests.example',
      member_role: 'dev',
    });
    const paths = ['/v2/kv/databases', `/v2/teams/${team.team_id}`, '/v2/apikeys', '/auditlogs', '/v2/msgq/users'];
    const seen = async (at: MillraceProcess) => {
      const answers = [];
      for (const path of paths) {
        const { status, json } = await ask(at, 'GET', path);
        expect(status, path).to.equal(200);
        answers.push(json.map((each) => ({ ...each, endpoint: undefined, port: undefined })));
      }
      return answers;
    };
    const before = await seen(edge);
    await owner.kill('SIGKILL');
    owner = await cluster.start({ MILLRACE_ROLES: 'edge,kv,queue,projection' });
    for (const at of [edge, owner]) {
      await eventually(async () => expect(await seen(at)).to.deep.equal(before), { timeoutMs: 30_000 });
    }
    const again = (await ask(owner, 'GET', `/v2/search/${index.id}`)).json;
    expect(again).to.include({ name: 'papers', token: index.token });
  });
});
