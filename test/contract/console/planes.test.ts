/**
 * Requests of console pages to the planes: the token they are sent with, and their lines in the audit log. Proves CPL1,
 * CPL2, CPL3, JPI1.
 */
import { expect } from 'chai';
import { MAX_CONSOLE_BODY_BYTES, MAX_NOTED_COMMANDS } from '../../../src/edge/console/console-limits.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { ConsoleStand, type SignedIn } from './console-stand.js';

const UNKNOWN = '00000000-0000-8000-8000-000000000000';

describe('/console/api: planes', () => {
  const stand = standOfAllTests(() => new ConsoleStand().start());
  let owner: SignedIn;
  let reader: SignedIn;
  let database: { id: string; rest_token: string; read_only_rest_token: string };
  let index: { id: string; token: string; read_only_token: string };
  let queue: { token: string; read_only_token: string };

  before(async () => {
    [owner, reader] = [await stand.signIn(), await stand.signIn(await stand.readOnlyKey())];
    const id = await stand.newDatabase();
    database = { id, ...((await stand.ok('GET', `/v2/kv/database/${id}`)).json as Omit<typeof database, 'id'>) };
    const indexId = await stand.newSearchIndex();
    index = { ...((await stand.ok('GET', `/v2/search/${indexId}`)).json as typeof index), id: indexId };
    queue = (await stand.ok('GET', `/v2/msgq/user/${stand.queue}`)).json as typeof queue;
  });
  beforeEach(() => stand.passed.splice(0));

  const pipeline = (who: SignedIn, ...commands: unknown[][]) =>
    stand.asPage(who, 'POST', `/console/api/kv/${database.id}`, commands);
  const audit = async () => (await stand.ok('GET', '/v2/auditlogs')).json as Record<string, unknown>[];

  it('a reading pipeline is sent with the read-only token, without an audit line (CPL2)', async () => {
    const before = (await audit()).length;
    const { text } = await pipeline(owner, ['GET', 'a'], ['HGETALL', 'h']);
    expect(text).to.equal('"from kv"');
    const [{ plane, method, url, token, body } = {} as never] = stand.passed;
    expect([plane, method, url, body]).to.deep.equal(['kv', 'POST', '/pipeline', '[["GET","a"],["HGETALL","h"]]']);
    expect(token).to.equal(database.read_only_rest_token);
    expect(await audit()).to.have.length(before);
  });

  it('a writing pipeline is sent with the standard token, and its audit line has person, commands and key (CPL2)', async () => {
    await pipeline(owner, ['GET', 'a'], ['set', 'greeting', '1'], ['SET', 'b', '2'], ['Del', 'c']);
    expect(stand.passed[0]?.token).to.equal(database.rest_token);
    const [line] = await audit();
    expect(line).to.include({
      actor: 'owner@example.com',
      source: 'CONSOLE - default',
      entity: 'first',
    });
    const [{ action, secondary_entity, third_entity } = {} as never] = await audit();
    expect([action, secondary_entity, third_entity]).to.deep.equal([47, 'SET, DEL', 'greeting']);
    expect(JSON.stringify(line)).to.include('SET, DEL').and.include('greeting');
  });

  it('a pipeline of SCAN, INFO or SLOWLOG is sent with the standard token as it was checked, without an audit line (JPI1)', async () => {
    const before = (await audit()).length;
    const path = `/console/api/kv/${database.id}`;
    await stand.asPage(owner, 'POST', path, '[ ["SCAN", "0"],  5, ["INFO"], [], ["GET", "a"] ]');
    await stand.asPage(reader, 'POST', path, '[["SLOWLOG","GET"]]');
    const [{ token, body } = {} as never, second] = stand.passed;
    expect([token, body]).to.deep.equal([database.rest_token, '[["SCAN","0"],["INFO"],["GET","a"]]']);
    expect(second?.token).to.equal(database.rest_token);
    expect(await audit()).to.have.length(before);
  });

  it('the audit line lists a bounded number of command names', async () => {
    const names = ['SET', 'DEL', 'INCR', 'DECR', 'APPEND', 'LPUSH', 'RPUSH', 'SADD', 'HSET', 'ZADD'];
    await pipeline(owner, ...names.map((name) => [name, 'k', 'v', 'w']));
    const left = names.length - MAX_NOTED_COMMANDS;
    expect(JSON.stringify((await audit())[0])).to.include(`SADD and ${left} more`);
  });

  it('a transaction is sent to /multi-exec', async () => {
    await stand.asPage(owner, 'POST', `/console/api/kv/${database.id}/multi-exec`, [['INCR', 'n']]);
    expect(stand.passed[0]?.url).to.equal('/multi-exec');
    const other = await stand.asPage(owner, 'POST', `/console/api/kv/${database.id}/set/a/b`, []);
    const byGet = await stand.asPage(owner, 'GET', `/console/api/kv/${database.id}`);
    expect([other.status, byGet.status]).to.deep.equal([404, 405]);
  });

  it('cookie, origin and referer of the page are not passed on (CPL1)', async () => {
    const more = {
      origin: stand.url,
      referer: `${stand.url}/console/`,
      'sec-fetch-site': 'same-origin',
      encoding: 'base64',
    };
    const { status, text, headers } = await stand.asPage(
      owner,
      'POST',
      `/console/api/kv/${database.id}`,
      [['GET', 'a']],
      more,
    );
    expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([200, null]);
    expect(text).not.to.include('mrr_');
    const [{ raw } = {} as never] = stand.passed;
    const names = raw.filter((_, at) => at % 2 === 0).map((each) => each.toLowerCase());
    expect(names).to.include('encoding');
    expect(names).not.to.include.oneOf(['cookie', 'origin', 'referer', 'millrace-csrf', 'sec-fetch-site']);
  });

  it('a queue is read with its read-only token and changed with the other, with an audit line (CPL2)', async () => {
    await stand.asPage(owner, 'GET', `/console/api/queue/${stand.queue}/v2/queues?count=5`);
    await stand.asPage(
      owner,
      'POST',
      `/console/api/queue/${stand.queue}/v2/publish/https://a.example/b?c=1`,
      '{"x":1}',
    );
    const [read, change] = stand.passed;
    expect([read?.url, read?.token]).to.deep.equal(['/v2/queues?count=5', queue.read_only_token]);
    expect([change?.url, change?.token, change?.body]).to.deep.equal([
      '/v2/publish/https://a.example/b?c=1',
      queue.token,
      '{"x":1}',
    ]);
    expect(JSON.stringify((await audit())[0]))
      .to.include('Use Queue')
      .and.include('POST /v2/publish/https://a.example/b');
  });

  it('signing keys are requested with the standard token, without an audit line, and with the read-only token for a read-only key (CPL2, CPL3)', async () => {
    const before = (await audit()).length;
    for (const who of [owner, reader]) await stand.asPage(who, 'GET', `/console/api/queue/${stand.queue}/v2/keys`);
    expect(stand.passed.map(({ token }) => token)).to.deep.equal([queue.token, queue.read_only_token]);
    expect(await audit()).to.have.length(before);
  });

  it('a search index is read with its read-only token and changed with the other, with an audit line (CPL2)', async () => {
    await stand.asPage(owner, 'POST', `/console/api/search/${index.id}/search/papers`, { query: 'x' });
    await stand.asPage(owner, 'POST', `/console/api/search/${index.id}/upsert-data/papers`, []);
    const [read, change] = stand.passed;
    expect(read).to.include({ plane: 'search', url: `/search/${index.id}/search/papers` });
    expect([read?.token, change?.token]).to.deep.equal([index.read_only_token, index.token]);
    expect(JSON.stringify((await audit())[0]))
      .to.include('Change Documents')
      .and.include('upsert-data');
  });

  it('an index of vectors is called in its own plane', async () => {
    await stand.asPage(owner, 'POST', `/console/api/vector/${index.id}/query/old`, { vector: [1] });
    expect(stand.passed[0]).to.include({ plane: 'search', url: `/vector/${index.id}/query/old` });
  });

  it('a read-only key reads, and gets 403 for changes (CPL3)', async () => {
    expect((await pipeline(reader, ['GET', 'a'])).status).to.equal(200);
    const before = (await audit()).length;
    const refused = await Promise.all([
      pipeline(reader, ['SET', 'a', '1']),
      pipeline(reader, ['EVAL', 'return 1', '0']),
      stand.asPage(reader, 'POST', `/console/api/queue/${stand.queue}/v2/publish/https://a.example`, 'x'),
      stand.asPage(reader, 'DELETE', `/console/api/search/${index.id}/delete/papers`, {}),
    ]);
    for (const { status, text } of refused) expect([status, text]).to.deep.include(403);
    expect(stand.passed).to.have.length(1);
    expect(await audit()).to.have.length(before);
  });

  it('a role without access to databases gets 403 (CPL3)', async () => {
    const team = await stand.newTeam();
    const finance = await stand.signIn(await stand.memberOf(team, 'finance'));
    expect((await pipeline(finance, ['GET', 'a'])).status).to.equal(403);
  });

  it('objects of other accounts and unknown objects get 404', async () => {
    const { caller } = await stand.newPerson('stranger@example.com');
    const stranger = await stand.signIn(caller);
    for (const [who, path] of [
      [stranger, `kv/${database.id}`],
      [owner, `kv/${UNKNOWN}`],
      [owner, 'kv/nothing'],
      [stranger, `queue/${stand.queue}/v2/queues`],
      [stranger, `search/${index.id}/search/papers`],
      [owner, 'other/thing'],
      [owner, 'kv'],
    ] as const) {
      expect((await stand.asPage(who, 'POST', `/console/api/${path}`, [])).status, path).to.equal(404);
    }
    expect(stand.passed).to.have.length(0);
  });

  it('a request without a session, without its header or from another site is refused', async () => {
    const path = `/console/api/kv/${database.id}`;
    const anonymous = await stand.call('POST', path, { as: null, body: [['GET', 'a']] });
    const byKey = await stand.call('POST', path, { body: [['GET', 'a']] });
    const bare = await stand.call('POST', path, { as: null, body: [], headers: { cookie: owner.cookie } });
    const foreign = await stand.asPage(owner, 'POST', path, [], { origin: 'https://evil.example' });
    expect([anonymous, byKey, bare, foreign].map(({ status }) => status)).to.deep.equal([401, 401, 403, 403]);
    expect(stand.passed).to.have.length(0);
  });

  it('a body above the limit gets 413', async () => {
    const fits = JSON.stringify([['ECHO', 'x'.repeat(MAX_CONSOLE_BODY_BYTES - '[["ECHO",""]]'.length)]]);
    expect((await stand.asPage(owner, 'POST', `/console/api/kv/${database.id}`, fits)).status).to.equal(200);
    expect((await stand.asPage(owner, 'POST', `/console/api/kv/${database.id}`, `${fits} `)).status).to.equal(413);
  });

  it('an invalid pipeline is sent with the read-only token, to be refused by the plane', async () => {
    for (const body of ['no JSON', '{"a":1}', '[]', '["SET","a","b"]']) {
      await stand.asPage(owner, 'POST', `/console/api/kv/${database.id}`, body);
      expect(stand.passed.splice(0)[0]?.token, body).to.equal(database.read_only_rest_token);
    }
  });
});
