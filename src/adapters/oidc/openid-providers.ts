/**
 * Identity providers of the settings. The library for OpenID Connect is loaded with the first sign-in, and a provider's
 * own description an hour at most before it is used.
 */
import type { Configuration } from 'openid-client';
import type { SignInProvider } from '../../config/index.js';
import { MillraceError } from '../../kernel/index.js';
import type {
  AccessIdentity,
  BegunDevice,
  BegunSignIn,
  Clock,
  IdentityProviders,
  ProviderIdentity,
  ProviderTokens,
} from '../../ports/index.js';
import { AccessTokens } from './access-tokens.js';
import { boundedFetch } from './bounded-fetch.js';

interface OpenIdPorts {
  readonly clock: Clock;
  /** Reads a secret that is a reference; called each time when the provider's description is read. */
  secretOf(text: string): string;
}

type Library = typeof import('openid-client');
type Claims = Readonly<Record<string, unknown>>;
type TokenAnswer = Pick<
  Awaited<ReturnType<Library['refreshTokenGrant']>>,
  'access_token' | 'expires_in' | 'refresh_token' | 'id_token' | 'claims'
>;

/** New keys and addresses of a provider are known after this time; its clients' secrets, too. */
const DISCOVERY_MS = 3_600_000;
/** After a failure strangers cannot make this process ask again and again. */
const RETRY_MS = 2_000;
/** A token that ends within a check's time is refreshed. */
const MARGIN_MS = 15_000;
/** A provider that names no end of an access token is asked again after this time. */
const DEFAULT_TOKEN_MS = 300_000;
/** Groups of one person; more are not compared with the rules. */
const MAX_GROUPS = 1_000;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

interface Known {
  readonly config: Promise<Configuration>;
  readonly sinceMs: number;
}

export class OpenIdProviders implements IdentityProviders {
  readonly #options: ReadonlyMap<string, SignInProvider>;
  readonly #known = new Map<string, Known>();
  readonly #accessTokens = new AccessTokens();
  #library: Promise<Library> | undefined;

  constructor(
    options: readonly SignInProvider[],
    private readonly ports: OpenIdPorts,
  ) {
    this.#options = new Map(options.map((one) => [one.name, one]));
  }

  get all() {
    return [...this.#options.values()].map(({ name, label }) => ({ name, label }));
  }

  rolesOf(provider: string) {
    return this.#options.get(provider)?.roles ?? [];
  }

  async begin(provider: string, returnTo: string): Promise<BegunSignIn> {
    const { library, config, options } = await this.#ready(provider);
    const [state, nonce, verifier] = [library.randomState(), library.randomNonce(), library.randomPKCECodeVerifier()];
    const url = library.buildAuthorizationUrl(config, {
      redirect_uri: returnTo,
      scope: options.scopes,
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      // Without it some providers give no refresh token, and the session would end with the access token.
      ...(options.scopes.includes('offline_access') && { prompt: 'consent' }),
    });
    return { url: url.href, state, nonce, verifier };
  }

  async finish(
    provider: string,
    answered: string,
    { state, nonce, verifier }: Omit<BegunSignIn, 'url'>,
  ): Promise<ProviderIdentity> {
    const ready = await this.#ready(provider);
    const answer = await asked(provider, () =>
      ready.library.authorizationCodeGrant(ready.config, new URL(answered), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }),
    );
    return this.#identity(provider, ready, answer);
  }

  async check(provider: string, subject: string, tokens: ProviderTokens): Promise<ProviderIdentity> {
    const ready = await this.#ready(provider);
    const isFresh = tokens.hasUserGroups && tokens.accessUntilMs - MARGIN_MS > this.ports.clock.nowMs();
    if (isFresh) {
      const user = await asked(provider, () => ready.library.fetchUserInfo(ready.config, tokens.access, subject));
      return identityOf(ready.options, user, tokens);
    }
    const { refresh } = tokens;
    if (refresh === undefined)
      throw new MillraceError('INVALID', 'the access token has ended, without one to refresh it');
    const answer = await asked(provider, () => ready.library.refreshTokenGrant(ready.config, refresh));
    return this.#identity(provider, ready, answer, { subject, tokens });
  }

