/** Signing in at the console, and the rights of its session. Proves CSE1, PGR1, PGR2, PGR3. */
import { expect } from 'chai';
import { ALL_RIGHTS } from '../../../src/domain/control/index.js';
import { MillraceError } from '../../../src/kernel/index.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { ConsoleStand, type SignedIn } from './console-stand.js';

const SESSION = '/console/api/session';

describe('/console/api/session', () => {
  const stand = standOfAllTests(() => new ConsoleStand().start());
  let owner: SignedIn;

  before(async () => {
    owner = await stand.signIn();
  });

  const newDatabase = (headers: Record<string, string>) =>
    stand.call('POST', '/v2/kv/database', {
      as: null,
      body: { database_name: 'made', region: 'global', primary_region: 'us-east-1' },
      headers,
    });
  const errorOf = ({ json }: { json: unknown }) => (json as { error: string }).error;

  it('POST begins a session with e-mail and key, in an HttpOnly cookie that no body contains (CSE1)', async () => {
    const { answer, cookie, shown } = await stand.signIn();
    expect(answer.status).to.equal(200);
    const [, ...attributes] = (answer.headers.get('set-cookie') as string).split('; ');
    expect(attributes).to.deep.equal(['Path=/', 'Max-Age=3600', 'HttpOnly', 'SameSite=Strict']);
    expect(answer.text).not.to.include(decodeURIComponent(cookie.split('=')[1] as string));
    expect(shown).to.deep.equal({
      signed_in: true,
      email: 'owner@example.com',
      customer_id: 'owner@example.com',
      role: 'owner',
      rights: ALL_RIGHTS,
      readonly: false,
      key: 'default',
      operator: true,
      until: new Date(stand.control.nowMs + ConsoleStand.SESSION_MS).toISOString(),
      csrf: shown.csrf,
    });
    expect((await stand.call('GET', SESSION, { as: null, headers: { cookie } })).json).to.deep.equal(shown);
  });

  it('POST sets a Secure cookie when the console uses TLS', async () => {
    stand.isSecure = true;
    const { answer } = await stand.signIn();
    stand.isSecure = false;
    expect(answer.headers.get('set-cookie')).to.match(/; Secure$/);
  });

  it('POST begins a session although its record cannot be stored (SST1)', async () => {
    const send = stand.control.send.bind(stand.control);
    stand.control.send = () => Promise.reject(new MillraceError('STORAGE_FULL', 'no space'));
    const { answer } = await stand.signIn();
    stand.control.send = send;
    expect(answer.status).to.equal(200);
  });

  it('POST answers 401 to a wrong key, without a challenge (PGR3)', async () => {
    const { answer } = await stand.signIn({ ...stand.owner, key: 'mrk_another-key-0123456789012345' });
    expect([answer.status, answer.headers.get('set-cookie')]).to.deep.equal([401, null]);
    expect(answer.headers.get('www-authenticate')).to.equal(null);
  });

  it('POST answers 400 to a body without e-mail and key', async () => {
    for (const body of [
      {},
      { email: 'a@b' },
      { email: 'a@b', key: 5 },
      { email: '', key: 'k' },
      'no JSON',
      '[]',
      'null',
    ]) {
      const { status } = await stand.call('POST', SESSION, { as: null, body });
      expect(status, JSON.stringify(body)).to.equal(400);
    }
    const long = { email: 'a@b', key: 'k'.repeat(5000) };
    expect((await stand.call('POST', SESSION, { as: null, body: long })).status).to.equal(413);
    expect((await stand.call('PUT', SESSION, { as: null, body: {} })).status).to.equal(405);
  });

  it('POST answers 429 after too many failures from an address', async () => {
    const statuses: number[] = [];
    for (let at = 0; at <= ConsoleStand.FAILURES; at += 1) {
      statuses.push((await stand.signIn({ ...stand.owner, key: 'guess' })).answer.status);
    }
    expect([statuses[0], statuses.at(-1)]).to.deep.equal([401, 429]);
    expect((await stand.signIn()).answer.status).to.equal(200);
  });

  it('a session has access to the management API', async () => {
    const answer = await stand.asPage(owner, 'GET', '/v2/kv/databases');
    expect([answer.status, answer.misfits]).to.deep.equal([200, []]);
    expect((await newDatabase({ cookie: owner.cookie, 'millrace-csrf': owner.csrf })).status).to.equal(200);
  });

  it("a change without the session's Millrace-Csrf header gets 403 (PGR1)", async () => {
    const other = await stand.signIn();
    for (const csrf of [undefined, '', 'x', other.csrf]) {
      const answer = await newDatabase({
        cookie: owner.cookie,
        ...(csrf === undefined ? {} : { 'millrace-csrf': csrf }),
      });
      expect([answer.status, errorOf(answer)]).to.deep.equal([
        403,
        'a change in a session needs the Millrace-Csrf header of this session',
      ]);
    }
    expect((await stand.call('DELETE', SESSION, { as: null, headers: { cookie: owner.cookie } })).status).to.equal(403);
  });

  it('a change from a page of another origin gets 403 (PGR2)', async () => {
    const headers = { cookie: owner.cookie, 'millrace-csrf': owner.csrf };
    for (const origin of ['https://evil.example', 'null', `${stand.url}0`, 'http://127.0.0.1']) {
      expect((await newDatabase({ ...headers, origin })).status, origin).to.equal(403);
      const body = stand.owner;
      expect((await stand.call('POST', SESSION, { as: null, body, headers: { origin } })).status, origin).to.equal(403);
    }
    expect((await newDatabase({ ...headers, 'sec-fetch-site': 'cross-site' })).status).to.equal(403);
    for (const origin of [stand.url, 'https://search.example']) {
      expect((await newDatabase({ ...headers, origin })).status, origin).to.equal(200);
    }
  });

  it('an ended session gets 401 without a challenge (PGR3)', async () => {
    for (const headers of [{ cookie: 'millrace_session=over' }, { 'millrace-csrf': 'x' }]) {
      const answer = await stand.call('GET', '/v2/kv/databases', { as: null, headers });
      expect([answer.status, answer.headers.get('www-authenticate')]).to.deep.equal([401, null]);
    }
    const nobody = await stand.call('GET', SESSION, { as: null, headers: { cookie: 'millrace_session=over' } });
    expect([nobody.status, nobody.json]).to.deep.equal([200, { signed_in: false }]);
  });

  it('a session ends after its time, and with its key', async () => {
    const key = await stand.newKey(stand.owner, 'of the console');
    const [byTime, byKey] = [await stand.signIn(), await stand.signIn(key)];
    const look = async (who: SignedIn) => (await stand.asPage(who, 'GET', '/v2/kv/databases')).status;
    expect([await look(byTime), await look(byKey)]).to.deep.equal([200, 200]);
    await stand.ok('DELETE', '/v2/apikey/of%20the%20console');
    expect([await look(byTime), await look(byKey)]).to.deep.equal([200, 401]);
    stand.control.nowMs += ConsoleStand.SESSION_MS - 1;
    expect(await look(byTime)).to.equal(200);
    stand.control.nowMs += 1;
    expect(await look(byTime)).to.equal(401);
    owner = await stand.signIn();
  });

  it('DELETE ends a session in every process', async () => {
    const who = await stand.signIn();
    const answer = await stand.asPage(who, 'DELETE', SESSION);
    expect([answer.status, answer.json]).to.deep.equal([200, { signed_in: false }]);
    expect(answer.headers.get('set-cookie')).to.match(/^millrace_session=; Path=\/; Max-Age=0;/);
    expect((await stand.asPage(who, 'GET', '/v2/kv/databases')).status).to.equal(401);
  });

  it('a session of a read-only key reads, and gets 403 for changes', async () => {
    const reader = await stand.signIn(await stand.readOnlyKey());
    expect(reader.shown).to.include({ readonly: true });
    expect((await stand.asPage(reader, 'GET', '/v2/kv/databases')).status).to.equal(200);
    const answer = await newDatabase({ cookie: reader.cookie, 'millrace-csrf': reader.csrf });
    expect([answer.status, errorOf(answer)]).to.deep.equal([403, 'Readonly API key: this key cannot make changes']);
  });
});
