/**
 * Who acts for which account, found by e-mail (in lower case) or by the key of an account. An account without an e-mail is
 * only a queue: nobody signs in for it.
 */
import type { AccountId } from '../../kernel/index.js';
import type { TeamRole } from './management.js';
import { Owned } from './owned.js';
import type { Account } from './records.js';

export class People {
  /** Accounts by SHA-256 of their management key. */
  readonly mgmtKeys = new Map<string, AccountId>();
  /** Accounts whose queue it is, then queues. */
  readonly queues = new Owned<AccountId, AccountId>();
  /** They are accounts by e-mail that are no teams; more than one only where an earlier release let it be. */
  readonly #own = new Owned<string, AccountId>();
  /** They are keyed by the e-mail of a member. */
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

  /** Has the person an account that is no team? */
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

/** Whose e-mail it is, as people are known here. */
export function personOf({ email }: Pick<Account, 'email'>): string {
  return email.toLowerCase();
}

/** Undefined for whoever may not act for it. */
export function roleIn(account: Account, email: string): TeamRole | undefined {
  if (account.team !== undefined) return account.team.members.find((member) => member.email === email)?.role;
  return isPersons(account) && personOf(account) === email ? 'owner' : undefined;
}

/** A person's own, neither a team nor only a queue. */
export function isPersons({ email, team }: Account): boolean {
  return team === undefined && email !== '';
}

/** Made so that an account whose queue was moved away has one. */
export function isOnlyQueue({ email, team }: Account): boolean {
  return team === undefined && email === '';
}

export function queueOwnerOf({ id, queueOwner }: Account): AccountId {
  return queueOwner ?? id;
}