  async logoutUrl(provider: string, tokens: ProviderTokens | undefined, returnTo: string): Promise<string | undefined> {
    try {
      const { library, config, options } = await this.#ready(provider);
      const id = tokens?.id;
      return library.buildEndSessionUrl(config, {
        post_logout_redirect_uri: returnTo,
        client_id: options.clientId,
        ...(id !== undefined && { id_token_hint: id }),
      }).href;
    } catch {
      return undefined;
    }
  }

  async beginDevice(provider: string): Promise<BegunDevice> {
    const { library, config, options } = await this.#ready(provider);
    if (config.serverMetadata().device_authorization_endpoint === undefined) {
      throw new MillraceError('INVALID', `the provider ${provider} offers no sign-in of devices`);
    }
    const begun = await asked(provider, () => library.initiateDeviceAuthorization(config, { scope: options.scopes }));
    return {
      deviceCode: begun.device_code,
      userCode: begun.user_code,
      url: begun.verification_uri_complete ?? begun.verification_uri,
      intervalMs: (begun.interval ?? 5) * 1000,
      untilMs: this.ports.clock.nowMs() + begun.expires_in * 1000,
    };
  }

  async finishDevice(provider: string, deviceCode: string): Promise<ProviderIdentity | undefined> {
    const ready = await this.#ready(provider);
    try {
      const grant = { device_code: deviceCode };
      const answer = await ready.library.genericGrantRequest(ready.config, DEVICE_GRANT, grant);
      return await this.#identity(provider, ready, answer);
    } catch (error) {
      const code = (error as { error?: unknown }).error;
      if (code === 'authorization_pending' || code === 'slow_down') return undefined;
      throw refusalOf(provider, error);
    }
  }

  get issuers() {
    return [...this.#options.values()].map(({ issuer }) => issuer);
  }

  async descriptionOf(provider: string): Promise<object> {
    const { config } = await this.#ready(provider);
    return config.serverMetadata();
  }

  async identityOf(accessToken: string, resource: string): Promise<AccessIdentity> {
    const issuer = await this.#accessTokens.issuerOf(accessToken);
    const named = [...this.#options.values()].find((one) => withoutSlash(one.issuer) === withoutSlash(issuer));
    if (named === undefined) throw new MillraceError('INVALID', 'the access token is of an issuer without a setting');
    const { options, config } = await this.#ready(named.name);
    const { issuer: own, jwks_uri: keysUrl } = config.serverMetadata();
    const from = { name: options.name, issuer: own, keysUrl };
    const claims = await this.#accessTokens.claimsOf(accessToken, resource, from, this.ports.clock.nowMs());
    const { sub, email, groups } = { ...claims, email: emailOf(options, claims), groups: claims[options.groupsClaim] };
    const scopes = typeof claims.scope === 'string' ? claims.scope : claims.scp;
    return {
      provider: options.name,
      subject: String(sub),
      email,
      groups: Array.isArray(groups) ? groups.slice(0, MAX_GROUPS).map(String) : undefined,
      scopes: Array.isArray(scopes) ? scopes.map(String) : String(scopes ?? '').split(' '),
      untilMs: (claims.exp as number) * 1000,
    };
  }

  /** Claims of the id token, and of the userinfo endpoint if the provider has one. */
  async #identity(
    provider: string,
    { library, config, options }: Ready,
    answer: TokenAnswer,
    before?: { readonly subject: string; readonly tokens: ProviderTokens },
  ): Promise<ProviderIdentity> {
    const ofToken = answer.claims();
    const subject = ofToken?.sub ?? before?.subject;
    if (subject === undefined) throw new MillraceError('INVALID', `the provider ${provider} gave no id token`);
    if (before !== undefined && before.subject !== subject) {
      throw new MillraceError('INVALID', `the provider ${provider} refreshed the token of another subject`);
    }
    const hasUsers = config.serverMetadata().userinfo_endpoint !== undefined;
    const user: Claims = hasUsers
      ? await asked(provider, () => library.fetchUserInfo(config, answer.access_token, subject))
      : {};
    const tokens: ProviderTokens = {
      access: answer.access_token,
      accessUntilMs: this.ports.clock.nowMs() + (answer.expires_in ?? DEFAULT_TOKEN_MS / 1000) * 1000,
      refresh: answer.refresh_token ?? before?.tokens.refresh,
      id: answer.id_token ?? before?.tokens.id,
      hasUserGroups: user[options.groupsClaim] !== undefined,
    };
    return identityOf(options, { ...ofToken, ...user, sub: subject }, tokens);
  }

  /** @throws NOT_FOUND, TIMED_OUT */
  async #ready(provider: string): Promise<Ready> {
    const options = this.#options.get(provider);
    if (options === undefined) throw new MillraceError('NOT_FOUND', `no identity provider is named ${provider}`);
    this.#library ??= import('openid-client');
    const library = await this.#library;
    const known = this.#known.get(provider);
    const isCurrent = known !== undefined && this.ports.clock.nowMs() - known.sinceMs < DISCOVERY_MS;
    const config = isCurrent ? known.config : this.#discover(library, options);
    return { library, options, config: await config };
  }

