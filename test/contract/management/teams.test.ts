/** Teams, and the rights of each role. */
import { expect } from 'chai';
import { type Caller, ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

describe('management API: teams', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());
  let team: string;

  beforeEach(async () => {
    team = await face.newTeam('crew');
  });

  const members = async (as?: Caller) =>
    (await face.ok('GET', `/v2/teams/${team}`, as === undefined ? {} : { as })).json;
  const status = async (as: Caller, method: string, path: string, body?: object) =>
    (await face.call(method, path, { as, body })).status;

  it('GET /v2/teams shows the creator as the owner', async () => {
    const shown = { team_id: team, team_name: 'crew', copy_cc: true };
    expect((await face.ok('GET', '/v2/teams')).json).to.deep.equal([shown]);
    expect(await members()).to.deep.equal([{ ...shown, member_email: 'owner@example.com', member_role: 'owner' }]);
  });

  it('POST /v2/teams/member adds a member, with the e-mail in lower case', async () => {
    const body = { team_id: team, member_email: 'Ada@Example.com', member_role: 'dev' };
    const { json } = await face.ok('POST', '/v2/teams/member', { body });
    const shown = {
      team_id: team,
      team_name: 'crew',
      copy_cc: true,
      member_email: 'ada@example.com',
      member_role: 'dev',
    };
    expect(json).to.deep.equal(shown);
    expect(await members()).to.deep.include(shown);
  });

  it('a role is changed by removing and adding the member', async () => {
    const member = { team_id: team, member_email: 'ada@example.com' };
    await face.ok('POST', '/v2/teams/member', { body: { ...member, member_role: 'dev' } });
    const again = await face.call('POST', '/v2/teams/member', { body: { ...member, member_role: 'admin' } });
    expect(again.status).to.equal(400);
    expect((await face.ok('DELETE', '/v2/teams/member', { body: member })).text).to.equal('"OK"');
    const { json } = await face.ok('POST', '/v2/teams/member', { body: { ...member, member_role: 'admin' } });
    expect(json).to.include({ member_role: 'admin' });
  });

  it('POST /v2/teams/member refuses the role owner and unknown roles', async () => {
    for (const member_role of ['owner', 'boss', '', undefined]) {
      const body = { team_id: team, member_email: 'ada@example.com', member_role };
      const { status, json } = await face.call('POST', '/v2/teams/member', { body });
      expect(status).to.equal(400);
      expect((json as { error: string }).error).to.match(/^member_role: /);
    }
  });

  it('DELETE /v2/teams/member refuses to remove the owner', async () => {
    const body = { team_id: team, member_email: 'owner@example.com' };
    expect((await face.call('DELETE', '/v2/teams/member', { body })).status).to.equal(400);
  });

  it('DELETE /v2/teams/member answers 404 for a person outside the team', async () => {
    const body = { team_id: team, member_email: 'nobody@example.com' };
    const { status, json } = await face.call('DELETE', '/v2/teams/member', { body });
    expect([status, json]).to.deep.equal([404, { error: 'team member not found' }]);
  });

  it('the keys of a removed member get 401', async () => {
    const dev = await face.memberOf(team, 'dev');
    expect(await status(dev, 'GET', '/v2/kv/databases')).to.equal(200);
    await face.ok('DELETE', '/v2/teams/member', { body: { team_id: team, member_email: dev.email } });
    expect(await status(dev, 'GET', '/v2/kv/databases')).to.equal(401);
  });

  it('DELETE /v2/team is for the owner of a team without databases', async () => {
    const of = await face.newKey(face.owner, 'of the team', { team_id: team });
    const database = await face.newDatabase({}, of);
    const refused = await face.call('DELETE', `/v2/team/${team}`);
    expect(refused.status).to.equal(400);
    expect((refused.json as { error: string }).error).to.include('databases');
    await face.ok('DELETE', `/v2/kv/database/${database}`, { as: of });
    expect((await face.ok('DELETE', `/v2/team/${team}`)).text).to.equal('"OK"');
    expect((await face.ok('GET', '/v2/teams')).json).to.deep.equal([]);
    expect(await status(of, 'GET', '/v2/teams')).to.equal(401);
  });

  it('a person owns at most five teams', async () => {
    for (let count = 1; count < 5; count += 1) await face.newTeam(`crew ${count}`);
    const body = { team_name: 'one more', copy_cc: false };
    const { status, json } = await face.call('POST', '/v2/team', { body });
    expect(status).to.equal(400);
    expect((json as { error: string }).error).to.include('5 teams');
  });

  it('a team gets 404 for other persons', async () => {
    const { caller } = await face.newPerson('stranger@example.com');
    const member = { team_id: team, member_email: 'stranger@example.com' };
    expect(await status(caller, 'GET', `/v2/teams/${team}`)).to.equal(404);
    expect(await status(caller, 'DELETE', `/v2/team/${team}`)).to.equal(404);
    expect(await status(caller, 'POST', '/v2/teams/member', { ...member, member_role: 'admin' })).to.equal(404);
    expect(await status(caller, 'DELETE', '/v2/teams/member', member)).to.equal(404);
    expect((await face.ok('GET', '/v2/teams', { as: caller })).json).to.deep.equal([]);
  });

  it('a key of a team acts for that team only', async () => {
    const other = await face.newTeam('other');
    const of = await face.newKey(face.owner, 'of the team', { team_id: team });
    expect((await face.ok('GET', '/v2/teams', { as: of })).json).to.have.length(1);
    expect(await status(of, 'GET', `/v2/teams/${other}`)).to.equal(404);
    expect(await status(of, 'POST', '/v2/team', { team_name: 'third', copy_cc: false })).to.equal(403);
    const own = await face.newDatabase();
    expect(await status(of, 'GET', `/v2/kv/database/${own}`)).to.equal(404);
    expect((await face.ok('GET', '/v2/kv/databases', { as: of })).json).to.deep.equal([]);
  });

  describe('roles', () => {
    let callers: Record<'owner' | 'admin' | 'dev' | 'finance', Caller>;
    let database: string;
    let queue: string;

    beforeEach(async () => {
      const owner = await face.newKey(face.owner, 'of the team', { team_id: team });
      callers = {
        owner,
        admin: await face.memberOf(team, 'admin'),
        dev: await face.memberOf(team, 'dev'),
        finance: await face.memberOf(team, 'finance'),
      };
      database = await face.newDatabase({}, owner);
      const [first] = (await face.ok('GET', '/v2/msgq/users', { as: owner })).json as { id: string }[];
      queue = first?.id as string;
    });

    const CALLS: readonly [action: string, who: string, method: string, path: string, body?: object][] = [
      ['see databases', 'owner admin dev finance', 'GET', '/v2/kv/database/:db'],
      ['see statistics', 'owner admin dev finance', 'GET', '/v2/kv/stats/:db'],
      ['see the audit log', 'owner admin dev finance', 'GET', '/auditlogs'],
      ['see members', 'owner admin dev finance', 'GET', '/v2/teams/:team'],
      ['make a database', 'owner admin dev', 'POST', '/v2/kv/database', { name: 'a', region: 'eu-west-1' }],
      ['rename a database', 'owner admin dev', 'POST', '/v2/kv/rename/:db', { name: 'b' }],
      ['reset a password', 'owner admin dev', 'POST', '/v2/kv/reset-password/:db'],
      [
        'make a search index',
        'owner admin dev',
        'POST',
        '/v2/search',
        { name: 'a', region: 'eu-west-1', type: 'payg' },
      ],
      ['rotate the token of the queue', 'owner admin dev', 'POST', '/v2/msgq/rotate-token/:queue'],
      ['change a plan', 'owner admin finance', 'POST', '/v2/kv/:db/change-plan', { plan_name: 'payg' }],
      ['change a budget', 'owner admin finance', 'PATCH', '/v2/kv/update-budget/:db', { budget: 30 }],
      [
        'change the plan of the queue',
        'owner admin finance',
        'POST',
        '/v2/msgq/set-plan/:queue',
        { plan_name: 'paid' },
      ],
      ['change its budget', 'owner admin finance', 'PATCH', '/v2/msgq/update-budget/:queue', { budget: 30 }],
    ];

    for (const [action, who, method, path, body] of CALLS) {
      it(`lets ${who.split(' ').join(', ')} ${action}`, async () => {
        const target = path.replace(':db', database).replace(':team', team).replace(':queue', queue);
        for (const [role, as] of Object.entries(callers)) {
          const { status, json } = await face.call(method, target, { as, body });
          expect(status, role).to.equal(who.split(' ').includes(role) ? 200 : 403);
          if (status === 403) expect(json).to.deep.equal({ error: `the role ${role} may not do this` });
        }
      });
    }

    it('lets owner and admin change members', async () => {
      for (const [role, as] of Object.entries(callers)) {
        const member = { team_id: team, member_email: `new-${role}@example.com` };
        const wanted = role === 'owner' || role === 'admin' ? 200 : 403;
        expect(await status(as, 'POST', '/v2/teams/member', { ...member, member_role: 'dev' })).to.equal(wanted);
        expect(await status(as, 'DELETE', '/v2/teams/member', member)).to.equal(wanted === 200 ? 200 : 403);
      }
    });

    it('lets only the owner delete the team', async () => {
      await face.ok('DELETE', `/v2/kv/database/${database}`, { as: callers.owner });
      for (const role of ['admin', 'dev', 'finance'] as const) {
        expect(await status(callers[role], 'DELETE', `/v2/team/${team}`), role).to.equal(403);
      }
      expect(await status(callers.owner, 'DELETE', `/v2/team/${team}`)).to.equal(200);
    });

    it('hides secrets from the role finance', async () => {
      const index = await face.newSearchIndex({}, callers.owner);
      const as = callers.finance;
      const shownDatabase = (await face.ok('GET', `/v2/kv/database/${database}`, { as })).json;
      expect(shownDatabase).to.not.have.any.keys('password', 'rest_token', 'read_only_rest_token');
      const secrets = { token: '', read_only_token: '' };
      expect((await face.ok('GET', `/v2/search/${index}`, { as })).json).to.include(secrets);
      expect((await face.ok('GET', `/v2/msgq/user/${queue}`, { as })).json).to.include({ ...secrets, password: '' });
      expect((await face.ok('GET', `/v2/kv/database/${database}`, { as: callers.dev })).json).to.have.property(
        'rest_token',
      );
    });

    it('applies in the target team of a move too', async () => {
      const theirs = await face.newPerson('their@example.com');
      const target = await face.newTeam('theirs', theirs.caller);
      const body = { team_id: target, member_email: 'owner@example.com', member_role: 'finance' };
      await face.ok('POST', '/v2/teams/member', { as: theirs.caller, body });
      const own = await face.newDatabase();
      expect(await status(face.owner, 'POST', '/v2/kv/move-to-team', { database_id: own, team_id: target })).to.equal(
        403,
      );
    });
  });
});
