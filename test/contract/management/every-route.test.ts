/** Each route of the OpenAPI document: its answer to a correct call, and its refusals. */

import { expect } from 'chai';
import { FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

/** The id that the examples of the documentation use. */
const UNKNOWN = '00000000-0000-8000-8000-000000000000';

/** The operations of the published API, including other methods and older paths of its clients. */
const REFERENCE = [
  ...['GET /v2/kv/databases', 'POST /v2/kv/database', 'GET /v2/kv/database/{id}', 'DELETE /v2/kv/database/{id}'],
  ...['POST /v2/kv/rename/{id}', 'POST /v2/kv/reset-password/{id}', 'POST /v2/kv/enable-tls/{id}'],
  ...['eviction', 'autoupgrade', 'prodpack', 'dailybackup'].flatMap((feature) => [
    `POST /v2/kv/enable-${feature}/{id}`,
    `POST /v2/kv/disable-${feature}/{id}`,
  ]),
  ...['PATCH /v2/kv/enable-dailybackup/{id}', 'PATCH /v2/kv/disable-dailybackup/{id}'],
  ...['POST /v2/kv/{id}/change-plan', 'POST /v2/kv/change-plan/{id}', 'PATCH /v2/kv/update-budget/{id}'],
  ...['POST /v2/kv/update-regions/{id}', 'POST /v2/kv/move-to-team', 'POST /v2/kv/update-allowlist/{id}'],
  ...['GET /v2/kv/stats/{id}', 'GET /v2/kv/list-backup/{id}', 'POST /v2/kv/create-backup/{id}'],
  ...['DELETE /v2/kv/delete-backup/{id}/{backup_id}', 'POST /v2/kv/restore-backup/{id}'],
  ...['POST /v2/search', 'GET /v2/search', 'GET /v2/search/{id}', 'DELETE /v2/search/{id}'],
  ...['rename', 'reset-password', 'setplan', 'transfer'].map((call) => `POST /v2/search/{id}/${call}`),
  ...['GET /v2/search/stats', 'GET /v2/search/{id}/stats'],
  ...['GET /v2/vector/index', 'POST /v2/vector/index', 'GET /v2/vector/index/{id}', 'DELETE /v2/vector/index/{id}'],
  ...['rename', 'reset-password', 'setplan', 'transfer'].map((call) => `POST /v2/vector/index/{id}/${call}`),
  ...['GET /v2/vector/index/stats', 'GET /v2/vector/index/{id}/stats'],
  ...['GET /v2/msgq/users', 'GET /v2/msgq/user/{id}', 'GET /v2/msgq/user', 'GET /v2/msgq/stats/{id}'],
  ...['POST /v2/msgq/rotate-token/{id}', 'POST /v2/msgq/set-plan/{id}', 'PATCH /v2/msgq/update-budget/{id}'],
  ...['POST /v2/msgq/enable-prodpack/{id}', 'POST /v2/msgq/disable-prodpack/{id}'],
  ...['POST /v2/msgq/move-to-team', 'GET /v2/msgq/ipv4'],
  ...['GET /v2/teams', 'POST /v2/team', 'DELETE /v2/team/{id}', 'GET /v2/teams/{id}'],
  ...['POST /v2/teams/member', 'DELETE /v2/teams/member', 'GET /auditlogs', 'POST /apikey'],
];
const OURS = [
  'GET /v2/kv/stats',
  ...['GET /v2/auditlogs', 'POST /v2/apikey', 'GET /v2/apikeys', 'DELETE /apikey/{name}', 'DELETE /v2/apikey/{name}'],
  ...['POST /v2/kv/enable-prometheus/{id}', 'POST /v2/kv/disable-prometheus/{id}'],
  ...['POST /v2/kv/partitions/{id}', 'DELETE /v2/kv/partitions/{id}'],
  ...['POST /v2/msgq/enable-prometheus/{id}', 'POST /v2/msgq/disable-prometheus/{id}'],
  ...['GET /v2/rights', 'GET /v2/roles', 'POST /v2/roles', 'PUT /v2/roles/{name}', 'DELETE /v2/roles/{name}'],
  ...['GET /v2/role-assignments', 'POST /v2/role-assignments', 'DELETE /v2/role-assignments/{id}'],
  ...['GET /v2/sessions', 'DELETE /v2/sessions/{id}'],
  'POST /v2/msgq/user',
  ...['GET /v2/alerts', 'GET /v2/alerts/history', 'POST /v2/alerts', 'PUT /v2/alerts/{id}', 'DELETE /v2/alerts/{id}'],
  ...['POST /v2/alerts/{id}/silence', 'POST /v2/alerts/{id}/test'],
  ...['POST /v2/kv/database/{id}/branches', 'GET /v2/kv/database/{id}/branches', 'POST /v2/kv/database/{id}/undo'],
  ...['GET /v2/kv/branch/{id}', 'DELETE /v2/kv/branch/{id}', 'GET /v2/kv/branch/{id}/diff'],
  ...['POST /v2/kv/branch/{id}/merge', 'GET /v2/kv/branch/{id}/messages'],
  ...['GET /v2/usage', 'GET /v2/usage/webhook', 'POST /v2/usage/webhook', 'DELETE /v2/usage/webhook'],
  ...['GET /v2/auditlogs/export', 'POST /v2/auditlogs/export', 'DELETE /v2/auditlogs/export'],
  ...['GET /v2/labels', 'PATCH /v2/labels/{kind}/{id}'],
  'GET /openapi.json',
];

const OPEN = ['GET /v2/msgq/ipv4', 'GET /openapi.json'];
/** Operations with a path and a body that name no object that could be unknown. */
const WITHOUT_ID = [
  'POST /v2/kv/database',
  'POST /v2/search',
  'POST /v2/vector/index',
  'POST /v2/team',
  'POST /apikey',
  'POST /v2/apikey',
  'POST /v2/msgq/user',
  'POST /v2/alerts',
  'POST /v2/roles',
  'POST /v2/role-assignments',
  'POST /v2/usage/webhook',
  'POST /v2/auditlogs/export',
];

describe('management API: every documented route', () => {
  const face = standOfAllTests(() => new ManagementHarness().start());

  /** With ids of no existing object. */
  const target = (path: string) => path.replaceAll(/\{\w+\}/g, UNKNOWN);

  it("belongs to the published API or to the project's additions, and none is missing", () => {
    const both = face.documented.filter((name) => !REFERENCE.includes(name) && !OURS.includes(name));
    expect(both).to.deep.equal([]);
    expect([...REFERENCE, ...OURS].filter((name) => !face.documented.includes(name))).to.deep.equal([]);
  });

  it('gets 401 without credentials, except the public ones', async () => {
    for (const name of face.documented) {
      const [method, path] = name.split(' ') as [string, string];
      const { status, misfits, json } = await face.call(method, target(path), { as: null, body: bodyOf(name) });
      expect(status, name).to.equal(OPEN.includes(name) ? 200 : 401);
      expect(misfits, name).to.deep.equal([]);
      if (status === 401) expect(json, name).to.have.property('error');
    }
  });

  it('gets 403 for a change with a read-only key, before any lookup', async () => {
    const reader = await face.readOnlyKey();
    for (const name of face.documented.filter((each) => !each.startsWith('GET'))) {
      const [method, path] = name.split(' ') as [string, string];
      const asked = face.control.asked.length;
      const { status, json, misfits } = await face.call(method, target(path), { as: reader, body: 'not even JSON' });
      expect(status, name).to.equal(403);
      expect((json as { error: string }).error, name).to.include('Readonly API key');
      expect(misfits, name).to.deep.equal([]);
      expect(face.control.asked.length, name).to.equal(asked);
    }
  });

  it('gets 404 for an unknown id, and changes no data', async () => {
    const before = face.control.state.audit.lastNumber;
    for (const name of face.documented) {
      const [method, path] = name.split(' ') as [string, string];
      const namesSomething = path.includes('{') || JSON.stringify(bodyOf(name) ?? {}).includes(UNKNOWN);
      if (!namesSomething || WITHOUT_ID.includes(name)) continue;
      const { status, json, misfits } = await face.call(method, target(path), { body: bodyOf(name) });
      expect(status, name).to.equal(404);
      expect((json as { error: string }).error, name).to.match(/ not found$/);
      expect(misfits, name).to.deep.equal([]);
    }
    expect(face.control.state.audit.lastNumber).to.equal(before);
  });

  it('gets 400 that names the field of a wrong type', async () => {
    const withBody = face.documented.flatMap((name) => {
      const body = face.exampleOf(name);
      return body === undefined ? [] : [{ name, body }];
    });
    expect(withBody.length).to.be.greaterThan(20);
    for (const { name, body } of withBody) {
      const [method, path] = name.split(' ') as [string, string];
      for (const field of Object.keys(body)) {
        const wrong = { ...body, [field]: { not: 'this' } };
        const { status, json, misfits } = await face.call(method, target(path), { body: wrong });
        expect(status, `${name} ${field}`).to.equal(400);
        expect((json as { error: string }).error, `${name} ${field}`).to.match(new RegExp(`^${field}: `));
        expect(misfits, `${name} ${field}`).to.deep.equal([]);
      }
    }
  });

  it('gets 200 with the documented answer', async () => {
    const database = await face.newDatabase();
    const index = await face.newSearchIndex();
    const team = await face.newTeam();
    const other = await face.newTeam('other');
    await face.newPerson('ada@example.com');
    const doomed = await face.newTeam('doomed');
    const body = (name: string, ids: object = {}) => ({ body: { ...face.exampleOf(name), ...ids } });
    const kv = (verb: string) => `/v2/kv/${verb}/${database}`;

    await face.ok('GET', '/v2/kv/databases');
    await face.ok('GET', `/v2/kv/database/${database}?credentials=hide`);
    await face.ok('POST', kv('rename'), body('POST /v2/kv/rename/{id}'));
    await face.ok('POST', kv('reset-password'));
    await face.ok('POST', kv('enable-tls'));
    for (const feature of ['eviction', 'autoupgrade', 'prodpack', 'dailybackup']) {
      await face.ok('POST', kv(`enable-${feature}`));
      await face.ok('POST', kv(`disable-${feature}`));
    }
    await face.ok('POST', kv('enable-prometheus'));
    await face.ok('POST', kv('disable-prometheus'));
    await face.ok('PATCH', kv('enable-dailybackup'));
    await face.ok('PATCH', kv('disable-dailybackup'));
    await face.ok('POST', `/v2/kv/${database}/change-plan`, body('POST /v2/kv/{id}/change-plan'));
    await face.ok('POST', kv('change-plan'), body('POST /v2/kv/change-plan/{id}'));
    await face.ok('PATCH', kv('update-budget'), body('PATCH /v2/kv/update-budget/{id}'));
    await face.ok('POST', kv('update-regions'), body('POST /v2/kv/update-regions/{id}'));
    await face.ok('POST', kv('update-allowlist'), body('POST /v2/kv/update-allowlist/{id}'));
    await face.ok('GET', `${kv('stats')}?period=3h`);
    await face.control.send({ type: 'RaiseFormat', level: FORMAT_LEVEL, by: 'operator' });
    const split = await face.newDatabase({ database_name: 'split' });
    await face.ok('POST', `/v2/kv/partitions/${split}`, body('POST /v2/kv/partitions/{id}'));
    await face.ok('DELETE', `/v2/kv/partitions/${split}`);
    await face.ok('POST', kv('create-backup'), body('POST /v2/kv/create-backup/{id}'));
    const [started] = face.backups.started;
    if (started === undefined) throw new Error('no backup was started');
    await face.control.send({
      type: 'EndBackup',
      backup: started.backup,
      state: 'completed',
      bytes: 100,
      manifests: ['m1'],
      reason: '',
    });
    const [backup] = (await face.ok('GET', kv('list-backup'))).json as { backup_id: string }[];
    await face.ok('POST', kv('restore-backup'), { body: { backup_id: backup?.backup_id } });
    await face.ok('DELETE', `${kv('delete-backup')}/${backup?.backup_id}`);
    await face.control.send({ type: 'RaiseFormat', level: FORMAT_LEVEL, by: 'test' });
    const branches = `/v2/kv/database/${database}/branches`;
    const { json: made } = await face.ok('POST', branches, body('POST /v2/kv/database/{id}/branches'));
    const branch = `/v2/kv/branch/${(made as { branch_id: string }).branch_id}`;
    await face.ok('GET', branches);
    await face.ok('GET', branch);
    await face.ok('GET', `${branch}/diff?against=now&keys=a*&limit=5`);
    await face.ok('POST', `${branch}/merge`, body('POST /v2/kv/branch/{id}/merge'));
    await face.ok('GET', `${branch}/messages`);
    await face.ok('DELETE', branch);
    await face.ok('POST', `/v2/kv/database/${database}/undo`, body('POST /v2/kv/database/{id}/undo'));
    await face.ok('POST', '/v2/kv/move-to-team', { body: { database_id: database, team_id: team } });
    await face.ok('DELETE', `/v2/kv/database/${await face.newDatabase()}`);

    await face.ok('GET', '/v2/search');
    await face.ok('GET', '/v2/search/stats');
    await face.ok('GET', `/v2/search/${index}`);
    await face.ok('GET', `/v2/search/${index}/stats`);
    await face.ok('POST', `/v2/search/${index}/rename`, body('POST /v2/search/{id}/rename'));
    await face.ok('POST', `/v2/search/${index}/reset-password`);
    await face.ok('POST', `/v2/search/${index}/setplan`, body('POST /v2/search/{id}/setplan'));
    await face.ok('POST', `/v2/search/${index}/transfer`, { body: { target_account: team } });
    await face.ok('DELETE', `/v2/search/${await face.newSearchIndex()}`);

    const newVectorIndex = async () => {
      const { json } = await face.ok('POST', '/v2/vector/index', body('POST /v2/vector/index'));
      return (json as { id: string }).id;
    };
    const vectors = await newVectorIndex();
    await face.ok('GET', '/v2/vector/index');
    await face.ok('GET', '/v2/vector/index/stats');
    await face.ok('GET', `/v2/vector/index/${vectors}`);
    await face.ok('GET', `/v2/vector/index/${vectors}/stats`);
    await face.ok('POST', `/v2/vector/index/${vectors}/rename`, body('POST /v2/vector/index/{id}/rename'));
    await face.ok('POST', `/v2/vector/index/${vectors}/reset-password`);
    await face.ok('POST', `/v2/vector/index/${vectors}/setplan`, body('POST /v2/vector/index/{id}/setplan'));
    await face.ok('POST', `/v2/vector/index/${vectors}/transfer`, { body: { target_account: team } });
    await face.ok('DELETE', `/v2/vector/index/${await newVectorIndex()}`);

    await face.ok('GET', '/v2/msgq/users');
    await face.ok('GET', '/v2/msgq/user');
    await face.ok('POST', '/v2/msgq/user', { body: { region: 'us-east-1' } });
    await face.ok('GET', `/v2/msgq/user/${face.queue}`);
    await face.ok('GET', `/v2/msgq/stats/${face.queue}?period=30d`);
    await face.ok('POST', `/v2/msgq/rotate-token/${face.queue}`);
    await face.ok('POST', `/v2/msgq/set-plan/${face.queue}`, body('POST /v2/msgq/set-plan/{id}'));
    await face.ok('PATCH', `/v2/msgq/update-budget/${face.queue}`, body('PATCH /v2/msgq/update-budget/{id}'));
    await face.ok('POST', `/v2/msgq/enable-prodpack/${face.queue}`);
    await face.ok('POST', `/v2/msgq/disable-prodpack/${face.queue}`);
    await face.ok('POST', `/v2/msgq/enable-prometheus/${face.queue}`);
    await face.ok('POST', `/v2/msgq/disable-prometheus/${face.queue}`);
    await face.ok('GET', '/v2/msgq/ipv4', { as: null });
    await face.ok('POST', '/v2/msgq/move-to-team', { body: { msgq_id: face.queue, target_team_id: other } });

    await face.ok('GET', '/v2/teams');
    await face.ok('GET', `/v2/teams/${team}`);
    await face.ok('POST', '/v2/teams/member', body('POST /v2/teams/member', { team_id: team }));
    await face.ok('DELETE', '/v2/teams/member', body('DELETE /v2/teams/member', { team_id: team }));
    await face.ok('DELETE', `/v2/team/${doomed}`);

    await face.ok('GET', '/auditlogs');
    await face.ok('GET', '/v2/auditlogs');
    await face.ok('POST', '/apikey', body('POST /apikey', { name: 'ci' }));
    await face.ok('POST', '/v2/apikey', body('POST /v2/apikey'));
    await face.ok('GET', '/v2/apikeys');
    const { email, account } = { email: face.owner.email, account: face.ownerAccount };
    const untilMs = face.control.nowMs + 60_000;
    const texts = { keyName: 'default', provider: '', ip: '', agent: '', tokens: '' };
    await face.control.send({ type: 'BeginSession', session: { name: 'ses_1', email, account, untilMs, ...texts } });
    const [session] = (await face.ok('GET', '/v2/sessions')).json as { session_id: string }[];
    await face.ok('DELETE', `/v2/sessions/${session?.session_id}`);
    await face.ok('GET', '/v2/rights');
    await face.ok('POST', '/v2/roles', body('POST /v2/roles'));
    await face.ok('PUT', '/v2/roles/support', body('PUT /v2/roles/{name}'));
    await face.ok('GET', '/v2/roles');
    const { json: given } = await face.ok('POST', '/v2/role-assignments', body('POST /v2/role-assignments'));
    await face.ok('GET', '/v2/role-assignments');
    await face.ok('DELETE', `/v2/role-assignments/${(given as { assignment_id: string }).assignment_id}`);
    await face.ok('DELETE', '/v2/roles/support');
    await face.ok('DELETE', '/apikey/ci');
    await face.ok('DELETE', '/v2/apikey/laptop');
    const { json: rule } = await face.ok('POST', '/v2/alerts', body('POST /v2/alerts'));
    const alert = `/v2/alerts/${(rule as { rule_id: string }).rule_id}`;
    await face.ok('GET', '/v2/alerts');
    await face.ok('PUT', alert, body('PUT /v2/alerts/{id}'));
    await face.ok('POST', `${alert}/silence`, body('POST /v2/alerts/{id}/silence'));
    await face.ok('POST', `${alert}/test`);
    await face.ok('GET', '/v2/alerts/history');
    await face.ok('DELETE', alert);
    await face.ok('GET', '/v2/kv/stats');
    const labels = '/v2/labels/index/';
    const labeled = await face.newSearchIndex();
    await face.ok('PATCH', labels + labeled, body('PATCH /v2/labels/{kind}/{id}'));
    await face.ok('GET', '/v2/labels');
    await face.ok('GET', '/v2/usage');
    await face.ok('POST', '/v2/usage/webhook', body('POST /v2/usage/webhook'));
    await face.ok('GET', '/v2/usage/webhook');
    await face.ok('DELETE', '/v2/usage/webhook');
    await face.ok('POST', '/v2/auditlogs/export', body('POST /v2/auditlogs/export'));
    await face.ok('GET', '/v2/auditlogs/export');
    await face.ok('DELETE', '/v2/auditlogs/export');
    await face.ok('GET', '/openapi.json', { as: null });

    const never = face.documented.filter((name) => !face.answered.has(name));
    expect(never).to.deep.equal([]);
  });

  it('gets 405 with the allowed methods', async () => {
    for (const path of new Set(face.documented.map((name) => name.split(' ')[1] as string))) {
      const method = face.documented.includes(`PUT ${path}`) ? 'PATCH' : 'PUT';
      const { status, headers, json } = await face.call(method, target(path));
      expect(status, path).to.equal(405);
      const allowed = (headers.get('allow') ?? '').split(', ');
      for (const method of allowed.filter((each) => each !== 'HEAD')) {
        expect(face.documented, path).to.include(`${method} ${path}`);
      }
      expect(json, path).to.have.property('error');
    }
  });

  /** Every body that a call may have has an example, which is a right one. */
  function bodyOf(name: string): object | undefined {
    return name.startsWith('GET') ? undefined : face.exampleOf(name);
  }
});
