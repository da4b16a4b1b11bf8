/** Bounds the checks of endpoints in this process: each holds the entries of several runs, and calls the endpoint often. */
import type { AccountId } from '../../../kernel/index.js';
import { QUEUE_REFUSALS } from '../../error-map.js';
import { RefusedRequest } from '../../http/refused.js';

/** Each holds up to 16 lists of a megabyte. */
const MAX_CHECKS = 4;

export class ChecksInProgress {
  readonly #accounts = new Set<AccountId>();

  /** An account has one at a time. @throws Refused 429; errors of `work` */
  async within<Result>(account: AccountId, work: () => Promise<Result>): Promise<Result> {
    if (this.#accounts.has(account) || this.#accounts.size >= MAX_CHECKS) {
      throw new RefusedRequest(QUEUE_REFUSALS.checking);
    }
    this.#accounts.add(account);
    try {
      return await work();
    } finally {
      this.#accounts.delete(account);
    }
  }
}
