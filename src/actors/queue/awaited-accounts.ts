/** Commands that wait until their account has been heard of: what it may do is known to the control actor first. */
import type { AccountFacts } from '../../domain/queue/index.js';
import { MillraceError } from '../../kernel/index.js';
import type { AccountBook, Clock } from '../../ports/index.js';
import type { QueueSlot } from './queue-slot.js';
import type { QueueWork } from './queue-work.js';

export interface AwaitedAccountsPorts {
  readonly clock: Clock;
  readonly accounts: AccountBook;
}

const NO_WORKS: QueueWork[] = [];

export class AwaitedAccounts {
  readonly #withParked = new Set<QueueSlot>();
  readonly #ready: QueueWork[] = [];

  /** @param holdMs how long a command waits */
  constructor(
    private readonly ports: AwaitedAccountsPorts,
    private readonly holdMs: number,
  ) {}

  get isEmpty(): boolean {
    return this.#withParked.size === 0;
  }

  factsOf(slot: QueueSlot): AccountFacts | undefined {
    slot.facts = this.ports.accounts.factsOf(slot.account) ?? slot.facts;
    return slot.facts;
  }

  park(work: QueueWork, slot: QueueSlot): void {
    slot.parked.push(work);
    this.#withParked.add(slot);
  }

  /** Commands whose account has been heard of go on; those that have waited too long do not. @returns some go on */
  look(): boolean {
    const tooOldMs = this.ports.clock.monotonicMs() - this.holdMs;
    for (const slot of this.#withParked) {
      const isHeardOf = this.factsOf(slot) !== undefined;
      for (const work of slot.parked.splice(0)) {
        if (isHeardOf) this.#ready.push(work);
        else if (work.enteredAtMs > tooOldMs) slot.parked.push(work);
        else work.reject(new MillraceError('SHARD_UNAVAILABLE', `nothing is known here of ${slot.account}`));
      }
      if (slot.parked.length === 0) this.#withParked.delete(slot);
    }
    return this.#ready.length > 0;
  }

  /** Those that go on. */
  take(): QueueWork[] {
    return this.#ready.length === 0 ? NO_WORKS : this.#ready.splice(0);
  }
}
