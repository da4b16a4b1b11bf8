/** Which token a request carries. What it opens is the business of `Access`. */
import type { IncomingMessage } from 'node:http';
import type { Access, KvGrant } from '../../ports/index.js';
import { closureOf } from '../commands/admission.js';
import { REFUSALS, type Refusal, tooManyKvFailures } from '../error-map.js';
import type { KvFace } from './kv-face.js';

const BEARER = 'bearer ';

/**
 * @param queryToken the value of `_token`, which wins over the header
 * @returns undefined for a missing, unknown or revoked token
 * @throws CONTROL_STALE as Access does
 */
export function authenticate(
  access: Access,
  queryToken: string | undefined,
  authorization: string | undefined,
): KvGrant | undefined {
  const token = queryToken ?? tokenOfHeader(authorization);
  return token === undefined || token === '' ? undefined : access.grantFor(token);
}

/** Looks up what a request carries; guessing is slowed, and a request without a token is no guess. @returns why not */
export function signIn(
  { parts: { access }, signIns, addresses }: KvFace,
  request: IncomingMessage,
  queryToken: string | undefined,
): KvGrant | Refusal {
  const token = queryToken ?? tokenOfHeader(request.headers.authorization);
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

/** What lets a request in, or why nothing does: its token, then whether its database is open to who asks. */
export function letIn(face: KvFace, request: IncomingMessage, queryToken: string | undefined): KvGrant | Refusal {
  const signedIn = signIn(face, request, queryToken);
  if ('status' in signedIn) return signedIn;
  return closureOf(signedIn, () => face.addresses.of(request)) ?? signedIn;
}

/** The bearer scheme in any case, or a bare token without a scheme. */
function tokenOfHeader(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const blank = authorization.indexOf(' ');
  if (blank < 0) return authorization;
  if (blank !== BEARER.length - 1 || authorization.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined;
  return authorization.slice(BEARER.length).trim();
}
