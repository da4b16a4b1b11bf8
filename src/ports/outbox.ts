/** The accounts into which databases publish, as far as this process knows. */
import type { AccountTerms } from '../domain/queue/index.js';
import type { AccountId, DatabaseId } from '../kernel/index.js';

export type OutboxAccount =
  /** `formatLevel`: the level of stored formats that the installation writes. */
  | { readonly account: AccountId; readonly terms: AccountTerms; readonly formatLevel?: number }
  /** The reason why the database may not publish. */
  | { readonly problem: string };

export interface OutboxAccounts {
  /** @param named the account's id; empty: the account that owns the database */
  outboxAccountOf(database: DatabaseId, named: string): OutboxAccount;
}
