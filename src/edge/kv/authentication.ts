/** Which token a request carries. What it opens is the business of `Access`. */
import type { Access, KvGrant } from '../../ports/index.js';

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

/** The bearer scheme in any case, or a bare token without a scheme. */
function tokenOfHeader(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const blank = authorization.indexOf(' ');
  if (blank < 0) return authorization;
  if (blank !== BEARER.length - 1 || authorization.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined;
  return authorization.slice(BEARER.length).trim();
}
