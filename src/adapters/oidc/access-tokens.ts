/**
 * Access tokens that providers issue for a resource of this installation. The library for signatures is loaded with the
 * first token.
 */
import { MillraceError } from '../../kernel/index.js';
import { boundedFetch } from './bounded-fetch.js';

type Library = typeof import('jose');
type KeySet = ReturnType<Library['createRemoteJWKSet']>;
type FetchKeys = import('jose').FetchImplementation;
type Claims = Awaited<ReturnType<Library['jwtVerify']>>['payload'];

/** The provider signs with a key that this installation does not have. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
/** A provider may be asked again if its keys cannot be read; any other failure is of the token. */
const UNANSWERED = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC']);

/** A provider, as tokens name it. */
export interface TokenIssuer {
  readonly name: string;
  readonly issuer: string;
  readonly keysUrl: string | undefined;
}

export class AccessTokens {
  #library: Promise<Library> | undefined;
  /** By URL. A set reads the keys again for an unknown key, twice a minute at most. */
  readonly #keys = new Map<string, KeySet>();

  /** The issuer that the token names, which is not checked yet. @throws INVALID */
  async issuerOf(token: string): Promise<string> {
    const { decodeJwt } = await this.#loaded();
    try {
      const { iss } = decodeJwt(token);
      if (iss !== undefined) return iss;
    } catch {
      // The next line refuses it.
    }
    throw new MillraceError('INVALID', 'the access token is no JSON Web Token with an issuer');
  }

  /** @throws INVALID with the reason, TIMED_OUT */
  async claimsOf(
    token: string,
    resource: string,
    { name, issuer, keysUrl }: TokenIssuer,
    nowMs: number,
  ): Promise<Claims> {
    if (keysUrl === undefined) throw new MillraceError('INVALID', `the provider ${name} publishes no keys`);
    const { jwtVerify } = await this.#loaded();
    try {
      const { payload } = await jwtVerify(token, await this.#keySet(keysUrl), {
        issuer,
        audience: resource,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        currentDate: new Date(nowMs),
      });
      return payload;
    } catch (error) {
      const { code, message } = error as { readonly code?: unknown; readonly message: string };
      if (typeof code === 'string' && code.startsWith('ERR_J') && !UNANSWERED.has(code)) {
        throw new MillraceError('INVALID', `the access token is not valid: ${message}`);
      }
      throw new MillraceError('TIMED_OUT', `the keys of the identity provider ${name} cannot be read`, {}, error);
    }
  }

  async #keySet(url: string): Promise<KeySet> {
    const library = await this.#loaded();
    const known = this.#keys.get(url);
    if (known !== undefined) return known;
    const fetchKeys: FetchKeys = (at, { headers, ...asked }) =>
      boundedFetch(at, { ...asked, body: undefined, headers: Object.fromEntries(headers) });
    const keys = library.createRemoteJWKSet(new URL(url), { [library.customFetch]: fetchKeys });
    this.#keys.set(url, keys);
    return keys;
  }

  #loaded(): Promise<Library> {
    this.#library ??= import('jose');
    return this.#library;
  }
}
