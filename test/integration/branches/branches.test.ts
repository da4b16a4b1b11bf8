/**
 * Branches of a database and undoing an author's writes, on a real process, through the management API. Proves DBR1,
 * OBR5, BRC1, BRC2 and UP1–UP3.
 */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { databaseIdOfUuid } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { KvClient } from '../../support/kv-client.js';
import { basic } from '../../support/management-endpoint.js';
import { embeddedEnvironment, runMillrace } from '../../support/millrace-process.js';
import { QueueProcess } from '../../support/queue-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
/**
 * The number of keys that CI has time for; `UNDO_KEYS=30000` makes 100,000 writes of three authors, of which 30,000 delete a
 * key.
 */
const UNDO_KEYS = Number(process.env.UNDO_KEYS ?? '90');
const UNDO_BATCH = 30;

interface Branch {
  readonly name: string;
  readonly branch_id: string;
  readonly rest_token: string;
  readonly at: string;
  readonly retained_bytes: number;
  readonly copied_bytes: number;
}
interface Difference {
  readonly key: string;
  readonly branch: string;
  readonly origin: string;
  readonly conflict: boolean;
}

/** A process reads the wall clock and the monotonic clock within 5 ms of each other, and its time is as exact. */
const CLOCK_ERROR_MS = 6;

