/** Backups of databases through the management API of a process that owns no shard: the owner carries them out. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { basic } from '../support/management-endpoint.js';
import { MillraceCluster, startPlainNats } from '../support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../support/millrace-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';

type Shown = Record<string, string> & { readonly backup_size: number };

describe('backups of databases, through the management API', function () {
  this.timeout(120_000);
  let nats: Awaited<ReturnType<typeof startPlainNats>>;
  let cluster: MillraceCluster;
  let owner: MillraceProcess;
  let edge: MillraceProcess;
  const clients: KvClient[] = [];

  before(async () => {
    nats = await startPlainNats();
    const settings = { MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY, MILLRACE_KV_SHARDS: '3' };
    cluster = await MillraceCluster.prepare(nats, settings);
    owner = await cluster.start({ MILLRACE_ROLES: 'edge,kv,queue,projection' });
    edge = await cluster.start({ MILLRACE_ROLES: 'edge' });
    expect((await cluster.run(['cluster', 'upgrade'])).code).to.equal(0);
    for (const process of [owner, edge]) {
      await eventually(async () => expect((await ask(process, 'GET', '/v2/kv/databases')).status).to.equal(200), {
        timeoutMs: 30_000,
      });
    }
  });
  after(async () => {
    for (const client of clients) client.close();
    await endEverything();
    await nats?.stop();
  });

  async function ask(at: MillraceProcess, method: string, path: string, body?: object) {
    const response = await fetch(`${at.addresses.mgmt}${path}`, {
      method,
      headers: { authorization: basic(EMAIL, KEY) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as unknown };
  }

  async function database(name: string): Promise<{ id: string; kv: KvClient }> {
    const { json } = await ask(edge, 'POST', '/v2/kv/database', { name, region: 'eu-west-1' });
    const { database_id: id = '', rest_token: token = '' } = json as Shown;
    const kv = new KvClient({ url: edge.kvUrl, token });
    clients.push(kv);
    await eventually(() => kv.ask('PING'), { timeoutMs: 20_000 });
    return { id, kv };
  }

  const backupsOf = async (id: string) => (await ask(owner, 'GET', `/v2/kv/list-backup/${id}`)).json as Shown[];

  async function completed(id: string, name: string): Promise<Shown> {
    expect((await ask(edge, 'POST', `/v2/kv/create-backup/${id}`, { name })).json).to.equal('OK');
    return eventually(
      async () => {
        const found = (await backupsOf(id)).find((backup) => backup.name === name);
        expect(found?.state).to.equal('completed');
        return found as Shown;
      },
      { timeoutMs: 30_000, everyMs: 100 },
    );
  }

  it('are created, listed, restored into the same or another database, and deleted', async () => {
    const one = await database('one');
    const two = await database('two');
    for (let n = 0; n < 50; n += 1) await one.kv.ask('SET', `key:${n}`, n);
    await one.kv.ask('SEARCH.CREATE', 'index', 'ON', 'STRING', 'PREFIX', '1', 'doc:', 'SCHEMA', 'text', 'TEXT');
    await one.kv.ask('SET', 'doc:1', '{"text":"red shoes"}');
    await one.kv.ask('SEARCH.ALIASADD', 'alias', 'index');
    const { backup_id, backup_size } = await completed(one.id, 'monday');
    expect(backup_size).to.be.greaterThan(50);

    await one.kv.ask('FLUSHALL');
    await one.kv.ask('SET', 'new', 1);
    await two.kv.ask('SET', 'of two', 1);
    for (const { id, kv } of [one, two]) {
      expect((await ask(edge, 'POST', `/v2/kv/restore-backup/${id}`, { backup_id })).json).to.equal('OK');
      expect(await kv.ask('DBSIZE')).to.equal(52);
      expect(await kv.ask('SEARCH.QUERY', 'alias', '{"text":"shoe"}')).to.have.nested.property('[0][0]', 'doc:1');
      expect(await kv.ask('GET', 'key:7')).to.equal('7');
    }
    expect((await ask(edge, 'DELETE', `/v2/kv/delete-backup/${one.id}/${backup_id}`)).json).to.equal('OK');
    expect(await backupsOf(one.id)).to.deep.equal([]);
    expect((await ask(edge, 'POST', `/v2/kv/restore-backup/${one.id}`, { backup_id })).status).to.equal(404);
    expect(await one.kv.ask('DBSIZE')).to.equal(52);
  });

  it('of an empty database are restored as an empty database', async () => {
    const { id, kv } = await database('empty');
    const { backup_id } = await completed(id, 'nothing');
    await kv.ask('SET', 'a', 1);
    expect((await ask(owner, 'POST', `/v2/kv/restore-backup/${id}`, { backup_id })).json).to.equal('OK');
    expect(await kv.ask('DBSIZE')).to.equal(0);
  });
});
