/**
 * Roles: each route of the management API, of the operators' API and of the console's data with each role; own roles,
 * assignments, and keys with a role. Proves RGV1.
 */
import { expect } from 'chai';
import { BUILT_IN_ROLES, type GivenRight, MAX_ROLE_TEXT } from '../../../src/domain/control/index.js';
import { ADMIN_ROUTES, MANAGEMENT_ROUTES, PLANE_ROUTES } from '../../../src/edge/index.js';
import { accountIdOfUuid } from '../../../src/protocol/index.js';
import { basic, type Caller, ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { AdminStand } from '../admin/admin-stand.js';
import { ConsoleStand } from '../console/console-stand.js';

const UNKNOWN = '00000000-0000-8000-8000-000000000000';

interface Team {
  readonly id: string;
  /** A key of the owner for the team. */
  readonly owner: Caller;
}

interface Holder {
  readonly role: string;
  readonly as: Caller;
  readonly rights: readonly string[];
}

async function teamOn(face: ManagementHarness): Promise<Team> {
  const id = await face.newTeam();
  return { id, owner: await face.newKey(face.owner, 'of the team', { team_id: id }) };
}

/** A person who is not a member of the team, with a key for it. */
async function personOf(face: ManagementHarness, { id, owner }: Team, name: string, ...given: readonly object[]) {
  const { caller } = await face.newPerson(`${name}@example.com`);
  for (const each of given) {
    await face.ok('POST', '/v2/role-assignments', { as: owner, body: { email: caller.email, ...each } });
  }
  return face.newKey(caller, 'of the team', { team_id: id });
}

/** A person with each role: the owner, members, people with a built-in role, and one with an own role. */
async function holdersOf(face: ManagementHarness, team: Team): Promise<readonly Holder[]> {
  const support = ['queues:read', 'queues:use'];
  await face.ok('POST', '/v2/roles', { as: team.owner, body: { name: 'support', rights: support } });
  const holders: Holder[] = [{ role: 'owner', as: team.owner, rights: BUILT_IN_ROLES.owner }];
  for (const role of ['admin', 'dev', 'finance'] as const) {
    holders.push({ role, as: await face.memberOf(team.id, role), rights: BUILT_IN_ROLES[role] });
  }
  for (const role of ['operator', 'developer', 'billing', 'viewer'] as const) {
    holders.push({ role, as: await personOf(face, team, role, { role }), rights: BUILT_IN_ROLES[role] });
  }
  holders.push({ role: 'support', as: await personOf(face, team, 'support', { role: 'support' }), rights: support });
  return holders;
}

const refusalOf = (role: string) => `the role ${role} may not do this`;

describe("roles on the operators' API", () => {
  const stand = standOfAllTests(() => new AdminStand().start());

  it('refuse with 403 exactly the routes of which a role lacks the right', async () => {
    const team = await teamOn(stand);
    // The team is the first account: its people operate the cluster.
    stand.ownerAccount = accountIdOfUuid(team.id) ?? stand.ownerAccount;
    for (const { role, as, rights } of await holdersOf(stand, team)) {
      for (const { methods, paths, permission } of ADMIN_ROUTES) {
        const path = paths[0].replaceAll(/:\w+/g, UNKNOWN);
        const method = methods[0].toUpperCase();
        const answer = await fetch(stand.url + path, { method, headers: { authorization: basic(as.email, as.key) } });
        const may = permission.startsWith('self:') || rights.includes(permission);
        const name = `${role}: ${method} ${path}`;
        expect(answer.status === 403, `${name} answers ${answer.status}`).to.equal(!may);
        if (may) await answer.body?.cancel();
        else expect(await answer.json(), name).to.include({ error: refusalOf(role) });
      }
    }
  });
});

describe("roles on the console's data", () => {
  const stand = standOfAllTests(() => new ConsoleStand().start());

  it('refuse with 403 exactly the requests of which a role lacks the right, or the right to changes', async () => {
    const team = await teamOn(stand);
    const [queue] = (await stand.ok('GET', '/v2/msgq/users', { as: team.owner })).json as { id: string }[];
    const index = await stand.newSearchIndex({}, team.owner);
    const requests: Readonly<Record<string, { id: string; look: [string, string]; change: [string, string] }>> = {
      databases: {
        id: await stand.newDatabase({}, team.owner),
        look: ['POST', '[["GET","a"]]'],
        change: ['POST', '[["SET","a","1"]]'],
      },
      queues: { id: queue?.id ?? '', look: ['GET', 'v2/queues'], change: ['DELETE', 'v2/queues/one'] },
      indexes: { id: index, look: ['GET', 'search/main'], change: ['DELETE', 'delete/main'] },
    };
    for (const { role, as, rights } of await holdersOf(stand, team)) {
      const page = await stand.signIn(as);
      for (const { paths, permission } of PLANE_ROUTES) {
        const [kind = ''] = permission.split(':');
        const { id, look, change } = requests[kind] as (typeof requests)[string];
        for (const [[method, words], needed] of [
          [look, [permission]],
          [change, [permission, `${kind}:change`]],
        ] as const) {
          const isBatch = method === 'POST';
          const path = paths[0].replace(':id', id).replace('*path', words);
          const { status, json } = await stand.asPage(page, method, path, isBatch ? words : undefined);
          const may = needed.every((right) => rights.includes(right));
          const name = `${role}: ${method} ${path} ${isBatch ? words : ''}`;
          expect([status, (json as { error?: string } | undefined)?.error], name).to.deep.equal(
            may ? [200, undefined] : [403, refusalOf(role)],
          );
        }
      }
    }
  });
});

describe('roles of the management API', () => {
  const face = standOfAllTests(() => new ManagementHarness().start());
  let all: Team;
  let team: string;
  let owner: Caller;

  const roleError = (json: unknown) => (json as { error?: string }).error ?? '';
  const refuses = async (as: Caller, method: string, path: string, body?: unknown) => {
    const { status, json, misfits } = await face.call(method, path, { as, body });
    expect(status, `${method} ${path}`).to.equal(403);
    expect(misfits).to.deep.equal([]);
    return roleError(json);
  };

  const personWith = (name: string, ...given: readonly object[]) => personOf(face, all, name, ...given);

  before(async () => {
    all = await teamOn(face);
    ({ id: team, owner } = all);
  });

  it('refuse with 403 exactly the routes of which a role lacks the right', async () => {
    const holders = await holdersOf(face, all);
    const audited = face.control.state.audit.lastNumber;
    for (const { role, as, rights } of holders) {
      for (const { methods, paths, permission } of MANAGEMENT_ROUTES) {
        const path = paths[0].replaceAll(/:\w+/g, UNKNOWN);
        const method = methods[0].toUpperCase();
        const { status, json, misfits } = await face.call(method, path, {
          as,
          body: method === 'GET' ? undefined : '{',
        });
        const may = permission === 'open' || permission.startsWith('self:') || rights.includes(permission);
        const name = `${role}: ${method} ${path}`;
        expect(status === 403, `${name} answers ${status}`).to.equal(!may);
        if (!may) expect(roleError(json), name).to.equal(refusalOf(role));
        expect(misfits, name).to.deep.equal([]);
      }
    }
    expect(face.control.state.audit.lastNumber).to.equal(audited);
  });

  it('for one database show and change it alone', async () => {
    const mine = await face.newDatabase({ database_name: 'mine' }, owner);
    const other = await face.newDatabase({ database_name: 'other' }, owner);
    const as = await personWith('one', { role: 'developer', resource_id: mine.toUpperCase() });
    const list = (await face.ok('GET', '/v2/kv/databases', { as })).json as {
      database_id: string;
      rest_token: string;
    }[];
    expect(list.map(({ database_id }) => database_id)).to.deep.equal([mine]);
    expect(list[0]?.rest_token).to.not.equal('********');
    await face.ok('POST', `/v2/kv/rename/${mine}`, { as, body: { name: 'renamed' } });
    await face.ok('GET', '/v2/kv/stats', { as });
    expect(await refuses(as, 'GET', `/v2/kv/database/${other}`)).to.equal('the role developer may not do this');
    await refuses(as, 'POST', `/v2/kv/rename/${other}`, { name: 'x' });
    await refuses(as, 'POST', '/v2/kv/database', {
      database_name: 'new',
      region: 'global',
      primary_region: 'eu-west-1',
    });
    await refuses(as, 'POST', '/v2/kv/move-to-team', { database_id: mine, team_id: team });
    expect((await face.ok('GET', '/v2/msgq/users', { as })).json).to.deep.equal([]);
    await refuses(as, 'GET', '/v2/auditlogs');
  });

  it('of a viewer show read-only tokens, and mask the others', async () => {
    await face.newDatabase({ database_name: 'seen' }, owner);
    const as = await personWith('looks', { role: 'viewer' });
    const [first] = (await face.ok('GET', '/v2/kv/databases', { as })).json as Record<string, string>[];
    expect(first).to.include({ rest_token: '********', password: '********' });
    expect(first?.read_only_rest_token).to.have.length.above(8);
    const payer = await personWith('pays', { role: 'billing' });
    const [seen] = (await face.ok('GET', '/v2/kv/databases', { as: payer })).json as object[];
    expect(seen).to.not.have.any.keys('rest_token', 'password', 'read_only_rest_token');
  });

  it('are added together, and taken away with immediate effect', async () => {
    const as = await personWith('both', { role: 'billing' }, { role: 'viewer' });
    const all = (await face.ok('GET', '/v2/role-assignments', { as })).json as {
      assignment_id: string;
      email: string;
      role: string;
    }[];
    const mine = all.filter(({ email }) => email === as.email).sort((a, b) => (a.role < b.role ? -1 : 1));
    expect(mine.map(({ role }) => role)).to.deep.equal(['billing', 'viewer']);
    await face.ok('DELETE', `/v2/role-assignments/${mine[0]?.assignment_id}`, { as: owner });
    await refuses(as, 'PATCH', `/v2/kv/update-budget/${UNKNOWN}`, { budget: 1 });
    await face.ok('DELETE', `/v2/role-assignments/${mine[1]?.assignment_id}`, { as: owner });
    expect((await face.call('GET', '/v2/kv/databases', { as })).status).to.equal(401);
  });

  it('limit a key, which makes no keys and reaches no other team', async () => {
    const database = await face.newDatabase({ database_name: 'keyed' }, owner);
    const as = await face.newKey(face.owner, 'limited', { team_id: team, role: 'viewer', resource_id: database });
    const list = (await face.ok('GET', '/v2/kv/databases', { as })).json as { database_id: string }[];
    expect(list.map(({ database_id }) => database_id)).to.deep.equal([database]);
    expect(await refuses(as, 'POST', `/v2/kv/rename/${database}`, { name: 'x' })).to.include('viewer');
    await refuses(as, 'POST', '/apikey', { name: 'more' });
    await refuses(as, 'POST', '/v2/team', { team_name: 'mine', copy_cc: false });
    const [key] = ((await face.ok('GET', '/v2/apikeys', { as: owner })).json as { name: string }[]).filter(
      ({ name }) => name === 'limited',
    );
    expect(key).to.include({ role: 'viewer', resource_id: database });
    const whole = await face.newKey(face.owner, 'whole', { role: 'admin' });
    expect((await face.call('GET', `/v2/teams/${team}`, { as: whole })).status).to.equal(404);
  });

  it('give only rights that the caller has', async () => {
    const as = await face.memberOf(team, 'admin', 'chief@example.com');
    const missing = 'the right account:change can only be given by a caller who has it';
    const rights: GivenRight[] = ['account:change'];
    expect(await refuses(as, 'POST', '/v2/roles', { name: 'more', rights })).to.equal(missing);
    await face.ok('POST', '/v2/roles', { as: owner, body: { name: 'less', rights: ['queues:read'] } });
    expect(await refuses(as, 'PUT', '/v2/roles/less', { rights })).to.equal(missing);
    const given = { role: 'owner', email: 'chief@example.com' };
    expect(await refuses(as, 'POST', '/v2/role-assignments', given)).to.equal(missing);
    await face.ok('POST', '/v2/role-assignments', { as, body: { ...given, role: 'operator' } });
  });

  it('of the account are made, changed and deleted with their keys, each with a line in the audit log', async () => {
    const body = { name: 'temp', rights: ['databases:read'], description: 'for a week' };
    const made = await face.ok('POST', '/v2/roles', { as: owner, body });
    expect(made.json).to.deep.equal({ ...body, built_in: false });
    const as = await face.newKey(face.owner, 'with temp', { team_id: team, role: 'temp' });
    await refuses(as, 'GET', '/v2/msgq/users');
    await face.ok('PUT', '/v2/roles/temp', { as: owner, body: { rights: ['queues:read'] } });
    await face.ok('GET', '/v2/msgq/users', { as });
    const roles = (await face.ok('GET', '/v2/roles', { as: owner })).json as { name: string; built_in: boolean }[];
    expect(roles.filter(({ built_in }) => built_in).map(({ name }) => name)).to.deep.equal(Object.keys(BUILT_IN_ROLES));
    await face.ok('DELETE', '/v2/roles/temp', { as: owner });
    expect((await face.call('GET', '/v2/msgq/users', { as })).status).to.equal(401);
    const log = (await face.ok('GET', '/v2/auditlogs', { as: owner })).json as {
      action_string: string;
      entity: string;
    }[];
    const lines = log.filter(({ entity }) => entity === 'temp').map(({ action_string }) => action_string);
    expect(lines).to.deep.equal(['Delete Role', 'Update Role', 'Create Role']);
  });

  it('are refused with 400 and 404 for a wrong subject, role or resource', async () => {
    const answer = async (body: object) => {
      const { status, json } = await face.call('POST', '/v2/role-assignments', { as: owner, body });
      return [status, roleError(json)];
    };
    const email = 'eve@example.com';
    expect(await answer({ role: 'viewer' })).to.deep.equal([400, 'email: give an email, or a group with its provider']);
    expect(await answer({ role: 'viewer', email, group: 'crew', provider: 'sso' })).to.have.property('0', 400);
    expect(await answer({ role: 'gone', email })).to.deep.equal([404, 'role not found']);
    expect(await answer({ role: 'viewer', email, resource_id: UNKNOWN })).to.deep.equal([404, 'resource not found']);
    expect(await answer({ role: 'x'.repeat(MAX_ROLE_TEXT + 1), email })).to.have.property('0', 400);
    const key = await face.call('POST', '/apikey', { body: { name: 'k', resource_id: UNKNOWN } });
    expect([key.status, roleError(key.json)]).to.deep.equal([400, 'resource_id: needs a role']);
    const database = await face.newDatabase({ database_name: 'paid' }, owner);
    await face.ok('POST', '/v2/roles', { as: owner, body: { name: 'queues only', rights: ['queues:use'] } });
    expect(await answer({ role: 'queues only', email, resource_id: database })).to.deep.equal([
      400,
      'resource_id: the role has no right on such a resource',
    ]);
  });
});
