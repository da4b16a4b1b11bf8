/** Commands that wait until their account is known in this process; the control actor knows a new account first. */
import type { AccountTerms } from '../../domain/queue/index.js';
import { MillraceError } from '../../kernel/index.js';
import type { AccountBook, Clock } from '../../ports/index.js';
import type { AccountQueue } from './account-queue.js';
import type { QueueWork } from './queue-work.js';

export interface AwaitedAccountsPorts {
  readonly clock: Clock;
  readonly accounts: AccountBook;
}

const NO_WORKS: QueueWork[] = [];

export class AwaitedAccounts {
  readonly #withParked = new Set<AccountQueue>();
  readonly #ready: QueueWork[] = [];

  /** @param holdMs  how long a command waits */
  constructor(
    private readonly ports: AwaitedAccountsPorts,
    private readonly holdMs: number,
  ) {}

  get isEmpty(): boolean {
    return this.#withParked.size === 0;
  }

  termsOf(queue: AccountQueue): AccountTerms | undefined {
    queue.terms = this.ports.accounts.termsOf(queue.account) ?? queue.terms;
    return queue.terms;
  }

  park(work: QueueWork, queue: AccountQueue): void {
    queue.parked.push(work);
    this.#withParked.add(queue);
  }

  /**
   * Releases commands of known accounts, and rejects those that waited too long. @returns true when some can continue
   */
  look(): boolean {
    const tooOldMs = this.ports.clock.monotonicMs() - this.holdMs;
    for (const queue of this.#withParked) {
      const isHeardOf = this.termsOf(queue) !== undefined;
      for (const work of queue.parked.splice(0)) {
        if (isHeardOf) this.#ready.push(work);
        else if (work.enteredAtMs > tooOldMs) queue.parked.push(work);
        else
          work.reject(
            new MillraceError('SHARD_UNAVAILABLE', `this process does not know the account ${queue.account}`),
          );
      }
      if (queue.parked.length === 0) this.#withParked.delete(queue);
    }
    return this.#ready.length > 0;
  }

  /** @returns the commands that can continue */
  take(): QueueWork[] {
    return this.#ready.length === 0 ? NO_WORKS : this.#ready.splice(0);
  }
}
