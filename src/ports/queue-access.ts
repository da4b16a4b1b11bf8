/** Grants of queue tokens, from this process's copy of the control state. */
import type { AccountTerms } from '../domain/queue/index.js';
import type { AccountId } from '../kernel/index.js';

export interface QueueGrant {
  readonly account: AccountId;
  /** `read-only` may read everything and change nothing of the account. */
  readonly role: 'standard' | 'read-only';
  readonly terms: AccountTerms;
  /** Set for the holder of a link to the portal: only routes of this application are open. */
  readonly portal?: PortalMark | undefined;
}

/** The link to a portal that a call has. */
export interface PortalMark {
  readonly application: string;
  readonly untilMs: number;
  readonly id: string;
  readonly generation: number;
}

export interface QueueAccess {
  /** Undefined for an unknown or revoked token. @throws CONTROL_STALE as `Access` does */
  grantForQueueToken(token: string): QueueGrant | undefined;
  /** The grant of an account that a sealed text names. Undefined without it. @throws CONTROL_STALE as `Access` does */
  grantForAccount(account: AccountId): QueueGrant | undefined;
  /**
   * The grant by a user that a token names: third parties call webhooks under that name, without a token. The role is
   * the token's. Undefined when no token names it. @throws CONTROL_STALE as `Access` does
   */
  grantForQueueUser(userId: string): QueueGrant | undefined;
}

/** The present limits of an account for the owner of its queue, as far as this process knows. */
export interface AccountBook {
  /** Undefined: no such account, or not known yet. */
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
  /** The next key becomes the current one, and a new one the next. @throws MillraceError as the control client does */
  rotateSigningKeys(account: AccountId): Promise<SigningKeys>;
}
