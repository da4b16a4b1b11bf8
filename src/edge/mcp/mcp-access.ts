/**
 * The callers of `/mcp`: an API key of the installation, or an access token that an identity provider has issued for
 * this resource. Both become a session of the person, so that rights, roles, audit log and sign-out are the same.
 *
 *  MCA1 a token counts only with a checked signature, time, issuer and this resource as audience; it is never sent on
 *  MCA2 without the setting `change` and, for a token of a provider, the scope CHANGE_SCOPE, the session only reads
 *  MCA3 a token has one session, which ends with the token, with the person's role, or when an administrator ends it
 */
import { createHash } from 'node:crypto';
import { isMillraceError } from '../../kernel/index.js';
import type {
  AccessIdentity,
  Clock,
  IdentityProviders,
  ManagementAccess,
  ManagementControl,
} from '../../ports/index.js';
import { tooManyFailures } from '../error-map.js';
import { basicCredentials, bearerToken } from '../http/credentials.js';
import { RefusedRequest } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import type { OpenedSession, SealedSessions } from '../sessions/sealed-sessions.js';
import { recordProviderSession } from '../sessions/session-start.js';
import type { SignIns } from '../sign-in-guard.js';

export const CHANGE_SCOPE = 'millrace:change';
const BY = 'MCP';
/** The session of a call with a key: longer than any call. */
const CALL_SESSION_MS = 300_000;
/** Tokens in use at a time. The one that was used longest ago leaves, and is checked again at its next call. */
const MAX_TOKENS = 1_000;
/** Tokens of providers with many groups have some kilobytes. */
const MAX_TOKEN_CHARACTERS = 16 * 1024;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export interface McpAccessParts {
  readonly access: ManagementAccess;
  readonly control: ManagementControl;
  readonly clock: Clock;
  readonly sessions: SealedSessions;
  readonly providers: IdentityProviders | undefined;
  readonly signIns: SignIns;
  readonly mayChange: boolean;
  /** The URL of this endpoint for clients. */
  readonly resource: () => string;
  /** The address of the resource's metadata, if there is a provider. */
  readonly metadataUrl: () => string | undefined;
}

export interface McpClient {
  readonly address: string;
  readonly agent: string;
}

export interface McpCaller extends OpenedSession {
  /** Sealed. */
  readonly text: string;
}

export class McpAccess {
  /** Sessions by the hash of their token, in the order of their last use. */
  readonly #sessions = new Map<string, string>();

  constructor(private readonly parts: McpAccessParts) {}

  /** A promise while a provider is asked. @throws Refused 401, 403, 429; CONTROL_STALE, TIMED_OUT */
  callerOf(authorization: string | undefined, client: McpClient): McpCaller | Promise<McpCaller> {
    const token = bearerToken(authorization);
    if (token === undefined || this.parts.providers === undefined || !JWT.test(token)) {
      return this.#ofKey(authorization, token, client);
    }
    if (token.length > MAX_TOKEN_CHARACTERS) throw this.#refused('the access token is too long');
    const hash = createHash('sha256').update(token, 'utf8').digest('base64url');
    const known = this.#sessions.get(hash);
    if (known === undefined) return this.#ofToken(token, hash, client);
    this.#sessions.delete(hash);
    this.#sessions.set(hash, known);
    return this.#opened(known);
  }

  #ofKey(authorization: string | undefined, token: string | undefined, { address }: McpClient): McpCaller {
    const { access, signIns, sessions, mayChange, clock } = this.parts;
    const credentials = basicCredentials(authorization);
    const secret = credentials?.key ?? token;
    if (secret === undefined) throw this.#refused();
    const signingIn = { signIns, address: () => address, secret, name: credentials?.email };
    const grant = signedIn(signingIn, () =>
      credentials === undefined ? access.grantForBearer(secret) : access.grantForKey(credentials.email, secret),
    );
    if (grant === undefined) throw this.#refused('unknown API key');
    const program = { by: BY, isReadOnly: !mayChange, untilMs: clock.nowMs() + CALL_SESSION_MS };
    return this.#opened(sessions.begin({ email: grant.email, key: secret }, program).text);
  }

  async #ofToken(token: string, hash: string, client: McpClient): Promise<McpCaller> {
    const { signIns } = this.parts;
    const wait = signIns.isQuiet ? undefined : signIns.waitOf(client.address, '');
    if (wait !== undefined) throw new RefusedRequest(tooManyFailures(wait));
    try {
      const text = await this.#begun(await this.#identityOf(token), hash, client);
      this.#sessions.set(hash, text);
      const [oldest] = this.#sessions.keys();
      if (this.#sessions.size > MAX_TOKENS && oldest !== undefined) this.#sessions.delete(oldest);
      return this.#opened(text);
    } catch (error) {
      if (error instanceof RefusedRequest) signIns.failed(client.address);
      throw error;
    }
  }

  /** @throws Refused 401; TIMED_OUT */
  async #identityOf(token: string): Promise<AccessIdentity> {
    const { providers, resource } = this.parts;
    try {
      return await (providers as IdentityProviders).identityOf(token, resource());
    } catch (error) {
      if (isMillraceError(error, 'INVALID')) throw this.#refused(error.message);
      throw error;
    }
  }

  /** @throws Refused 403 without a role; errors of the connection to the control actor */
  async #begun(identity: AccessIdentity, hash: string, { address: ip, agent }: McpClient): Promise<string> {
    const { access, control, sessions, providers, mayChange } = this.parts;
    const { provider, subject, groups, scopes, untilMs } = identity;
    const person = access.personOf(provider, subject);
    const email = identity.email ?? person?.email;
    const rules = providers?.rolesOf(provider) ?? [];
    const roles = groups === undefined ? person?.roles : access.rolesOfGroups(rules, groups, provider);
    const account = roles?.[0]?.account;
    if (email === undefined || roles === undefined || account === undefined) {
      const text = `the provider ${provider} gives this person no role here: sign in to the console first, or put e-mail and groups into the access token`;
      throw new RefusedRequest({ status: 403, text });
    }
    const isReadOnly = !mayChange || !scopes.includes(CHANGE_SCOPE);
    const name = `ses_mcp_${hash}`;
    const { text } = sessions.begin({ email, account }, { by: BY, isReadOnly, untilMs, name });
    const session = { name, email, account, provider, ip, agent, untilMs, tokens: '' };
    await recordProviderSession(control, session, { subject, roles });
    return text;
  }

  /** @throws Refused 401 after its end */
  #opened(text: string): McpCaller {
    const session = this.parts.sessions.opened(text);
    if (session === undefined) throw this.#refused('the session of this access token has ended');
    return { ...session, text };
  }

  /** Tells a client where to get a token (RFC 9728, RFC 6750). @param wrong undefined: no credentials were sent */
  #refused(wrong?: string): RefusedRequest {
    const { metadataUrl, mayChange } = this.parts;
    const url = metadataUrl();
    const fields = [
      'realm="millrace"',
      ...(wrong === undefined ? [] : ['error="invalid_token"', `error_description="${wrong.replace(/["\\]/g, "'")}"`]),
      ...(url === undefined ? [] : [`resource_metadata="${url}"`]),
      ...(url === undefined || !mayChange ? [] : [`scope="${CHANGE_SCOPE}"`]),
    ];
    const text = `unauthorized: ${wrong ?? 'no credentials: send an API key or an access token as a bearer token'}`;
    return new RefusedRequest({ status: 401, text }, { 'WWW-Authenticate': `Bearer ${fields.join(', ')}` });
  }
}
