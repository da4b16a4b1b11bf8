/** Limits of a resource of the process, in total and for each account. */
import type { AccountId } from '../../kernel/index.js';
import { SHARED_REFUSALS } from '../error-map.js';
import { RefusedRequest } from './refused.js';

export interface ShareLimits {
  readonly ofAll: number;
  readonly ofAccount: number;
}

/** Limits a resource of the process in total and per account, so that one account cannot use all of it. */
export class Shares {
  readonly #byAccount = new Map<AccountId, number>();
  #all = 0;

  constructor(private readonly limits: ShareLimits) {}

  /** @returns a function that returns the share, once. @throws Refused 503 */
  take(account: AccountId, ofAccount = this.limits.ofAccount): () => void {
    const own = this.#byAccount.get(account) ?? 0;
    if (this.#all >= this.limits.ofAll || own >= ofAccount) throw new RefusedRequest(SHARED_REFUSALS.overloaded);
    this.#change(account, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#change(account, -1);
      isTaken = false;
    };
  }

  #change(account: AccountId, by: 1 | -1): void {
    this.#all += by;
    const own = (this.#byAccount.get(account) ?? 0) + by;
    if (own === 0) this.#byAccount.delete(account);
    else this.#byAccount.set(account, own);
  }
}