  #discover(library: Library, options: SignInProvider): Promise<Configuration> {
    const { name, issuer, clientId, clientSecret } = options;
    const config = asked(name, () => {
      const secret = clientSecret === undefined ? undefined : this.ports.secretOf(clientSecret);
      const execute = [library.enableNonRepudiationChecks];
      if (issuer.startsWith('http:')) execute.push(library.allowInsecureRequests);
      return library.discovery(new URL(issuer), clientId, secret, secret === undefined ? library.None() : undefined, {
        execute,
        [library.customFetch]: boundedFetch,
      });
    });
    const known = { config, sinceMs: this.ports.clock.nowMs() };
    this.#known.set(name, known);
    config.catch(() => this.#known.set(name, { config, sinceMs: known.sinceMs - DISCOVERY_MS + RETRY_MS }));
    return config;
  }
}

interface Ready {
  readonly library: Library;
  readonly config: Configuration;
  readonly options: SignInProvider;
}

function identityOf(options: SignInProvider, claims: Claims, tokens: ProviderTokens): ProviderIdentity {
  const groups = claims[options.groupsClaim];
  return {
    subject: String(claims.sub),
    email: emailOf(options, claims),
    groups: Array.isArray(groups) ? groups.slice(0, MAX_GROUPS).map(String) : [],
    tokens,
  };
}

/** In lower case; undefined for an address that the provider has not verified. */
function emailOf({ trustsEmails }: SignInProvider, { email, email_verified: isVerified }: Claims): string | undefined {
  const isTrusted = isVerified === true || (isVerified === undefined && trustsEmails);
  return typeof email === 'string' && isTrusted ? email.toLowerCase() : undefined;
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

async function asked<T>(provider: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw refusalOf(provider, error);
  }
}

/** A refusal by the provider or of its answer is final; a provider that cannot be reached may be asked again. */
function refusalOf(provider: string, error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  const { code, error: named, status, cause } = error as Partial<Record<string, unknown>>;
  const text = `the identity provider ${provider}`;
  const isRefusal = typeof named === 'string' || (typeof status === 'number' && status >= 400 && status < 500);
  if (isRefusal) return new MillraceError('INVALID', `${text} refused: ${String(named ?? status)}`);
  if (typeof code === 'string' && code.startsWith('OAUTH_') && !isPassing(code, cause)) {
    return new MillraceError('INVALID', `${text} gave an answer that is not valid: ${(error as Error).message}`);
  }
  return new MillraceError('TIMED_OUT', `${text} did not answer`, {}, error);
}

function isPassing(code: string, cause: unknown): boolean {
  const status = cause instanceof Response ? cause.status : 0;
  return code === 'OAUTH_TIMEOUT' || status >= 500 || status === 429;
}
