/** Whose queue a token opens, and under which limits: answered from this process's copy of the control state. */
import type { AccountTerms } from '../domain/queue/index.js';
import type { AccountId } from '../kernel/index.js';

export interface QueueGrant {
  readonly account: AccountId;
  /** `read-only` may look at everything and change nothing. */
  readonly role: 'standard' | 'read-only';
  readonly terms: AccountTerms;
}

export interface QueueAccess {
  /** Undefined for an unknown or revoked token. @throws CONTROL_STALE as `Access` does */
  grantForQueueToken(token: string): QueueGrant | undefined;
  /**
   * Whose token names this user: third parties call webhooks under that name, with no token of their own. The role is
   * the token's. Undefined when no token does. @throws CONTROL_STALE as `Access` does
   */
  grantForQueueUser(userId: string): QueueGrant | undefined;
}

/** It gives the owner of an account's queue the limits in force, as far as this process has heard. */
export interface AccountBook {
  /** Undefined: no such account, or not heard of yet. */
  termsOf(account: AccountId): AccountTerms | undefined;
}

export interface SigningKeys {
  readonly current: string;
  readonly next: string;
}

export interface SigningKeyBook {
  /** Clear texts. Undefined as `termsOf`. @throws BAD_CONFIG when they were sealed with another key file */
  signingKeysOf(account: AccountId): SigningKeys | undefined;
}

export interface QueueAdmin extends SigningKeyBook {
  /** The next key becomes the current one, a fresh one the next. @throws MillraceError as the way to the control actor does */
  rotateSigningKeys(account: AccountId): Promise<SigningKeys>;
}
