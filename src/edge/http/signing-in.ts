/** Looking credentials up where guessing is slowed, for faces that throw what they refuse. */
import { tooManyFailures } from '../error-map.js';
import type { SignIns } from '../sign-in-guard.js';
import { RefusedRequest } from './refused.js';

export interface SigningIn {
  readonly signIns: SignIns;
  /** The address of the client; it is asked for only where it matters. */
  readonly address: () => string;
  readonly secret: string;
  /** E-mail or user, for the log. */
  readonly name?: string | undefined;
}

/**
 * @param lookUp what the credentials open; not called while the address has to wait
 * @returns undefined when they open nothing, which is counted
 * @throws Refused 429; what `lookUp` throws
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
