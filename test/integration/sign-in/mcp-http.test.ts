/**
 * `/mcp` over HTTP, called by the published client, with a real OpenID provider. Proves IDP3, MCA1, MCA2, MCA3,
 * MCE1, MCE2, MCS1, MCD1.
 */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import {
  Client,
  type OAuthClientInformation,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { generateKeyPair } from 'jose';
import { eventually } from '../../support/eventually.js';
import { ASSISTANT, ASSISTANT_CALLBACK, IdentityProviderStand } from '../../support/identity-provider.js';
import { endEverything, type MillraceProcess, startMillrace } from '../../support/millrace-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const ADA = 'ada@tests.example';

/** The part of an assistant that a person's browser plays. */
class Assistant implements OAuthClientProvider {
  readonly redirectUrl = ASSISTANT_CALLBACK;
  readonly clientMetadata: OAuthClientMetadata = { redirect_uris: [ASSISTANT_CALLBACK] };
  address: URL | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  clientInformation(): OAuthClientInformation {
    return { client_id: ASSISTANT };
  }
  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }
  redirectToAuthorization(address: URL): void {
    this.address = address;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
}

describe('/mcp', function () {
  this.timeout(180_000);
  const provider = new IdentityProviderStand();
  const clients: Client[] = [];
  let millrace: MillraceProcess;
  let url: URL;
  let resource: string;

  before(async () => {
    await provider.start([]);
    provider.people.set('ada', { email: ADA, groups: ['crew'] });
    provider.people.set('finn', { email: 'finn@tests.example', groups: ['books'] });
    millrace = await startMillrace({
      env: {
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: KEY,
        MILLRACE_MCP: 'change',
        MILLRACE_SIGN_IN_FAILURES: '0',
        MILLRACE_SIGN_IN_PROVIDERS: provider.setting([
          { group: 'crew', role: 'admin' },
          { group: 'books', role: 'finance' },
        ]),
      },
    });
    url = new URL('/mcp', millrace.addresses.mgmt);
    resource = url.href;
  });
  after(async () => {
    for (const client of clients) await client.close();
    await endEverything();
    await provider.stop();
  });

  type Way = { readonly asks?: boolean; readonly era?: 'auto' | 'legacy'; readonly agree?: boolean };

  async function connected(token: string, { asks = false, era = 'auto', agree = true }: Way = {}): Promise<Client> {
    const capabilities = asks ? { elicitation: {} } : {};
    const client = new Client({ name: 'a test', version: '1' }, { capabilities, versionNegotiation: { mode: era } });
    if (asks) {
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { agree } }));
    }
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    clients.push(client);
    return client;
  }

  async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content;
    return { text: first?.type === 'text' ? first.text : '', isError: isError === true };
  }

  const post = (authorization: string | undefined, more: Record<string, string> = {}, body = LIST) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(authorization !== undefined && { authorization }),
        ...more,
      },
      body,
    });

  const audit = async () => {
    const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
    const answer = await fetch(new URL('/v2/auditlogs', url), { headers: { authorization } });
    return JSON.stringify(await answer.json());
  };

  describe('with a provider', () => {
    it('names the provider in the metadata of the resource, to which a refusal leads', async () => {
      const refused = await post(undefined);
      expect(refused.status).to.equal(401);
      const [, at = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
      expect(new URL(at).pathname).to.equal('/.well-known/oauth-protected-resource/mcp');
      expect(await (await fetch(at)).json()).to.deep.include({
        resource,
        authorization_servers: [provider.issuer],
        scopes_supported: ['millrace:change'],
      });
      const server = (await (await fetch(new URL('/.well-known/oauth-authorization-server', url))).json()) as object;
      expect(server).to.deep.include({ issuer: provider.issuer, code_challenge_methods_supported: ['S256'] });
    });

    it('lets a client sign its user in with PKCE, and calls have the rights of the person', async () => {
      provider.tellsGroups = true;
      const assistant = new Assistant();
      const transport = () => new StreamableHTTPClientTransport(url, { authProvider: assistant });
      const first = transport();
      const client = new Client({ name: 'a test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      clients.push(client);
      const failure = await client.connect(first).catch((error: unknown) => error);
      expect(failure, String(failure)).to.be.instanceOf(UnauthorizedError);
      const asked = assistant.address?.searchParams;
      expect(asked?.get('resource')).to.equal(resource);
      expect(asked?.get('code_challenge_method')).to.equal('S256');
      const answered = new URL(await provider.signIn(assistant.address?.href ?? '', 'ada'));
      await first.finishAuth(answered.searchParams);
      await client.connect(transport());

      expect(await call(client, 'kv_post', { body: ['SET', 'by', 'ada'] })).to.deep.equal({
        text: '{"result":"OK"}',
        isError: false,
      });
      expect((await call(client, 'kv_post', { body: ['GET', 'by'] })).text).to.equal('{"result":"ada"}');
      await eventually(async () => {
        const lines = await audit();
        expect(lines).to.include(ADA).and.to.include('provider sso, MCP');
      });
      const replayed = await first.finishAuth(answered.searchParams).catch((error: unknown) => error);
      expect(String(replayed)).to.match(/grant/i);
    });

    const person = { sub: 'ada', email: ADA, email_verified: true, groups: ['crew'], scope: 'millrace:change' };

    it('refuses a token for another audience, of another issuer, that has expired or is forged', async () => {
      const { privateKey } = await generateKeyPair('RS256');
      const own = await provider.tokenOf({ ...person, aud: resource });
      const [head = '', , signature = ''] = own.split('.');
      const changed = Buffer.from(JSON.stringify({ ...person, aud: resource, iss: provider.issuer })).toString(
        'base64url',
      );
      const tokens = {
        'another audience': await provider.tokenOf({ ...person, aud: 'https://elsewhere.example/mcp' }),
        'the audience of the console': await provider.tokenOf({ ...person, aud: 'millrace' }),
        'no audience': await provider.tokenOf(person),
        'another issuer': await provider.tokenOf({ ...person, aud: resource, iss: 'https://elsewhere.example' }),
        expired: await provider.tokenOf({ ...person, aud: resource, exp: 1 }),
        'another key': await provider.tokenOf({ ...person, aud: resource }, privateKey),
        'changed claims': `${head}.${changed}.${signature}`,
        'no signature': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${changed}.AA`,
      };
      for (const [name, token] of Object.entries(tokens)) {
        const answer = await post(`Bearer ${token}`);
        expect(answer.status, `${name}: ${await answer.text()}`).to.equal(401);
        expect(answer.headers.get('www-authenticate'), name).to.include('error="invalid_token"');
      }
      expect((await post(`Bearer ${own}`)).status).to.equal(200);
    });

    it('refuses a person without a role, and gives a role no right that it has not', async () => {
      const stranger = { ...person, sub: 'eve', email: 'eve@tests.example', groups: ['none'], aud: resource };
      const refused = await post(`Bearer ${await provider.tokenOf(stranger)}`);
      expect([refused.status, await refused.text()].join(' ')).to.match(/^403 .*gives this person no role/);
      const books = { ...person, sub: 'finn', email: 'finn@tests.example', groups: ['books'], aud: resource };
      const client = await connected(await provider.tokenOf(books));
      const denied = await call(client, 'kv_post', { body: ['GET', 'by'] });
      expect(denied.isError, denied.text).to.equal(true);
      expect(denied.text).to.match(/^403/);
    });

    it('offers only tools that read to a token without the scope millrace:change', async () => {
      const client = await connected(await provider.tokenOf({ ...person, aud: resource, scope: 'openid' }));
      const { tools } = await client.listTools();
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).to.equal(true);
      const refused = await call(client, 'kv_post', { body: ['SET', 'by', 'x'] });
      expect(refused).to.deep.include({ isError: true });
      expect(refused.text).to.match(/Readonly/);
    });

    it('ends the session of a token when an administrator ends it', async () => {
      const token = await provider.tokenOf({ ...person, aud: resource, jti: 'to be ended' });
      const client = await connected(token);
      expect((await call(client, 'kv_post', { body: ['GET', 'by'] })).isError).to.equal(false);
      const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
      const sessions = new URL('/v2/sessions', url);
      const listed = (await (await fetch(sessions, { headers: { authorization } })).json()) as {
        session_id: string;
        email: string;
      }[];
      for (const { session_id: id, email } of listed.filter((one) => one.email === ADA)) {
        const ended = await fetch(`${sessions}/${id}`, { method: 'DELETE', headers: { authorization } });
        expect(ended.status, email).to.equal(200);
      }
      await eventually(async () => expect((await post(`Bearer ${token}`)).status).to.equal(401));
    });
  });

  describe('with an API key', () => {
    it('answers clients of both eras of the protocol', async () => {
      for (const era of ['auto', 'legacy'] as const) {
        const client = await connected(KEY, { era });
        expect(client.getNegotiatedProtocolVersion()).to.equal(era === 'auto' ? '2026-07-28' : '2025-11-25');
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).to.include.members(['kv_post', 'delete_v2_queues_name']);
        expect((await call(client, 'get_v2_kv_databases')).text).to.match(/"rest_token": ?"\(hidden\)"/);
      }
    });

    it('asks the user of a client that can ask before it removes data', async () => {
      const given = { body: ['DEL', 'greeting'] };
      await call(await connected(KEY), 'kv_post', { body: ['SET', 'greeting', 'hello'] });
      const declining = await call(await connected(KEY, { asks: true, agree: false }), 'kv_post', given);
      expect(declining).to.deep.equal({ text: 'The call was not made: the user did not agree.', isError: true });
      const agreed = await call(await connected(KEY, { asks: true }), 'kv_post', given);
      expect(agreed.text).to.equal('{"result":1}');
    });

    it('wants a code for other clients, which is for one call of one person', async () => {
      const client = await connected(KEY, { era: 'legacy' });
      const given = { body: ['DEL', 'other'] };
      const { text } = await call(client, 'kv_post', given);
      const code = /repeat the call with confirm (\S+)\.$/.exec(text)?.[1];
      const other = await call(client, 'kv_post', { body: ['DEL', 'third'], confirm: code });
      expect(other.text).to.match(/^The call was not made/);
      const ada = {
        sub: 'ada',
        email: ADA,
        email_verified: true,
        groups: ['crew'],
        scope: 'millrace:change',
        aud: resource,
      };
      const foreign = await connected(await provider.tokenOf({ ...ada, jti: 'second' }), { era: 'legacy' });
      expect((await call(foreign, 'kv_post', { ...given, confirm: code })).text).to.match(/^The call was not made/);
      expect((await call(client, 'kv_post', { ...given, confirm: code })).text).to.equal('{"result":0}');
    });

    it('answers prompts with facts of the installation', async () => {
      const client = await connected(KEY);
      const { text } = await call(client, 'get_v2_kv_databases');
      const [{ database_id }] = JSON.parse(text) as [{ database_id: string }];
      const asked = { name: 'what-changed-this-key', arguments: { database_id, key: 'greeting' } };
      const { messages } = await client.getPrompt(asked);
      expect(JSON.stringify(messages)).to.include('What changed the key').and.to.include('DEL');
    });

    it('writes a change to the audit log, with the person and the program', async () => {
      await call(await connected(KEY), 'kv_post', { body: ['SET', 'noted', '1'] });
      await eventually(async () => expect(await audit()).to.match(/CONSOLE - [^"}]*, MCP/));
    });

    it('refuses calls of an account above sixteen unanswered ones', async () => {
      const script = 'local n = 0 for i = 1, 1000000 do n = n + i end return n';
      const given = { name: 'kv_post', arguments: { body: ['EVAL', script, '0'] } };
      const slow = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: given });
      const answers = await Promise.all(Array.from({ length: 24 }, () => post(`Bearer ${KEY}`, {}, slow)));
      const statuses = answers.map(({ status }) => status);
      expect([...new Set(statuses)].sort()).to.deep.equal([200, 429]);
      expect(statuses.filter((status) => status === 200)).to.have.length.at.least(16);
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      expect(texts.join('\n')).to.include('this account has 16 unanswered ones');
    });

    it('refuses another host, another origin, a wrong key and a long body; a session id has no meaning', async () => {
      const key = `Bearer ${KEY}`;
      const statusOf = async (answer: Promise<Response>) => (await answer).status;
      expect(await statusOf(post('Bearer wrong'))).to.equal(401);
      const named = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { host: 'elsewhere.example', authorization: key };
        const sent = request(url, { method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on('error', reject).end(LIST);
      });
      expect(named).to.equal(403);
      expect(await statusOf(post(key, { origin: 'https://elsewhere.example' }))).to.equal(403);
      expect(await statusOf(post(key, { origin: 'null' }))).to.equal(403);
      expect(await statusOf(post(key, { origin: url.origin }))).to.equal(200);
      expect(await statusOf(post(key, {}, randomBytes(600_000).toString('hex')))).to.equal(413);
      expect(await statusOf(post(key, { 'mcp-session-id': 'of another client' }))).to.equal(200);
      expect(await statusOf(post('Bearer wrong', { 'mcp-session-id': 'of another client' }))).to.equal(401);
      expect(await statusOf(fetch(url, { headers: { authorization: key } }))).to.equal(405);
    });
  });
});

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
