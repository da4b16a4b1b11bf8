/**
 * Signing in with a real identity provider at one process of the program. Proves CPR1, CPR2, CPR3, SST2, IDC1.
 */
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { IdentityProviderStand } from '../../support/identity-provider.js';
import {
  embeddedEnvironment,
  endEverything,
  runMillrace,
  spawnMain,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';

const EMAIL = 'ops@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789abcdef';
const OPERATOR = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
const SEEN = { timeoutMs: 30_000, everyMs: 50 };

interface Begun {
  readonly url: string;
  readonly cookie: string;
}

interface Shown {
  readonly signed_in: boolean;
  readonly email?: string;
  readonly role?: string;
  readonly csrf?: string;
  readonly provider_logout?: string;
  readonly providers?: readonly object[];
  readonly accounts?: readonly { readonly customer_id: string; readonly name: string; readonly role: string }[];
}

describe('signing in with an identity provider', function () {
  this.timeout(180_000);
  const provider = new IdentityProviderStand();
  let origin: string;

  before(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    await provider.start([`${origin}/console/api/sign-in/sso/callback`], [`${origin}/console/`]);
    const people = { ada: ['ops', 'crew'], bob: ['crew'], carl: ['crew'], dora: ['others'] };
    for (const [name, groups] of Object.entries(people))
      provider.people.set(name, { email: `${name}@b.example`, groups });
    provider.people.set('eve', { email: 'ada@b.example', groups: ['ops'] });
    provider.people.set('fred', { email: 'fred@b.example', isVerified: false, groups: ['ops'] });
    const dataDir = await temporaryDirectory();
    const env = await embeddedEnvironment(dataDir);
    await startMillrace({
      dataDir,
      env: {
        ...env,
        MILLRACE_MGMT_PORT: String(port),
        MILLRACE_PUBLIC_URL_MGMT: origin,
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: KEY,
        MILLRACE_SIGN_IN_CHECK_MS: '300',
        MILLRACE_SIGN_IN_PROVIDERS: provider.setting([
          { group: 'ops', role: 'admin' },
          { group: 'crew', role: 'dev', account: 'crew' },
        ]),
      },
    });
    await eventually(async () => {
      const body = JSON.stringify({ team_name: 'crew', copy_cc: false });
      const headers = { authorization: OPERATOR, 'content-type': 'application/json' };
      const answer = await fetch(`${origin}/v2/team`, { method: 'POST', headers, body });
      expect(answer.status).to.equal(200);
    }, SEEN);
  });
  after(async () => {
    await endEverything();
    await provider.stop();
  });

  const ask = (path: string, cookie = '', init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { redirect: 'manual', ...init, headers: { cookie, ...init.headers } });

  async function begin(to = ''): Promise<Begun> {
    const answer = await ask(`/console/api/sign-in/sso${to === '' ? '' : `?to=${encodeURIComponent(to)}`}`);
    expect(answer.status).to.equal(302);
    const [set = ''] = answer.headers.getSetCookie();
    expect(set).to.match(/; Path=\/console\/api\/sign-in; Max-Age=600; HttpOnly; SameSite=Lax$/);
    return { url: answer.headers.get('location') as string, cookie: set.split(';')[0] as string };
  }

  const pathOf = (url: string) => url.slice(origin.length);

  async function signIn(name: string, to = '') {
    const { url, cookie } = await begin(to);
    const answered = await provider.signIn(url, name);
    const answer = await ask(pathOf(answered), cookie);
    const session = answer.headers.getSetCookie().find((set) => set.startsWith('millrace_session='));
    return {
      answered,
      began: cookie,
      to: answer.headers.get('location'),
      cookie: session?.split(';')[0] ?? '',
    };
  }

  const shown = async (cookie: string) => (await (await ask('/console/api/session', cookie)).json()) as Shown;
  const statusOf = async (cookie: string) => (await ask('/v2/kv/databases', cookie)).status;

  it('GET /console/api/session names the providers to a page without a session', async () => {
    expect(await shown('')).to.deep.equal({ signed_in: false, providers: [{ name: 'sso', label: 'Company' }] });
  });

  it('begins a session with the roles of the groups, and leads to the page that was asked for', async () => {
    const { to, cookie } = await signIn('ada', '/console/databases?tab=data');
    expect(to).to.equal('/console/databases?tab=data');
    const session = await shown(cookie);
    expect(session).to.deep.include({ signed_in: true, email: 'ada@b.example', role: 'admin', operator: true });
    expect(session.accounts?.map(({ name, role }) => [name, role])).to.deep.equal([
      ['default', 'admin'],
      ['crew', 'dev'],
    ]);
    expect(await statusOf(cookie)).to.equal(200);
  });

  it('POST /console/api/session/account has the session act for another account of its person alone', async () => {
    const { cookie } = await signIn('ada');
    const { csrf = '', accounts = [] } = await shown(cookie);
    const change = (id: string, from: string) =>
      ask('/console/api/session/account', from, {
        method: 'POST',
        headers: { 'millrace-csrf': csrf },
        body: JSON.stringify({ customer_id: id }),
      });
    const answer = await change(accounts[1]?.customer_id as string, cookie);
    const switched = (answer.headers.getSetCookie()[0] as string).split(';')[0] as string;
    expect(await shown(switched)).to.deep.include({ role: 'dev', operator: false });
    const bob = await signIn('bob');
    const other = await shown(bob.cookie);
    const refused = await ask('/console/api/session/account', bob.cookie, {
      method: 'POST',
      headers: { 'millrace-csrf': other.csrf as string },
      body: JSON.stringify({ customer_id: accounts[0]?.customer_id }),
    });
    expect(refused.status).to.equal(404);
  });

  it('ends the sessions of a person whose group was removed, and keys of the person for the account (IDC1)', async () => {
    const { cookie } = await signIn('bob');
    const { csrf = '' } = await shown(cookie);
    const headers = { 'millrace-csrf': csrf, 'content-type': 'application/json' };
    const made = await ask('/v2/apikey', cookie, { method: 'POST', headers, body: JSON.stringify({ name: 'of bob' }) });
    const { api_key } = (await made.json()) as { api_key: string };
    const basic = { headers: { authorization: `Basic ${Buffer.from(`bob@b.example:${api_key}`).toString('base64')}` } };
    expect((await ask('/v2/kv/databases', '', basic)).status).to.equal(200);
    provider.people.set('bob', { email: 'bob@b.example', groups: [] });
    await eventually(async () => expect(await statusOf(cookie)).to.equal(401), SEEN);
    expect((await ask('/v2/kv/databases', '', basic)).status).to.equal(401);
    expect((await signIn('bob')).to).to.equal('/console/?refused=no-role');
  });

  it('refuses a replayed code, another state, and an answer in another browser (CPR1)', async () => {
    const { answered, began } = await signIn('ada');
    expect((await ask(pathOf(answered), began)).headers.get('location')).to.equal('/console/?refused=refused');
    const other = await begin();
    const fresh = await provider.signIn((await begin()).url, 'ada');
    expect((await ask(pathOf(fresh), other.cookie)).headers.get('location')).to.equal('/console/?refused=refused');
    const stolen = await provider.signIn((await begin()).url, 'ada');
    expect((await ask(pathOf(stolen))).headers.get('location')).to.equal('/console/?refused=expired');
    const forged = 'millrace_sign_in=s1.forged';
    expect((await ask(pathOf(stolen), forged)).headers.get('location')).to.equal('/console/?refused=expired');
  });

  it('leads to no address outside of the console (CPR2)', async () => {
    for (const to of ['https://evil.example', '/console//evil.example', '/console/../x']) {
      expect((await signIn('ada', to)).to, to).to.equal('/console/');
    }
  });

  it('refuses a person without a role, without a verified address, or with the address of another subject (CPR3)', async () => {
    const refusals: (string | null)[] = [];
    for (const name of ['dora', 'fred', 'eve']) refusals.push((await signIn(name)).to);
    expect(refusals).to.deep.equal(['no-role', 'no-email', 'other-subject'].map((kind) => `/console/?refused=${kind}`));
    const log = await (await ask('/v2/auditlogs', '', { headers: { authorization: OPERATOR } })).json();
    const lines = (log as { action_string: string; reason: string }[]).filter(
      ({ action_string: action }) => action === 'Refuse Sign-In',
    );
    expect(lines.map(({ reason }) => reason).join('\n')).to.match(
      /another subject.*\n.*verified e-mail.*\n.*no group of dora/s,
    );
  });

  it('DELETE /console/api/session leads to the logout of the provider', async () => {
    const { cookie } = await signIn('carl');
    const { csrf = '' } = await shown(cookie);
    const answer = await ask('/console/api/session', cookie, { method: 'DELETE', headers: { 'millrace-csrf': csrf } });
    const { provider_logout: logout = '' } = (await answer.json()) as Shown;
    const url = new URL(logout);
    expect(url.origin).to.equal(provider.issuer);
    expect(url.searchParams.get('post_logout_redirect_uri')).to.equal(`${origin}/console/`);
    expect(url.searchParams.get('id_token_hint')).to.match(/^eyJ/);
    expect(await statusOf(cookie)).to.equal(401);
  });

  it('GET and DELETE /v2/sessions list and end sessions: the own ones, and all of the account for its admins', async () => {
    const carl = await signIn('carl');
    const ada = await signIn('ada');
    const list = async (cookie: string) =>
      (await (await ask('/v2/sessions', cookie)).json()) as { session_id: string; email: string; provider: string }[];
    expect([...new Set((await list(carl.cookie)).map(({ email }) => email))]).to.deep.equal(['carl@b.example']);
    const [newest] = await list(ada.cookie);
    expect(newest).to.deep.include({ email: 'ada@b.example', provider: 'sso' });
    const end = async (cookie: string, id: string) => {
      const { csrf = '' } = await shown(cookie);
      return (await ask(`/v2/sessions/${id}`, cookie, { method: 'DELETE', headers: { 'millrace-csrf': csrf } })).status;
    };
    expect(await end(carl.cookie, newest?.session_id as string)).to.equal(404);
    expect(await end(ada.cookie, newest?.session_id as string)).to.equal(200);
    expect(await statusOf(ada.cookie)).to.equal(401);
  });

  it('POST …/device and …/device/session sign a device in, and its session is a bearer token of the API', async () => {
    const post = async (path: string, body: object) => {
      const answer = await ask(`/console/api/sign-in/sso/${path}`, '', { method: 'POST', body: JSON.stringify(body) });
      return { status: answer.status, json: (await answer.json()) as Record<string, string> };
    };
    const { json: begun } = await post('device', {});
    expect(begun.user_code).to.match(/^[\w-]+$/);
    expect((await post('device/session', { device: begun.device })).json).to.deep.equal({ pending: true });
    await provider.confirmDevice(begun.url as string, 'carl');
    const { json: ended } = await post('device/session', { device: begun.device });
    expect(ended.email).to.equal('carl@b.example');
    const asDevice = async (session: string) =>
      (await ask('/v2/kv/databases', '', { headers: { authorization: `Bearer ${session}` } })).status;
    expect(await asDevice(ended.session as string)).to.equal(200);
    expect(await asDevice(`${ended.session}x`)).to.equal(401);

    expect((await post('device/session', { device: begun.device })).status).to.equal(403);
    for (const device of ['', 's1.forged', begun.user_code]) {
      const refused = await post('device/session', { device });
      expect([refused.status, refused.json.error]).to.deep.equal([400, 'device: is unknown, or its time has ended']);
    }
    provider.people.set('carl', { email: 'carl@b.example', groups: [] });
    await eventually(async () => expect(await asDevice(ended.session as string)).to.equal(401), SEEN);
    provider.people.set('carl', { email: 'carl@b.example', groups: ['crew'] });
  });

  it('millrace login stores a session that commands of the management API use, and millrace logout ends it', async () => {
    const folder = await temporaryDirectory();
    // No process has this data directory, so a command needs the session.
    const env = { XDG_CONFIG_HOME: folder, MILLRACE_DATA_DIR: join(folder, 'none') };
    const child = spawnMain(['login', origin, '--json'], env);
    const lines: string[] = [];
    createInterface({ input: child.stdout as Readable }).on('line', (line) => lines.push(line));
    await eventually(() => expect(lines).to.have.length(1), SEEN);
    await provider.confirmDevice((JSON.parse(lines[0] as string) as { url: string }).url, 'ada');
    expect((await once(child, 'exit'))[0]).to.equal(0);
    expect(JSON.parse(lines[1] as string)).to.include({ email: 'ada@b.example' });
    const file = join(folder, 'millrace/login.json');
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    const { session } = JSON.parse(await readFile(file, 'utf8')) as { session: string };

    const listed = await runMillrace(['branch', 'list', '--of', 'default', '--json'], env);
    expect([listed.code, listed.stderr]).to.deep.equal([0, '']);
    expect((await runMillrace(['logout'], env)).stdout.toString()).to.equal(`Signed out of ${origin}.\n`);
    const headers = { authorization: `Bearer ${session}` };
    expect((await ask('/v2/kv/databases', '', { headers })).status).to.equal(401);
    expect((await runMillrace(['branch', 'list', '--of', 'default'], env)).code).to.equal(1);
    expect((await runMillrace(['logout'], env)).stdout.toString()).to.equal('No session was stored.\n');
    const other = await runMillrace(['login', origin, '--provider', 'other'], env);
    expect([other.code, other.stderr]).to.deep.equal([1, 'millrace: give --provider with one of sso\n']);
  });

  it('keys sign in while the provider fails, and sessions of the provider continue', async () => {
    const { cookie } = await signIn('carl');
    provider.instead = () => ({ status: 503, body: '{}' });
    const body = JSON.stringify({ email: EMAIL, key: KEY });
    expect((await ask('/console/api/session', '', { method: 'POST', body })).status).to.equal(200);
    const answer = await ask('/console/api/sign-in/sso/callback?code=x&state=y', (await begin()).cookie);
    expect(answer.headers.get('location')).to.match(/refused=(refused|unavailable)$/);
    expect(await statusOf(cookie)).to.equal(200);
    provider.instead = undefined;
  });

  it('GET /v2/auditlogs has the sign-ins', async () => {
    const log = await (await ask('/v2/auditlogs', '', { headers: { authorization: OPERATOR } })).json();
    const lines = (log as { action_string: string; source: string }[]).filter(
      ({ action_string: action }) => action === 'Sign In',
    );
    expect(lines.some(({ source }) => source === 'PROVIDER - sso')).to.equal(true);
    expect(lines.some(({ source }) => source === 'API_KEY - default')).to.equal(true);
  });
});
