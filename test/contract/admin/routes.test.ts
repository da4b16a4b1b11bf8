/** Every route of the operators' API: its answer, and each reason for a refusal. Proves ES3. */
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { MillraceError } from '../../../src/kernel/index.js';
import type { AuditTask } from '../../../src/ports/index.js';
import { basic, type Caller, MANAGEMENT_ALIAS } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { AdminStand, EMPTY_CLUSTER } from './admin-stand.js';

const UNKNOWN = '00000000-0000-8000-8000-000000000000';
const AT = '2026-01-01T00:00:00Z';
const AT_MS = Date.parse(AT);

describe("the operators' API", () => {
  const stand = standOfAllTests(() => new AdminStand().start());
  let database: string;
  let stranger: Caller;

  before(async () => {
    database = await stand.newDatabase();
    stranger = (await stand.newPerson('stranger@example.com')).caller;
  });
  beforeEach(() => {
    Object.assign(stand.audit, { texts: [], refusal: undefined, failure: undefined, isEndless: false });
    stand.audit.asked.length = 0;
    stand.isControlStale = false;
    stand.statistics.failure = undefined;
  });

  const paths = () => [
    'session',
    ...['timeline', `state?at=${AT}`, `diff?from=${AT}&to=${AT}`, 'verify', 'statistics', 'monitor', 'clients'].map(
      (path) => `databases/${database}/${path}`,
    ),
    ...['timeline', 'verify', 'logs', 'statistics'].map((path) => `queues/${stand.queue}/${path}`),
    'verify',
    'cluster',
    'cluster/events',
    'health',
  ];
  const get = (path: string, as?: Caller | null) => stand.call('GET', `/v2/admin/${path}`, { as: as ?? stand.owner });
  const errorOf = ({ json }: { json: unknown }) => (json as { error: string }).error;
  const refusedAs = async (path: string, status: number, text: string | RegExp, as?: Caller) => {
    const answer = await get(path, as);
    expect([path, answer.status]).to.deep.equal([path, status]);
    expect(errorOf(answer), path).to.match(text instanceof RegExp ? text : new RegExp(`^${text}$`));
  };
  const task = () => stand.audit.asked.at(-1) as AuditTask;

  it('asks for credentials on every path, known or not', async () => {
    for (const path of [...paths(), 'sessions', 'nothing']) {
      const answer = await stand.call('GET', `/v2/admin/${path}`, { as: null });
      expect([path, answer.status]).to.deep.equal([path, 401]);
      const challenge = path === 'sessions' || path === 'session' ? null : 'Basic realm="management", charset="UTF-8"';
      expect(answer.headers.get('www-authenticate'), path).to.equal(challenge);
    }
    await refusedAs('session', 401, /^unauthorized/, { email: stand.owner.email, key: 'mrk_wrong' });
  });

  it('POST /v2/admin/read-models/:name/rebuild rebuilds a read model, for operators only', async () => {
    const rebuild = (name: string, as = stand.owner) =>
      stand.call('POST', `/v2/admin/read-models/${name}/rebuild`, { as });
    for (const name of ['messages', 'statistics', 'search']) {
      const { status, json } = await rebuild(name);
      expect([status, json]).to.deep.equal([200, { rebuilding: name }]);
    }
    expect(stand.rebuilt).to.deep.equal(['messages', 'statistics', 'search']);
    expect((await rebuild('nothing')).status).to.equal(404);
    expect((await rebuild('messages', stranger)).status).to.equal(403);
    const looking = await rebuild('messages', await stand.readOnlyKey());
    expect(looking.status).to.equal(403);
    expect(errorOf(looking)).to.match(/^Readonly API key/);
    stand.keepsReadModels = false;
    expect((await rebuild('messages')).status).to.equal(503);
    stand.keepsReadModels = true;
    expect(stand.rebuilt).to.have.length(3);
    const other = await get('read-models/messages/rebuild');
    expect([other.status, other.headers.get('allow')]).to.deep.equal([405, 'POST']);
  });

  it('GET /v2/admin/cluster shows the cluster to operators only', async () => {
    const servers = [{ name: 'nats-1', state: 'no-store' as const }];
    stand.clusterStatus = { ...EMPTY_CLUSTER, alarms: ['nats-1 stores nothing'], servers };
    const { status, json } = await get('cluster');
    expect([status, json]).to.deep.equal([200, stand.clusterStatus]);
    expect((await get('cluster', await stand.readOnlyKey())).status).to.equal(200);
    const text = 'only people of the first account may look at the whole installation';
    for (const path of ['cluster', 'cluster/events']) await refusedAs(path, 403, text, stranger);
    const other = await stand.call('POST', '/v2/admin/cluster', { as: stand.owner });
    expect([other.status, other.headers.get('allow')]).to.deep.equal([405, 'GET']);
  });

  it('answers 404 to unknown paths', async () => {
    const beside = ['', 'nothing', 'databases', `databases/${database}`, `databases/${database}/state/more`];
    const spelled = [
      `databases/${database}/Timeline`,
      `Databases/${database}/timeline`,
      `databases/${database}/state/`,
    ];
    for (const path of [...beside, ...spelled]) await refusedAs(path, 404, 'no such route');
  });

  it('answers 405 with the allowed methods', async () => {
    const known = { sessions: 'POST', session: 'GET, DELETE', verify: 'GET' };
    for (const [path, allow] of Object.entries(known)) {
      const answer = await stand.call('PATCH', `/v2/admin/${path}`);
      expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, allow]);
    }
    const answer = await stand.call('POST', `/v2/admin/databases/${database}/timeline`);
    expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, 'GET']);
  });

  it("answers 404 for another account's id", async () => {
    const theirs = await stand.newDatabase({}, stranger);
    for (const id of [theirs, UNKNOWN, 'no-id', '%00', stand.queue]) {
      for (const path of [
        'timeline',
        `state?at=${AT}`,
        `diff?from=${AT}&to=${AT}`,
        'verify',
        'statistics',
        'monitor',
        'clients',
      ]) {
        await refusedAs(`databases/${id}/${path}`, 404, 'database not found');
      }
    }
    for (const id of [UNKNOWN, 'no-id', database]) {
      for (const path of ['timeline', 'verify', 'logs', 'statistics']) {
        await refusedAs(`queues/${id}/${path}`, 404, 'queue not found');
      }
    }
    await refusedAs(`queues/${stand.queue}/logs`, 404, 'queue not found', stranger);
    expect(stand.audit.asked).to.deep.equal([]);
  });

  it('answers 403 for the data of a database to roles without access', async () => {
    const team = await stand.newTeam('books');
    const dev = await stand.memberOf(team, 'dev');
    const finance = await stand.memberOf(team, 'finance');
    const shared = await stand.newDatabase({}, dev);
    for (const path of ['timeline', `state?at=${AT}`, `diff?from=${AT}&to=${AT}`]) {
      await refusedAs(`databases/${shared}/${path}`, 403, 'the role finance may not do this', finance);
      expect((await get(`databases/${shared}/${path}`, dev)).status, path).to.equal(200);
    }
    await refusedAs(`queues/${team}/logs`, 403, 'the role finance may not do this', finance);
    stand.audit.texts = ['{"done":{"isFine":true}}'];
    const verified = await stand.open(`/v2/admin/databases/${shared}/verify`, finance);
    expect(verified.response.statusCode).to.equal(200);
  });

  it('GET /v2/admin/verify answers 403 to people of other accounts', async () => {
    await refusedAs('verify', 403, /^only people of the first account/, stranger);
    stand.audit.texts = ['{"done":{"isFine":true}}'];
    expect((await stand.open('/v2/admin/verify')).response.statusCode).to.equal(200);
    expect(task()).to.deep.equal({ kind: 'verify', of: undefined });
  });

  it('accepts read-only keys', async () => {
    const { status, json } = await get('session', await stand.readOnlyKey());
    expect([status, (json as { readonly: boolean }).readonly]).to.deep.equal([200, true]);
  });

  it('names the invalid parameter', async () => {
    const moment = /^(from|to|at): must be a position or an instant like/;
    const base = `databases/${database}`;
    for (const wrong of ['0', '-1', '1.5', 'yesterday', '2026-01-01T00:00:00', '2026-13-01', '99999999999999999']) {
      await refusedAs(`${base}/timeline?from=${wrong}`, 400, moment);
      await refusedAs(`${base}/timeline?to=${wrong}`, 400, moment);
      await refusedAs(`${base}/state?at=${wrong}`, 400, moment);
      await refusedAs(`${base}/diff?from=1&to=${wrong}`, 400, moment);
      await refusedAs(`queues/${stand.queue}/timeline?from=${wrong}`, 400, moment);
    }
    await refusedAs(`${base}/state`, 400, 'at: is required');
    await refusedAs(`${base}/diff?to=1`, 400, 'from: is required');
    await refusedAs(`${base}/diff?from=1&to=`, 400, 'to: is required');
    for (const wrong of ['0', '1001', 'x', '', '-5', '1e3']) {
      await refusedAs(`${base}/timeline?limit=${wrong}`, 400, 'limit: must be a number from 1 to 1000');
      await refusedAs(`${base}/state?at=1&limit=${wrong}`, 400, 'limit: must be a number from 1 to 1000');
    }
    await refusedAs(`${base}/diff?from=1&to=2&limit=10001`, 400, 'limit: must be a number from 1 to 10000');
    await refusedAs(`${base}/state?at=1&values=yes`, 400, 'values: must be true or false');
    await refusedAs(`${base}/diff?from=1&to=2&values=1`, 400, 'values: must be true or false');
    await refusedAs(`${base}/state?at=1&after_base64=%21`, 400, 'after_base64: must be base64');
    for (const wrong of ['x', '-1', '1.5']) {
      await refusedAs(`queues/${stand.queue}/logs?from=${wrong}`, 400, 'from: must be a number of milliseconds');
    }
    expect(stand.audit.asked).to.deep.equal([]);
  });

  it('GET timeline shows the entries of a database page by page', async () => {
    stand.audit.texts = ['{"n":1}', '{"n":2}', '{"n":3}'];
    const page = await get(`databases/${database}/timeline?from=7&to=${AT}&limit=2`);
    expect([page.status, page.json]).to.deep.equal([200, { entries: [{ n: 1 }, { n: 2 }], more: true }]);
    expect(page.headers.get('content-type')).to.equal('application/json');
    expect(page.headers.get('cache-control')).to.equal('no-store');
    expect(page.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(task()).to.deep.include({
      kind: 'timeline',
      from: { kind: 'position', position: 7 },
      to: { kind: 'time', atMs: AT_MS },
      limit: 3,
    });
    expect(stand.audit.underWay).to.equal(0);
    const last = await get(`databases/${database}/timeline`);
    expect(last.json).to.deep.equal({ entries: [{ n: 1 }, { n: 2 }, { n: 3 }], more: false });
    for (const [given, key] of [
      ['key=%C3%BC', '\xc3\xbc'],
      ['key_base64=/%2BA=', '\xff\xe0'],
      ['limit=9', undefined],
    ]) {
      expect((await get(`databases/${database}/timeline?${given}`)).status).to.equal(200);
      expect(task()).to.deep.include({ kind: 'timeline', key });
    }
    expect((await get(`databases/${database}/timeline?newest`)).status).to.equal(200);
    expect(task()).to.deep.include({ isNewestFirst: true });
    const ofQueue = await get(`queues/${stand.queue}/timeline?limit=3`);
    expect([ofQueue.status, ofQueue.json]).to.deep.equal([200, last.json]);
    expect(task().of).to.deep.equal({ kind: 'queue', account: stand.ownerAccount });
  });

  it('GET state shows keys after a given one, as text or bytes', async () => {
    stand.audit.texts = ['{"keys":2}', '{"key":"a"}', '{"key":"b"}'];
    const shown = await get(`databases/${database}/state?at=${AT}&after=%C3%BC&values&limit=1`);
    expect(shown.json).to.deep.equal({ state: { keys: 2 }, keys: [{ key: 'a' }], more: true });
    expect(task()).to.deep.include({ kind: 'state', after: '\xc3\xbc', withValues: true, limit: 2 });
    for (const spelled of ['/%2BA=', '/+A=', '_-A']) {
      expect((await get(`databases/${database}/state?at=3&after_base64=${spelled}`)).status).to.equal(200);
      expect(task()).to.deep.include({ after: '\xff\xe0', withValues: false, at: { kind: 'position', position: 3 } });
    }
    expect((await get(`databases/${database}/state?at=3&key=%C3%BC`)).status).to.equal(200);
    expect(task()).to.deep.include({ key: '\xc3\xbc' });
    stand.audit.texts = ['{"keys":0}'];
    const empty = await get(`databases/${database}/state?at=${AT}`);
    expect(empty.json).to.deep.equal({ state: { keys: 0 }, keys: [], more: false });
  });

  it('GET clients shows up to 1,000 connections', async () => {
    const client = { id: 7, addr: '127.0.0.1:50432', name: '', cmd: 'get' };
    stand.clients = [client];
    const { status, json, misfits } = await get(`databases/${database}/clients`);
    expect([status, json, misfits]).to.deep.equal([200, { clients: [client], more: false }, []]);
    stand.clients = Array.from({ length: 1001 }, () => client);
    const { clients, more } = (await get(`databases/${database}/clients`)).json as {
      clients: unknown[];
      more: boolean;
    };
    expect([clients.length, more]).to.deep.equal([1000, true]);
  });

  it('GET diff shows changes', async () => {
    stand.audit.texts = ['{"key":"a"}'];
    const shown = await get(`databases/${database}/diff?from=1&to=9&values=true&limit=10000`);
    expect(shown.json).to.deep.equal({ changes: [{ key: 'a' }], more: false });
    expect(task()).to.deep.include({ kind: 'diff', limit: 10_001, withValues: true });
  });

  it('leaves out the part of a page above the size limit, with more: true', async () => {
    const large = JSON.stringify({ key: 'ü'.repeat(3 * 1024 * 1024) });
    stand.audit.texts = [large, large, large];
    const { json } = await get(`databases/${database}/timeline`);
    const { entries, more } = json as { entries: unknown[]; more: boolean };
    expect([entries.length, more]).to.deep.equal([2, true]);
  });

  it("passes on the journal's text about an invalid moment", async () => {
    stand.audit.failure = new MillraceError('INVALID', 'position 9 has not come yet');
    await refusedAs(`databases/${database}/state?at=9`, 400, 'position 9 has not come yet');
  });

  it('answers 503 when too many audits run', async () => {
    stand.audit.refusal = new MillraceError('MAILBOX_FULL', '2 audits are under way');
    for (const path of paths().filter((path) => /timeline|state\?|diff|verify/.test(path))) {
      const answer = await get(path);
      expect([path, answer.status, errorOf(answer)]).to.deep.equal([path, 503, 'the server is busy, nothing was done']);
      expect(answer.headers.get('retry-after')).to.equal('1');
    }
  });

  it('answers 503 while permissions cannot be checked, or storage does not answer', async () => {
    stand.audit.failure = new MillraceError('JOURNAL_UNAVAILABLE', 'no answer from secret-host');
    await refusedAs(`databases/${database}/timeline`, 503, /^storage is not available/);
    stand.isControlStale = true;
    await refusedAs('session', 503, /^permissions cannot be checked/);
  });

  it('hides an internal error from the client, and logs it', async () => {
    stand.audit.failure = new Error('a secret detail');
    const answer = await get(`databases/${database}/timeline`);
    expect([answer.status, answer.text.includes('secret')]).to.deep.equal([500, false]);
    expect(JSON.stringify(stand.log.lines)).to.include('admin.request.failed').and.include('a secret detail');
  });

  it('has no aliased paths', async () => {
    const aliased = await new AdminStand().start();
    try {
      const word = MANAGEMENT_ALIAS.headerWord.toLowerCase();
      const headers = { [`${word}-forward`]: '1', 'user-agent': `${word}/1.0` };
      const answer = await aliased.call('GET', '/v2/admin/session', { headers });
      const plain = await aliased.call('GET', '/v2/admin/session');
      expect([answer.status, answer.text]).to.deep.equal([200, plain.text]);
      for (const path of [
        '/v2/acmeq/admin/session',
        '/v2/store/admin/session',
        '/acme/v2/admin/session',
        '/V2/admin/session',
      ]) {
        expect((await aliased.call('GET', path)).status, path).to.equal(404);
      }
    } finally {
      await aliased.stop();
    }
  });

  it('answers 404 to other spellings of its paths', async () => {
    const statusOf = (target: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { hostname: host, port } = new URL(stand.url);
        const authorization = basic(stand.owner.email, stand.owner.key);
        const call = httpRequest({ host, port, path: target, headers: { authorization } }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        call.on('error', reject).end();
      });
    const others = [
      '//',
      '//[',
      '//x/v2/admin/session',

      'http://x/v2/admin/session',
      '/v2/./admin/session',
    ];
    for (const target of [...others, '*', '/v2/%61dmin/session', '/v2/admin/../admin/session']) {
      expect(await statusOf(target), target).to.equal(404);
    }
    expect(await statusOf('/v2/admin/session')).to.equal(200);
  });

  it('ignores an unexpected body', async () => {
    const answer = await stand.call('POST', '/v2/admin/sessions', { body: 'x'.repeat(1024 * 1024) });
    expect(answer.status).to.equal(200);
  });
});
