/**
 * Finds the accounts that a person acts for, by e-mail (in lower case) or by the key of an account. An account
 * without an e-mail is only a queue, and no person can sign in for it.
 */
import type { AccountId } from '../../kernel/index.js';
import { Owned } from './owned.js';
import type { Account } from './records.js';

export class People {
  /** Accounts by SHA-256 of their management key. */
  readonly mgmtKeys = new Map<string, AccountId>();
  /** Queues by the account that owns them. */
  readonly queues = new Owned<AccountId, AccountId>();
  /** Accounts by e-mail that are not teams; several only if an earlier release allowed it. */
  readonly #own = new Owned<string, AccountId>();
  /** Teams by the e-mail of a member. */
  readonly #teams = new Owned<string, AccountId>();

  add(account: Account): void {
    const { id, team } = account;
    this.queues.add(queueOwnerOf(account), id);
    if (isPersons(account)) this.mgmtKeys.set(account.secrets.mgmtKey.sha256, id);
    if (isPersons(account)) this.#own.add(personOf(account), id);
    for (const { email } of team?.members ?? []) this.#teams.add(email, id);
  }

  remove(account: Account): void {
    const { id, team } = account;
    this.queues.remove(queueOwnerOf(account), id);
    const { sha256 } = account.secrets.mgmtKey;
    if (this.mgmtKeys.get(sha256) === id) this.mgmtKeys.delete(sha256);
    if (isPersons(account)) this.#own.remove(personOf(account), id);
    for (const { email } of team?.members ?? []) this.#teams.remove(email, id);
  }

  /** Whether the person has an account that is not a team. */
  hasOwnAccount(email: string): boolean {
    return this.#own.of(email).size > 0;
  }

  ownAccounts(email: string): ReadonlySet<AccountId> {
    return this.#own.of(email);
  }

  teamsOf(email: string): ReadonlySet<AccountId> {
    return this.#teams.of(email);
  }
}

/** The normalised e-mail of the account. */
export function personOf({ email }: Pick<Account, 'email'>): string {
  return email.toLowerCase();
}

/** Whether the account is a person's own: neither a team nor only a queue. */
export function isPersons({ email, team }: Account): boolean {
  return team === undefined && email !== '';
}

/** Such an account is created when an account's only queue is moved away. */
export function isOnlyQueue({ email, team }: Account): boolean {
  return team === undefined && email === '';
}

export function queueOwnerOf({ id, queueOwner }: Account): AccountId {
  return queueOwner ?? id;
}
