/** Credential lookup with slowed guessing, for endpoints that throw refusals. */
import { tooManyFailures } from '../error-map.js';
import type { SignIns } from '../sign-in-guard.js';
import { RefusedRequest } from './refused.js';

export interface SigningIn {
  readonly signIns: SignIns;
  /** The client's address, computed only when needed. */
  readonly address: () => string;
  readonly secret: string;
  /** E-mail or user, for the log. */
  readonly name?: string | undefined;
}

/**
 * @param lookUp returns the grant of the credentials; not called while the address has to wait
 * @returns undefined for invalid credentials, which are counted
 * @throws Refused 429; errors of `lookUp`
 */
export function signedIn<Grant>(
  { signIns, address, secret, name }: SigningIn,
  lookUp: () => Grant | undefined,
): Grant | undefined {
  const asked = signIns.isQuiet ? undefined : signIns.waitOf(address(), secret, name);
  if (asked !== undefined) throw new RefusedRequest(tooManyFailures(asked));
  const grant = lookUp();
  if (grant !== undefined) return grant;
  const wait = signIns.failed(address(), name);
  if (wait !== undefined) throw new RefusedRequest(tooManyFailures(wait));
  return undefined;
}
