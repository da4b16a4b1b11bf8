/** Grants of the management API and of search tokens, from this process's copy of the control state. */
import type {
  PersonRole,
  ProviderPerson,
  RoleRights,
  SearchIndex,
  SearchLimits,
  SignInSession,
} from '../domain/control/index.js';
import type { VectorShape } from '../domain/search/index.js';
import type { AccountId, DatabaseId } from '../kernel/index.js';
import type { ProviderGroupRole } from './identity-providers.js';

export interface ManagementGrant {
  /** The person's address, in lower case. */
  readonly email: string;
  /** The account of the key: the person's or a team's. */
  readonly account: AccountId;
  readonly isTeam: boolean;
  /** The strongest of the caller's roles, for answers and refusals; `rights` decides. */
  readonly role: string;
  readonly rights: RoleRights;
  readonly isReadOnly: boolean;
  /** The audit log names it. */
  readonly keyName: string;
}

export interface ProvidedAccount {
  readonly account: AccountId;
  readonly name: string;
  readonly role: string;
}

export interface ManagementAccess {
  /**
   * Undefined for an unknown e-mail or key, and for a key of a team that the person has left. Compares in constant time.
   * @throws CONTROL_STALE as `Access` does
   */
  grantForKey(email: string, key: string): ManagementGrant | undefined;
  /** The same for a key alone, which programs send as a bearer token. @throws CONTROL_STALE */
  grantForBearer(key: string): ManagementGrant | undefined;
  /** @throws CONTROL_STALE */
  isSignedOut(session: string): boolean;
  /**
   * Undefined for a session without a record of a provider, and if the person's groups give no role in the account.
   * @throws CONTROL_STALE
   */
  grantForSession(session: string, account: AccountId): ManagementGrant | undefined;
  /** The record of a session; undefined also for a session of a key that began before records. */
  sessionNamed(session: string): SignInSession | undefined;
  /** The accounts that the groups of a provider's person give access to. */
  providedAccounts(email: string): readonly ProvidedAccount[];
  /** The person with the provider's id; undefined: never signed in, or without a role since. */
  personOf(provider: string, subject: string): Pick<ProviderPerson, 'email' | 'roles'> | undefined;
  /** The roles that the groups of a person give in the accounts of the moment. */
  rolesOfGroups(
    rules: readonly ProviderGroupRole[],
    groups: readonly string[],
    provider: string,
  ): readonly PersonRole[];
  /** The person's rights in an account. @throws CONTROL_STALE */
  rightsIn(account: AccountId, email: string): RoleRights;
}

/** Search indexes, or indexes of vectors: their records and paths differ. */
export type IndexPlane = 'search' | 'vector';

export interface SearchGrant {
  readonly index: DatabaseId;
  readonly account: AccountId;
  readonly role: 'standard' | 'read-only';
  readonly limits: SearchLimits;
  /** Undefined: a search index. */
  readonly vectors?: VectorShape | undefined;
}

export interface SearchAccess {
  /** Undefined unless the token opens just this index. @throws CONTROL_STALE as `Access` does */
  grantForSearch(index: DatabaseId, token: string): SearchGrant | undefined;
  /** All that are not deleted, as far as this process knows; for projections. */
  searchIndexes(): Iterable<SearchIndex>;
  /** Called after every change of grants or search indexes. */
  whenSearchIndexesChange(listener: () => void): void;
}
