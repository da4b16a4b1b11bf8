/** Identity providers over OpenID Connect, against a real provider. Proves IDP1, IDP2. */
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { OpenIdProviders } from '../../../src/adapters/oidc/index.js';
import { readSignInProviders, Secret } from '../../../src/config/index.js';
import type { MillraceError } from '../../../src/kernel/index.js';
import { IdentityProviderStand } from '../../support/identity-provider.js';

const CALLBACK = 'http://127.0.0.1:1/console/api/sign-in/sso/callback';

async function failureOf(work: Promise<unknown>): Promise<MillraceError> {
  try {
    await work;
  } catch (error) {
    return error as MillraceError;
  }
  throw new Error('it did not fail');
}

/** A provider that issues a token chosen by the test. */
class ForgedProvider {
  token = '';
  mode: 'honest' | 'endless' | 'silent' = 'honest';
  #server: Server | undefined;
  #issuer = '';
  readonly #keys = generateKeyPair('RS256');
  readonly #others = generateKeyPair('RS256');

  async start(): Promise<void> {
    const { publicKey } = await this.#keys;
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
    const server = createServer((request, response) => {
      const issuer = this.#issuer;
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
      };
      const token = { access_token: 'a', token_type: 'Bearer', id_token: this.token };
      const answer = { '/jwks': { keys: [jwk] }, '/token': token }[request.url ?? ''] ?? metadata;
      response.setHeader('Content-Type', 'application/json');
      if (this.mode === 'honest') response.end(JSON.stringify(answer));
      else if (this.mode === 'endless') {
        const piece = Buffer.alloc(64 * 1024, 0x20);
        const more = () => {
          while (!response.destroyed && response.write(piece));
        };
        response.on('drain', more);
        more();
      }
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async providers(): Promise<OpenIdProviders> {
    const roles = [{ group: 'crew', role: 'dev' }];
    const setting = [{ name: 'sso', issuer: this.#issuer, clientId: 'millrace', roles }];
    return providersOf(JSON.stringify(setting));
  }

  async idToken(claims: object, sign: 'own' | 'foreign' | 'none'): Promise<string> {
    const nowS = Math.floor(Date.now() / 1000);
    const person = { sub: 'mallory', email: 'm@b.example', email_verified: true, groups: ['crew'] };
    const all = { iss: this.#issuer, aud: 'millrace', iat: nowS, exp: nowS + 60, ...person, ...claims };
    if (sign === 'none') return new UnsecuredJWT(all).encode();
    const { privateKey } = await (sign === 'own' ? this.#keys : this.#others);
    return new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(privateKey);
  }
}

function providersOf(setting: string): OpenIdProviders {
  return new OpenIdProviders(readSignInProviders(new Secret(setting)), {
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    secretOf: (text) => text,
  });
}

describe('an identity provider', () => {
  const provider = new IdentityProviderStand();
  let providers: OpenIdProviders;

  before(async () => {
    await provider.start([CALLBACK], ['http://127.0.0.1:1/console/']);
    provider.people.set('ada', { email: 'Ada@b.example', groups: ['crew'] });
    provider.people.set('eve', { email: 'ada@b.example', isVerified: false, groups: ['crew'] });
    providers = providersOf(provider.setting([{ group: 'crew', role: 'dev' }]));
  });
  after(() => provider.stop());

  it('signs a person in with groups, and reports a removed group at the next check', async () => {
    const begun = await providers.begin('sso', CALLBACK);
    const answered = await provider.signIn(begun.url, 'ada');
    const identity = await providers.finish('sso', answered, begun);
    expect(identity).to.deep.include({ subject: 'ada', email: 'ada@b.example', groups: ['crew'] });
    expect(identity.tokens.refresh).to.be.a('string');
    provider.people.set('ada', { email: 'ada@b.example', groups: [] });
    expect((await providers.check('sso', 'ada', identity.tokens)).groups).to.deep.equal([]);
    const refreshed = await providers.check('sso', 'ada', { ...identity.tokens, accessUntilMs: 0 });
    expect(refreshed.groups).to.deep.equal([]);
    expect(refreshed.tokens.access).not.to.equal(identity.tokens.access);
  });

  it('signs no unverified address in', async () => {
    const begun = await providers.begin('sso', CALLBACK);
    const identity = await providers.finish('sso', await provider.signIn(begun.url, 'eve'), begun);
    expect([identity.subject, identity.email]).to.deep.equal(['eve', undefined]);
  });

  it('signs a device in after its code was confirmed', async () => {
    const device = await providers.beginDevice('sso');
    expect(await providers.finishDevice('sso', device.deviceCode)).to.equal(undefined);
    provider.people.set('ada', { email: 'ada@b.example', groups: ['crew'] });
    await provider.confirmDevice(device.url, 'ada');
    const identity = await providers.finishDevice('sso', device.deviceCode);
    expect(identity).to.deep.include({ subject: 'ada', email: 'ada@b.example', groups: ['crew'] });
    const again = await failureOf(providers.finishDevice('sso', device.deviceCode));
    expect([again.code, again.message]).to.deep.equal(['INVALID', 'the identity provider sso refused: invalid_grant']);
  });

  it('names where its session is ended', async () => {
    const url = new URL((await providers.logoutUrl('sso', undefined, 'http://127.0.0.1:1/console/')) as string);
    expect([url.origin, url.searchParams.get('client_id')]).to.deep.equal([provider.issuer, 'millrace']);
  });

  it('that does not exist is not found', async () => {
    expect((await failureOf(providers.begin('other', CALLBACK))).code).to.equal('NOT_FOUND');
  });
});

describe('a dishonest identity provider', () => {
  const forger = new ForgedProvider();
  before(() => forger.start());
  after(() => forger.stop());

  async function finished(claims: object, sign: 'own' | 'foreign' | 'none' = 'own') {
    const providers = await forger.providers();
    const begun = await providers.begin('sso', CALLBACK);
    forger.token = await forger.idToken({ nonce: begun.nonce, ...claims }, sign);
    return providers.finish('sso', `${CALLBACK}?code=c&state=${begun.state}`, begun);
  }

  it('signs in with an honest token, so that the refusals below have one cause', async () => {
    expect(await finished({})).to.deep.include({ subject: 'mallory', email: 'm@b.example', groups: ['crew'] });
  });

  for (const [about, claims, sign] of [
    ['another audience', { aud: 'other' }, 'own'],
    ['another issuer', { iss: 'http://127.0.0.1:2' }, 'own'],
    ['an end in the past', { exp: 1 }, 'own'],
    ['another nonce', { nonce: 'x' }, 'own'],
    ['a signature by another key', {}, 'foreign'],
    ['no signature', {}, 'none'],
  ] as const) {
    it(`cannot sign in with a token of ${about} (IDP1)`, async () => {
      const failure = await failureOf(finished(claims, sign));
      expect(failure.code).to.equal('INVALID');
      expect(failure.message).not.to.include(forger.token); // IDP2
    });
  }

  it('that answers without end or not at all is given up (IDP2)', async () => {
    const providers = await forger.providers();
    const begun = await providers.begin('sso', CALLBACK);
    for (const mode of ['endless', 'silent'] as const) {
      forger.mode = mode;
      const failure = await failureOf(providers.finish('sso', `${CALLBACK}?code=c&state=${begun.state}`, begun));
      expect(failure.code, mode).to.equal('TIMED_OUT');
    }
    forger.mode = 'honest';
  });
});