describe('branches of databases', function () {
  this.timeout(120_000);
  let queue: QueueProcess;
  let port: number;
  let origin = '';
  let settings: Record<string, string>;
  const clients: KvClient[] = [];
  const connections: Redis[] = [];

  before(async () => {
    port = await freePort();
    settings = {
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
      MILLRACE_SNAPSHOT_ENTRIES: '30',
      MILLRACE_RESP_PORT: String(port),
      MILLRACE_KV_PORT: String(await freePort()),
    };
    queue = await QueueProcess.start(settings);
    const { json } = await ask('GET', '/v2/kv/databases');
    origin = (json as { database_id: string }[])[0]?.database_id ?? '';
  });
  beforeEach(() => kv().ask('FLUSHALL'));
  after(async () => {
    for (const connection of connections) connection.disconnect();
    for (const client of clients) client.close();
    await queue.stop();
  });

  const kv = () => queue.millrace.kv;

  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(`${queue.millrace.addresses.mgmt}${path}`, {
      method,
      headers: { authorization: basic(EMAIL, KEY) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as unknown };
  }

  async function branchOf(options: object = {}): Promise<Branch & { kv: KvClient }> {
    const name = `b-${randomUUID().slice(0, 8)}`;
    const { status, json } = await ask('POST', `/v2/kv/database/${origin}/branches`, { name, ...options });
    expect(status, JSON.stringify(json)).to.equal(200);
    const branch = json as Branch;
    return { ...branch, kv: clientOf(branch) };
  }

  function clientOf({ rest_token: token }: Branch): KvClient {
    const client = new KvClient({ url: queue.millrace.kvUrl, token });
    clients.push(client);
    return client;
  }

  const diffOf = async ({ branch_id }: Branch, query = '') => {
    const { status, json } = await ask('GET', `/v2/kv/branch/${branch_id}/diff${query}`);
    expect(status, JSON.stringify(json)).to.equal(200);
    return (json as { differences: Difference[] }).differences;
  };

  const merge = (branch: Branch, body: object = {}) => ask('POST', `/v2/kv/branch/${branch.branch_id}/merge`, body);

  const discard = ({ branch_id }: Branch) => ask('DELETE', `/v2/kv/branch/${branch_id}`);

  /** The digest of the database's only partition. */
  async function digestOf(uuid: string, at = new Date().toISOString()): Promise<string> {
    const environment = { ...(await embeddedEnvironment(queue.millrace.dataDir)), ...settings };
    const options = ['--database', databaseIdOfUuid(uuid) as string, '--at', at, '--json'];
    const { code, stdout, stderr } = await runMillrace(['journal', 'replay', ...options], environment);
    expect(code, stderr).to.equal(0);
    const [digest] = stdout.toString().match(/(?<="state":")[0-9a-f]{32}/) ?? [];
    return digest ?? '';
  }

  /** A moment after each write before it and before each write after it. */
  async function nextMoment(): Promise<string> {
    const startedAtMs = Date.now();
    const untilAfter = (ms: number) =>
      eventually(() => expect(Date.now()).to.be.above(ms + CLOCK_ERROR_MS), { everyMs: 1 });
    await untilAfter(startedAtMs);
    const moment = Date.now();
    await untilAfter(moment);
    return new Date(moment).toISOString();
  }

  /** Waits before a kill that may come at any moment of a request: no answer shows that a request runs. */
  const untilItRuns = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

  it('POST …/branches makes a writable copy of now, and of an earlier moment, with the digest of a replay', async () => {
    for (let n = 0; n < 60; n += 1) await kv().ask('SET', `key:${n}`, `first ${n}`);
    await kv().ask('HSET', 'hash', 'field', 'value');
    const at = await nextMoment();
    await kv().ask('DEL', 'key:1');
    await kv().ask('RPUSH', 'list', 'a', 'b');
    const now = await branchOf();
    const then = await branchOf({ at });
    await kv().ask('SET', 'key:2', 'later');
    expect(await now.kv.ask('GET', 'key:1')).to.equal(null);
    expect(await now.kv.ask('GET', 'key:2')).to.equal('first 2');
    expect(await now.kv.ask('LRANGE', 'list', 0, -1)).to.deep.equal(['a', 'b']);
    expect(await then.kv.ask('GET', 'key:1')).to.equal('first 1');
    expect(await then.kv.ask('EXISTS', 'list')).to.equal(0);
    expect(then.at).to.equal(at);
    expect(await digestOf(then.branch_id)).to.equal(await digestOf(origin, at));
    await now.kv.ask('SET', 'key:2', 'branch');
    expect(await kv().ask('GET', 'key:2')).to.equal('later');
    for (const branch of [now, then]) expect((await discard(branch)).json).to.equal('OK');
    expect((await ask('GET', `/v2/kv/branch/${now.branch_id}`)).status).to.equal(404);
  });

  it('GET …/diff lists the changed keys, and POST …/merge writes chosen ones back unless both sides changed them', async () => {
    for (const key of ['a', 'b', 'c', 'd']) await kv().ask('SET', key, 1);
    const branch = await branchOf();
    expect(await diffOf(branch)).to.deep.equal([]);
    await branch.kv.ask('SET', 'a', 2);
    await branch.kv.ask('DEL', 'b');
    await branch.kv.ask('HSET', 'x:new', 'f', 'v');
    await branch.kv.ask('PEXPIRE', 'x:new', 600_000);
    await branch.kv.ask('SET', 'c', 'ours');
    await kv().ask('SET', 'c', 'theirs');
    await kv().ask('SET', 'd', 3);
    const same = { type: 'string', origin: 'same', conflict: false };
    expect(await diffOf(branch)).to.deep.equal([
      { key: 'a', ...same, branch: 'changed' },
      { key: 'b', ...same, branch: 'deleted' },
      { key: 'c', type: 'string', branch: 'changed', origin: 'changed', conflict: true },
      { key: 'x:new', ...same, type: 'hash', branch: 'created' },
    ]);
    const ofNow = await diffOf(branch, '?against=now&keys=%5Bcd%5D');
    expect(ofNow.map(({ key }) => key)).to.deep.equal(['c', 'd']);

    const refused = await merge(branch);
    expect(refused.json).to.deep.include({ merged: false, conflicts: [{ key: 'c' }], conflict_count: 1 });
    expect(await kv().ask('GET', 'a')).to.equal('1');
    expect((await merge(branch, { keys: 'x:*', dry_run: true })).json).to.deep.include({ merged: false, written: 1 });
    expect((await merge(branch, { keys: 'x:*' })).json).to.deep.include({ merged: true, written: 1, removed: 0 });
    expect(await kv().ask('HGET', 'x:new', 'f')).to.equal('v');
    expect(await kv().ask('PTTL', 'x:new')).to.be.within(1, 600_000);
    expect((await merge(branch, { prefer: 'origin' })).json).to.deep.include({ merged: true, written: 1, removed: 1 });
    expect(await kv().ask('MGET', 'a', 'b', 'c', 'd')).to.deep.equal(['2', null, 'theirs', '3']);
    expect((await merge(branch, { prefer: 'branch' })).json).to.deep.include({ merged: true, written: 1, removed: 0 });
    expect(await kv().ask('GET', 'c')).to.equal('ours');
    await discard(branch);
  });

  it('a branch has the indexes, aliases and documents of its moment; a merge writes an index and its documents back', async () => {
    const query = (text: string) => ['SEARCH.QUERY', 'named', `{"text":"${text}"}`, 'NOCONTENT'] as const;
    const schema = ['ON', 'HASH', 'PREFIX', 1, 'doc:', 'SCHEMA', 'text', 'TEXT'];
    await kv().ask('SEARCH.CREATE', 'index', ...schema);
    await kv().ask('SEARCH.ALIASADD', 'named', 'index');
    await kv().ask('HSET', 'doc:1', 'text', 'red shoes');
    const branch = await branchOf();
    await kv().ask('HSET', 'doc:2', 'text', 'red hat');
    const found = (answer: unknown) => (answer as string[][]).map(([key]) => key);
    expect(found(await branch.kv.ask(...query('red')))).to.deep.equal(['doc:1']);
    expect(await branch.kv.ask('SEARCH.LISTALIASES')).to.deep.equal([['named', 'index']]);
    await branch.kv.ask('HSET', 'doc:3', 'text', 'red coat');
    await branch.kv.ask('SEARCH.CREATE', 'second', ...schema, 'n', 'I64');
    expect((await diffOf(branch)).map(({ key, branch: change }) => [key, change])).to.deep.equal([
      ['doc:3', 'created'],
      ['second', 'created'],
    ]);
    expect((await merge(branch)).json).to.deep.include({ merged: true, written: 2 });
    expect(await kv().ask('SEARCH.WAITINDEXING', 'second')).to.equal(1);
    for (const name of ['named', 'second']) {
      const keys = found(await kv().ask('SEARCH.QUERY', name, '{"text":"red"}', 'NOCONTENT'));
      expect(keys).to.have.members(['doc:1', 'doc:2', 'doc:3']);
    }
    await discard(branch);
  });

  it('messages of a branch are held and shown by GET …/messages, and a live branch sends them', async () => {
    const path = queue.sink.path('held');
    const url = queue.sink.url(path);
    const held = await branchOf();
    const live = await branchOf({ live: true });
    await held.kv.ask('QUEUE.PUBLISH', url, 'held');
    await held.kv.ask('EVAL', `return redis.call('QUEUE.PUBLISH', KEYS[1], 'of a script')`, 1, url);
    await live.kv.ask('QUEUE.PUBLISH', url, 'live');
    await eventually(() => expect(queue.sink.calls(path)).to.have.length(1), { timeoutMs: 20_000 });
    expect(String(queue.sink.calls(path)[0]?.body)).to.equal('live');
    const { json } = await ask('GET', `/v2/kv/branch/${held.branch_id}/messages`);
    expect((json as { count: number }).count).to.equal(2);
    expect(JSON.stringify(json)).to.include(path);
    // The owner learns a moment later that the queue has accepted the message.
    await eventually(async () =>
      expect((await ask('GET', `/v2/kv/branch/${live.branch_id}/messages`)).json).to.deep.include({ count: 0 }),
    );
    expect(queue.sink.calls(path)).to.have.length(1);
    for (const branch of [held, live]) await discard(branch);
  });

  it('POST …/branches refuses a taken name, a branch of a branch and a moment to come', async () => {
    const path = `/v2/kv/database/${origin}/branches`;
    const first = await branchOf();
    const [shown] = (await ask('GET', path)).json as Branch[];
    expect((await ask('POST', path, { name: shown?.name })).json).to.deep.equal({
      error: `there is a database named ${shown?.name} already`,
    });
    const nested = await ask('POST', `/v2/kv/database/${first.branch_id}/branches`, { name: 'nested' });
    expect((nested.json as { error: string }).error).to.include('is a branch');
    const early = await ask('POST', path, { name: 'early', at: '2099-01-01' });
    expect((early.json as { error: string }).error).to.include('has not come yet');
    await discard(first);
    expect((await ask('GET', path)).json).to.deep.equal([]);
  });

  it('POST …/undo restores the keys that one author of three wrote last, is undone itself, and names conflicts', async () => {
    const writers = await Promise.all(
      ['anna', 'bert', 'cora'].map(async (user) => {
        await kv().ask('ACL', 'SETUSER', user, 'on', `>${user}`, '~*', '+@all');
        const redis = new Redis({ port, username: user, password: user });
        connections.push(redis);
        return redis;
      }),
    );
    const [anna, bert] = writers as [Redis, Redis, Redis];
    const keys = Array.from({ length: UNDO_KEYS }, (_, n) => n);
    const batches = Array.from({ length: UNDO_KEYS / UNDO_BATCH }, (_, at) =>
      keys.slice(at * UNDO_BATCH, (at + 1) * UNDO_BATCH),
    );
    const ofBert = keys.filter((n) => n % 3 === 1);
    for (const batch of batches) {
      const write = (writer: Redis, at: number) =>
        writer.mset(batch.filter((n) => n % 3 === at).flatMap((n) => [`k:${n}`, `value ${n}`]));
      await Promise.all(writers.map(write));
    }
    const from = await nextMoment();
    for (const batch of batches) {
      const deletes = anna.pipeline();
      for (const n of batch) deletes.set(`k:${n}`, `anna ${n}`).del(`k:${n}`);
      await deletes.exec();
      const sets = bert.pipeline();
      for (const n of batch.filter((n) => n % 3 === 1)) sets.set(`k:${n}`, 'bert');
      await sets.exec();
    }
    const to = await nextMoment();
    await bert.set('k:2', 'after it');
    const undo = (body: object) => ask('POST', `/v2/kv/database/${origin}/undo`, { from, to, ...body });
    const counts = { key_count: UNDO_KEYS - ofBert.length - 1, conflict_count: ofBert.length + 1 };

    const { json: plan } = await undo({ by: 'anna', dry_run: true });
    expect(plan).to.deep.include({ undone: false, ...counts, unknown_writes: 0 });
    const { json: done } = await undo({ by: 'anna' });
    expect(done).to.deep.include({ undone: true, ...counts });
    expect((done as { conflicts: { author: string }[] }).conflicts[0]?.author).to.equal('bert@127.0.0.1');
    const values = await bert.mget(keys.map((n) => `k:${n}`));
    expect(values).to.deep.equal(values.map((_, n) => (n === 2 ? 'after it' : n % 3 === 1 ? 'bert' : `value ${n}`)));
    const again = await undo({ by: EMAIL, to: await nextMoment() });
    expect(again.json).to.deep.include({ undone: true, key_count: counts.key_count, conflict_count: 0 });
    expect(await bert.exists('k:0')).to.equal(0);
    const { json: ofNobody } = await undo({ by: 'nobody', keys: 'k:*' });
    expect(ofNobody).to.deep.include({ undone: true, key_count: 0, conflict_count: 0 });
    for (const writer of writers) writer.disconnect();
    for (const user of ['anna', 'bert', 'cora']) await kv().ask('ACL', 'DELUSER', user);
  });

  it('POST …/undo and …/branches use the partitions of after a change of their number', async () => {
    const { json } = await ask('POST', '/v2/kv/database', { database_name: 'grown', primary_region: 'eu-west-1' });
    const grown = json as { database_id: string; rest_token: string };
    const client = new KvClient({ url: queue.millrace.kvUrl, token: grown.rest_token });
    clients.push(client);
    const path = `/v2/kv/database/${grown.database_id}`;
    const keys = Array.from({ length: 20 }, (_, n) => `k:${n}`);
    const set = async (of: KvClient, value: string) => {
      for (const key of keys) await of.ask('SET', key, value);
    };
    const valuesIn = async (of: KvClient) => [...new Set(await Promise.all(keys.map((key) => of.ask('GET', key))))];
    await set(client, 'first');
    const early = await nextMoment();
    expect((await ask('POST', `/v2/kv/partitions/${grown.database_id}`, { partitions: 2 })).status).to.equal(200);
    await eventually(async () => {
      const { json: shown } = await ask('GET', path);
      expect(shown).to.include({ partitions: 2 }).and.to.not.have.property('layout_change');
    });
    const from = await nextMoment();
    await set(client, 'second');
    const at = await nextMoment();
    await set(client, 'third');
    const to = await nextMoment();

    expect((await ask('POST', `${path}/branches`, { name: 'early', at: early })).json).to.deep.equal({
      error: `the number of partitions was changed after ${early}: give a later moment`,
    });
    const made = await ask('POST', `${path}/branches`, { name: 'later', at });
    expect(made.status, JSON.stringify(made.json)).to.equal(200);
    const branch = made.json as Branch;
    const of = clientOf(branch);
    expect(await valuesIn(of)).to.deep.equal(['second']);
    await of.ask('SET', 'k:3', 'branch');
    const changed = { key: 'k:3', type: 'string', branch: 'changed' };
    expect(await diffOf(branch)).to.deep.equal([{ ...changed, origin: 'changed', conflict: true }]);
    expect((await merge(branch, { prefer: 'branch' })).json).to.deep.include({ merged: true, written: 1 });
    expect(await valuesIn(client)).to.have.members(['third', 'branch']);
    await discard(branch);

    const undone = await ask('POST', `${path}/undo`, { by: 'default', from, to });
    expect(undone.json).to.deep.include({ undone: true, key_count: keys.length - 1, conflict_count: 1 });
    expect(await valuesIn(client)).to.have.members(['first', 'branch']);
    expect((await ask('DELETE', path)).status).to.equal(200);
  });

  it('kill -9 while a branch is made, merged or undone leaves all of it or none', async () => {
    const count = 2000;
    const all = Array.from({ length: count }, (_, n) => [`m:${n}`, 'origin']).flat();
    await kv().ask('MSET', ...all);
    const path = `/v2/kv/database/${origin}/branches`;
    const making = ask('POST', path, { name: 'made' }).catch(() => undefined);
    await untilItRuns();
    await queue.restart('SIGKILL');
    await making;
    const branches = (await ask('GET', path)).json as Branch[];
    const branch = branches.find(({ name }) => name === 'made') ?? (await branchOf());
    const client = clientOf(branch);
    expect(await client.ask('DBSIZE')).to.equal(count);
    const from = await nextMoment();
    await client.ask('MSET', ...all.map((word) => (word === 'origin' ? 'branch' : word)));
    const merging = merge(branch).catch(() => undefined);
    await eventually(
      async () => {
        const merged = await Promise.race([merging.then(() => true), untilItRuns().then(() => false)]);
        expect(merged || (await kv().ask('GET', 'm:0')) === 'branch').to.equal(true);
      },
      { timeoutMs: 30_000 },
    ).finally(() => queue.restart('SIGKILL'));
    await merging;
    const valuesNow = async () => new Set((await kv().ask('MGET', ...all.filter((_, at) => at % 2 === 0))) as string[]);
    expect([...(await valuesNow())]).to.have.length(1);
    expect((await merge(branch)).json).to.deep.include({ merged: true, conflict_count: 0 });
    expect([...(await valuesNow())]).to.deep.equal(['branch']);
    const order = { by: EMAIL, from, to: await nextMoment() };
    const undoing = ask('POST', `/v2/kv/database/${origin}/undo`, order).catch(() => undefined);
    await untilItRuns(300);
    await queue.restart('SIGKILL');
    await undoing;
    expect([...(await valuesNow())]).to.have.length(1);
    const { json } = await ask('POST', `/v2/kv/database/${origin}/undo`, order);
    expect((json as { conflict_count: number }).conflict_count).to.be.oneOf([0, count]);
    await eventually(async () => expect([...(await valuesNow())]).to.deep.equal(['origin']));
    await discard(branch);
  });
});
