/** Reads the token of a request. `Access` looks up its grant. */
import { type ByteString, textOfHeader } from '../../kernel/index.js';
import type { Access, KvGrant } from '../../ports/index.js';
import { closureOf } from '../commands/admission.js';
import { REFUSALS, type Refusal, tooManyKvFailures } from '../error-map.js';
import type { HttpRequest } from '../http/exchange.js';
import type { KvEndpoint } from './kv-endpoint.js';

const BEARER = 'bearer ';

/**
 * @param queryToken the value of `_token`, which takes precedence over the header
 * @returns undefined for a missing, unknown or revoked token
 * @throws CONTROL_STALE as Access does
 */
export function grantOfToken(
  access: Access,
  queryToken: string | undefined,
  authorization: string | undefined,
): KvGrant | undefined {
  const token = tokenOf(queryToken, authorization);
  return token === undefined || token === '' ? undefined : access.grantFor(token);
}

/**
 * Looks up the request's token. Failures slow the next attempts of the address; a missing token is not a failure.
 * @returns the grant, or the refusal
 */
export function signIn(
  { parts: { access }, signIns, addresses }: KvEndpoint,
  request: HttpRequest,
  queryToken: string | undefined,
): KvGrant | Refusal {
  const token = tokenOf(queryToken, request.headers.authorization);
  if (token === undefined || token === '') return REFUSALS.unauthorized;
  if (!signIns.isQuiet) {
    const wait = signIns.waitOf(addresses.of(request), token);
    if (wait !== undefined) return tooManyKvFailures(wait);
  }
  const grant = access.grantFor(token);
  if (grant !== undefined) return grant;
  const wait = signIns.failed(addresses.of(request));
  return wait === undefined ? REFUSALS.unauthorized : tooManyKvFailures(wait);
}

/** Checks the token, then whether the database is open to the client's address. @returns the grant, or the refusal */
export function authenticate(
  endpoint: KvEndpoint,
  request: HttpRequest,
  queryToken: string | undefined,
): KvGrant | Refusal {
  const signedIn = signIn(endpoint, request, queryToken);
  if ('status' in signedIn) return signedIn;
  return closureOf(signedIn, () => endpoint.addresses.of(request)) ?? signedIn;
}

/** The token as its owner writes it: both sources are byte strings. */
function tokenOf(queryToken: ByteString | undefined, authorization: string | undefined): string | undefined {
  const token = queryToken ?? tokenOfHeader(authorization);
  return token && textOfHeader(token);
}

/** The bearer scheme in any case, or a bare token without a scheme. */
function tokenOfHeader(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const blank = authorization.indexOf(' ');
  if (blank < 0) return authorization;
  if (blank !== BEARER.length - 1 || authorization.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined;
  return authorization.slice(BEARER.length).trim();
}
