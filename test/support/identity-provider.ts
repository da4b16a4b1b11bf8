/** A real OpenID provider on loopback with named users; a sign-in takes one call and no browser. */
import { createServer, type Server } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';

export interface Person {
  readonly email: string;
  readonly isVerified?: boolean;
  groups: string[];
}

const REQUEST_MS = 10_000;

export class IdentityProviderStand {
  readonly people = new Map<string, Person>();
  /** The lifetime of access tokens in seconds, read when a token is issued. */
  accessSeconds = 3600;
  /** If set, answers all requests in place of the provider. */
  instead: ((url: string) => { readonly status: number; readonly body: string } | undefined) | undefined;
  /** If true, access tokens for resources contain the user's e-mail address and groups. */
  tellsGroups = false;
  readonly #keys = generateKeyPair('RS256', { extractable: true });
  #server: Server | undefined;
  issuer = '';

  async start(redirectUris: readonly string[], logoutUris: readonly string[] = []): Promise<this> {
    const server = createServer();
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const provider = new Provider(this.issuer, await this.#configuration(redirectUris, logoutUris));
    const answer = provider.callback();
    server.on('request', (request, response) => {
      const given = this.instead?.(request.url ?? '');
      if (given === undefined) void answer(request, response);
      else response.writeHead(given.status, { 'Content-Type': 'application/json' }).end(given.body);
    });
    return this;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  /** A token signed as the provider does. @param key the provider's own by default */
  async tokenOf(claims: JWTPayload, key?: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']): Promise<string> {
    const nowS = Math.floor(Date.now() / 1000);
    const all = { iss: this.issuer, iat: nowS, exp: nowS + 600, client_id: ASSISTANT, ...claims };
    const header = { alg: 'RS256', kid: KEY_ID, typ: 'at+jwt' };
    return new SignJWT(all).setProtectedHeader(header).sign(key ?? (await this.#keys).privateKey);
  }

  /** The value of the setting, a JSON list with the role rules. */
  setting(roles: readonly object[], over: object = {}): string {
    const { issuer } = this;
    return JSON.stringify([
      { name: 'sso', label: 'Company', issuer, clientId: 'millrace', clientSecret: SECRET, roles, ...over },
    ]);
  }

  /**
   * Signs a user in, as a browser does that follows redirects and fills in the provider's forms.
   * @returns the URL of the callback with the provider's answer
   */
  signIn(url: string, name: string): Promise<string> {
    return this.#filledIn(url, name, () => false);
  }

  async #filledIn(url: string, name: string, isEnd: (page: string) => boolean): Promise<string> {
    const jar = new Map<string, string>();
    let at = url;
    let form: URLSearchParams | undefined;
    for (let step = 0; step < 12; step += 1) {
      const answer = await fetch(at, {
        redirect: 'manual',
        headers: { cookie: [...jar].map(([key, value]) => `${key}=${value}`).join('; ') },
        signal: AbortSignal.timeout(REQUEST_MS),
        ...(form !== undefined && { method: 'POST', body: form }),
      });
      form = undefined;
      for (const cookie of answer.headers.getSetCookie()) {
        const [key = '', value = ''] = (cookie.split(';')[0] as string).split('=');
        if (value === '') jar.delete(key);
        else jar.set(key, value);
      }
      const next = answer.headers.get('location');
      if (next !== null) {
        at = new URL(next, at).href;
        if (!at.startsWith(this.issuer)) return at;
        continue;
      }
      const page = await answer.text();
      if (isEnd(page)) return at;
      const hidden = [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
      form = new URLSearchParams(hidden.map(([, key = '', value = '']): [string, string] => [key, value]));
      if (page.includes('name="login"')) form.set('login', name);
      if (page.includes('name="login"')) form.set('password', 'x');
      const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
      if (action === undefined)
        throw new Error(`the provider answered ${answer.status} at ${at}: ${page.slice(0, 300)}`);
      at = new URL(action, at).href;
    }
    throw new Error(`the provider does not lead back: ${at}`);
  }

  /** Confirms a device code in the same way. */
  async confirmDevice(url: string, name: string): Promise<void> {
    await this.#filledIn(url, name, (page) => page.includes('signed in') || page.includes('Sign-in Success'));
  }

  async #configuration(redirectUris: readonly string[], logoutUris: readonly string[]): Promise<Configuration> {
    const jwk = { ...(await exportJWK((await this.#keys).privateKey)), kid: KEY_ID, alg: 'RS256', use: 'sig' };
    return {
      jwks: { keys: [jwk] },
      clients: [
        {
          client_id: 'millrace',
          client_secret: SECRET,
          redirect_uris: [...redirectUris],
          post_logout_redirect_uris: [...logoutUris],
          grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
          response_types: ['code'],
        },
        {
          client_id: ASSISTANT,
          token_endpoint_auth_method: 'none',
          application_type: 'native',
          redirect_uris: [ASSISTANT_CALLBACK],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        },
      ],
      cookies: { keys: ['of tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
      features: {
        devInteractions: { enabled: true },
        deviceFlow: { enabled: true },
        rpInitiatedLogout: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => [],
          useGrantedResource: () => true,
          getResourceServerInfo: (_context, resource) => ({
            scope: 'millrace:change',
            audience: resource,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      extraTokenClaims: (_context, token) => {
        const person = this.people.get('accountId' in token ? String(token.accountId) : '');
        if (!this.tellsGroups || person === undefined) return undefined;
        return { email: person.email, email_verified: true, groups: [...person.groups] };
      },
      ttl: { AccessToken: () => this.accessSeconds },
      findAccount: (_context, id) => {
        const person = this.people.get(id);
        if (person === undefined) return undefined;
        const { email, isVerified = true, groups } = person;
        return { accountId: id, claims: () => ({ sub: id, email, email_verified: isVerified, groups: [...groups] }) };
      },
    };
  }
}

/** A client without a secret, which uses PKCE. */
export const ASSISTANT = 'assistant';
export const ASSISTANT_CALLBACK = 'http://127.0.0.1:2/callback';
const KEY_ID = 'key-of-tests';
const SECRET = 'the-secret-of-the-client-millrace';
