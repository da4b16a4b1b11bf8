/** Grants of the management API, looked up in this process's copy of the control state. */
import { timingSafeEqual } from 'node:crypto';
import {
  type Account,
  type ApiKey,
  type AssignedRole,
  type ControlState,
  defaultKeyOf,
  type GroupRole,
  mappedRoles,
  type PersonRole,
  personOf,
  RoleRights,
  roleLookup,
  rolesIn,
  type SignInSession,
  shownRole,
} from '../../domain/control/index.js';
import type { AccountId } from '../../kernel/index.js';
import type { ManagementAccess, ManagementGrant, ProvidedAccount } from '../../ports/index.js';
import { hashSecret } from '../../protocol/index.js';

export interface FreshState {
  readonly state: ControlState;
  /** @throws CONTROL_STALE */
  requireFresh(): void;
}

export class ManagementGrants implements ManagementAccess {
  /** @param knowsProvider  sessions of providers that are no longer in the settings are over */
  constructor(
    private readonly view: FreshState,
    private readonly knowsProvider: (name: string) => boolean = () => true,
  ) {}

  grantForKey(email: string, key: string): ManagementGrant | undefined {
    this.view.requireFresh();
    const person = email.toLowerCase();
    const sha256 = hashSecret(key);
    const found = this.#keyOf(sha256);
    // Both are always compared, so that the response time does not show which was wrong, or how far it was right.
    const isKey = isEqual(found?.sha256 ?? '', sha256);
    const isPerson = isEqual(found?.email ?? '', person);
    if (found === undefined || !isKey || !isPerson) return undefined;
    return this.#grantOf(found);
  }

  grantForBearer(key: string): ManagementGrant | undefined {
    this.view.requireFresh();
    const sha256 = hashSecret(key);
    const found = this.#keyOf(sha256);
    return found !== undefined && isEqual(found.sha256, sha256) ? this.#grantOf(found) : undefined;
  }

  isSignedOut(session: string): boolean {
    this.view.requireFresh();
    return this.view.state.signedOut.has(session);
  }

  grantForSession(name: string, account: AccountId): ManagementGrant | undefined {
    this.view.requireFresh();
    const { accounts, sessions, providerPeople } = this.view.state;
    const session = sessions.byName.get(name);
    if (session === undefined || session.provider === '' || !this.knowsProvider(session.provider)) return undefined;
    const { email, provider } = session;
    const held = providerPeople.rolesOf(email, account);
    if (!accounts.has(account) || held.length === 0) return undefined;
    // Only the owner of a personal account acts for it alone.
    const acting = { email, account, isTeam: true, isReadOnly: false, keyName: `provider ${provider}` };
    return {
      ...acting,
      role: shownRole(held),
      rights: this.#rights(account, [...held, ...this.#assignedTo(email, account)]),
    };
  }

  sessionNamed(name: string): SignInSession | undefined {
    return this.view.state.sessions.byName.get(name);
  }

  providedAccounts(email: string): readonly ProvidedAccount[] {
    const { accounts, providerPeople } = this.view.state;
    const roles = providerPeople.byEmail.get(email)?.roles ?? [];
    return [...new Set(roles.map(({ account }) => account))].flatMap((account) => {
      const found = accounts.get(account);
      const role = shownRole(providerPeople.rolesOf(email, account));
      return found === undefined ? [] : [{ account, name: found.name, role }];
    });
  }

  personOf(provider: string, subject: string) {
    return this.view.state.providerPeople.withSubject({ provider, subject });
  }

  rolesOfGroups(rules: readonly GroupRole[], groups: readonly string[], provider: string): readonly PersonRole[] {
    return mappedRoles(this.view.state, rules, groups, provider);
  }

  rightsIn(id: AccountId, email: string): RoleRights {
    this.view.requireFresh();
    const account = this.view.state.accounts.get(id);
    return this.#rights(id, account === undefined ? [] : rolesIn(account, email, this.view.state));
  }

  /** A caller for the installation's first account with the right to see its operation. */
  isOperator({ account, rights }: ManagementGrant): boolean {
    return account === this.firstAccount() && rights.has('operation:read');
  }

  firstAccount(): AccountId | undefined {
    return this.view.state.firstStart?.account;
  }

  #keyOf(sha256: string): ApiKey | undefined {
    const { apiKeys, people, accounts } = this.view.state;
    const own = people.mgmtKeys.get(sha256);
    const account = own === undefined ? undefined : accounts.get(own);
    return account === undefined ? apiKeys.bySecret.get(sha256) : defaultKeyOf(account);
  }

  #grantOf({ email, account: id, name, isReadOnly, role, on }: ApiKey): ManagementGrant | undefined {
    const account = this.view.state.accounts.get(id);
    const held = account === undefined ? [] : rolesIn(account, email, this.view.state);
    if (account === undefined || held.length === 0) return undefined;
    const limit = role === undefined ? undefined : this.#rights(id, [{ role, on }]);
    const rights = this.#rights(id, held, limit);
    const isTeam = isShared(account, email);
    return { email, account: id, isTeam, role: role ?? shownRole(held), rights, isReadOnly, keyName: name };
  }

  #assignedTo(email: string, account: AccountId): readonly AssignedRole[] {
    return this.view.state.roles.assignmentsTo(email).filter((each) => each.account === account);
  }

  #rights(account: AccountId, held: readonly AssignedRole[], limit?: RoleRights): RoleRights {
    return new RoleRights(held, roleLookup(this.view.state, account), limit);
  }
}

/** A team, or the account of another person. */
function isShared(account: Account, email: string): boolean {
  return account.team !== undefined || personOf(account) !== email;
}

/** Compares hashes, because they have one length for all texts. */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(one)), Buffer.from(hashSecret(other)));
}
