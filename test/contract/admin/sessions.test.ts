/** Sessions of people at the console: they have the rights of their key, for twelve hours at most. */
import { expect } from 'chai';
import type { Caller } from '../../support/management-endpoint.js';
import { AdminStand } from './admin-stand.js';

const HOUR_MS = 3_600_000;

describe("sessions of the operators' API", () => {
  let stand: AdminStand;

  before(async () => {
    stand = await new AdminStand().start();
  });
  afterEach(() => {
    stand.isSecure = false;
  });
  after(() => stand.stop());

  const begin = async (as: Caller = stand.owner) => {
    const answer = await stand.ok('POST', '/v2/admin/sessions', { as });
    return { ...answer, shown: answer.json as Record<string, unknown> & { session: string; csrf: string } };
  };
  const shownTo = (headers: Record<string, string>) => stand.call('GET', '/v2/admin/session', { as: null, headers });
  const byBearer = async (text: string) => (await shownTo({ authorization: `Bearer ${text}` })).status;

  it('begin with credentials, and show the person, the rights and the end', async () => {
    const { shown } = await begin();
    expect(shown).to.deep.equal({
      session: shown.session,
      csrf: shown.csrf,
      until: new Date(stand.control.nowMs + 12 * HOUR_MS).toISOString(),
      email: 'owner@example.com',
      customer_id: 'owner@example.com',
      role: 'owner',
      readonly: false,
      key: 'default',
      operator: true,
    });
    const { json } = await shownTo({ authorization: `Bearer ${shown.session}` });
    const { session: _, until: __, csrf: ___, ...who } = shown;
    expect(json).to.deep.equal(who);
  });

  it('of a team member show the team', async () => {
    const team = await stand.newTeam();
    const { shown } = await begin(await stand.memberOf(team, 'dev'));
    expect(shown).to.include({ customer_id: team, role: 'dev', operator: false });
  });

  it('are stored in an HttpOnly, SameSite=Strict cookie', async () => {
    const { headers, shown } = await begin();
    const cookie = headers.get('set-cookie') as string;
    const [pair, ...attributes] = cookie.split('; ');
    expect(attributes).to.deep.equal(['Path=/', 'Max-Age=43200', 'HttpOnly', 'SameSite=Strict']);
    expect(pair).to.equal(`millrace_session=${encodeURIComponent(shown.session)}`);
    expect((await shownTo({ cookie: `theme=dark; ${pair}; other=1` })).status).to.equal(200);
    stand.isSecure = true;
    expect((await begin()).headers.get('set-cookie')).to.match(/; Secure$/);
  });

  it('are accepted as bearer tokens, which take precedence over the cookie', async () => {
    const { shown } = await begin();
    expect(await byBearer(shown.session)).to.equal(200);
    const cookie = `millrace_session=${encodeURIComponent(shown.session)}`;
    expect((await shownTo({ cookie, authorization: 'Bearer other' })).status).to.equal(401);
  });

  it('that are over get 401 without a challenge', async () => {
    for (const headers of [{ cookie: 'millrace_session=over' }, { authorization: 'Bearer over' }]) {
      const answer = await stand.call('GET', '/v2/admin/verify', { as: null, headers });
      expect([answer.status, answer.headers.get('www-authenticate')]).to.deep.equal([401, null]);
    }
  });

  it('cannot begin with a session', async () => {
    const { shown } = await begin();
    const headers = { authorization: `Bearer ${shown.session}` };
    const answer = await stand.call('POST', '/v2/admin/sessions', { as: null, headers });
    expect([answer.status, answer.headers.get('set-cookie')]).to.deep.equal([401, null]);
  });

  it('are not accepted as bearer tokens by the management API', async () => {
    const { shown } = await begin();
    const headers = { authorization: `Bearer ${shown.session}` };
    expect((await stand.call('GET', '/v2/teams', { as: null, headers })).status).to.equal(401);
  });

  it('end after twelve hours', async () => {
    const { shown } = await begin();
    stand.control.nowMs += 12 * HOUR_MS - 1;
    expect(await byBearer(shown.session)).to.equal(200);
    stand.control.nowMs += 1;
    expect(await byBearer(shown.session)).to.equal(401);
  });

  it('end with their key', async () => {
    const { shown } = await begin(await stand.newKey(stand.owner, 'of the console'));
    expect(await byBearer(shown.session)).to.equal(200);
    await stand.ok('DELETE', '/v2/apikey/of%20the%20console');
    expect(await byBearer(shown.session)).to.equal(401);
  });

  it('end with the membership of a team', async () => {
    const team = await stand.newTeam('leaving');
    const { shown } = await begin(await stand.memberOf(team, 'admin', 'leaver@example.com'));
    expect(await byBearer(shown.session)).to.equal(200);
    await stand.ok('DELETE', '/v2/teams/member', { body: { team_id: team, member_email: 'leaver@example.com' } });
    expect(await byBearer(shown.session)).to.equal(401);
  });

  it('clear the cookie when they are ended', async () => {
    const { shown } = await begin();
    const cookie = `millrace_session=${encodeURIComponent(shown.session)}`;
    const headers = { cookie, 'millrace-csrf': shown.csrf };
    const answer = await stand.call('DELETE', '/v2/admin/session', { as: null, headers });
    expect([answer.status, answer.text]).to.deep.equal([200, '"OK"']);
    expect(answer.headers.get('set-cookie')).to.equal(
      'millrace_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
    );
  });

  it('refuse changes by the cookie alone, or from another origin (PGR1, PGR2)', async () => {
    const { shown } = await begin();
    const cookie = `millrace_session=${encodeURIComponent(shown.session)}`;
    const rebuild = (headers: Record<string, string>) =>
      stand.call('POST', '/v2/admin/read-models/messages/rebuild', { as: null, headers: { cookie, ...headers } });
    const csrf = { 'millrace-csrf': shown.csrf };
    const forged = await rebuild({});
    const elsewhere = await rebuild({ ...csrf, origin: 'https://other.example' });
    expect([forged.status, elsewhere.status, (await rebuild(csrf)).status]).to.deep.equal([403, 403, 200]);
  });

  it('are refused everywhere once they are ended, while others remain valid', async () => {
    const { shown: ended } = await begin();
    const { shown: other } = await begin();
    const headers = { authorization: `Bearer ${ended.session}` };
    expect((await stand.call('DELETE', '/v2/admin/session', { as: null, headers })).status).to.equal(200);
    expect(await byBearer(ended.session)).to.equal(401);
    expect(await byBearer(other.session)).to.equal(200);
  });

  it('are refused after tampering, and when the sealed value is not a session', async () => {
    const { shown } = await begin();
    const sealed = (value: unknown) => stand.sealing.seal(JSON.stringify(value));
    const untilMs = stand.control.nowMs + HOUR_MS;
    const odd = [
      null,
      5,
      'text',
      [],
      {},
      { untilMs },
      { email: 1, key: 2, untilMs },
      { ...stand.owner, untilMs },
      { ...stand.owner, name: 'n', untilMs: 'x' },
    ];
    const texts = [
      `x${shown.session}`,
      shown.session.slice(1),
      shown.session.slice(0, -2),
      '',
      'x'.repeat(5000),
      ...odd.map(sealed),
    ];
    for (const text of [...texts, stand.sealing.seal('no JSON')]) {
      expect(await byBearer(text), text.slice(0, 60)).to.equal(401);
    }
    for (const cookie of ['millrace_session=%zz', 'millrace_session=', 'millrace_session', ';;=;']) {
      expect((await shownTo({ cookie })).status, cookie).to.equal(401);
    }
  });
});
