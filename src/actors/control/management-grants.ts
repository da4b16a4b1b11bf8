/** Grants of the management API, looked up in this process's copy of the control state. */
import { timingSafeEqual } from 'node:crypto';
import { type ApiKey, type ControlState, defaultKeyOf, roleIn } from '../../domain/control/index.js';
import type { ManagementAccess, ManagementGrant } from '../../ports/index.js';
import { hashSecret } from '../../protocol/index.js';

export interface FreshState {
  readonly state: ControlState;
  /** @throws CONTROL_STALE */
  requireFresh(): void;
}

export class ManagementGrants implements ManagementAccess {
  constructor(private readonly view: FreshState) {}

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

  isSignedOut(session: string): boolean {
    this.view.requireFresh();
    return this.view.state.signedOut.has(session);
  }

  #keyOf(sha256: string): ApiKey | undefined {
    const { apiKeys, people, accounts } = this.view.state;
    const own = people.mgmtKeys.get(sha256);
    const account = own === undefined ? undefined : accounts.get(own);
    return account === undefined ? apiKeys.bySecret.get(sha256) : defaultKeyOf(account);
  }

  #grantOf({ email, account: id, name, isReadOnly }: ApiKey): ManagementGrant | undefined {
    const account = this.view.state.accounts.get(id);
    const role = account === undefined ? undefined : roleIn(account, email);
    if (account === undefined || role === undefined) return undefined;
    return { email, account: id, isTeam: account.team !== undefined, role, isReadOnly, keyName: name };
  }
}

/** Compares hashes, because they have one length for all texts. */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(one)), Buffer.from(hashSecret(other)));
}
