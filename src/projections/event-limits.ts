/**
 * Tells the thread of the read models how many events of each account it may keep: all limits when the thread starts,
 * then the changed ones.
 *
 *  EL1 limits are sent only while this process knows the newest ones: an older number could remove events that must
 *      be kept
 *  EL2 accounts are scanned in steps of well under a millisecond, regardless of their number
 */
import type { AccountId } from '../kernel/index.js';
import type { Timer, Timers } from '../ports/index.js';

export type EventLimit = readonly [account: AccountId, maxEvents: number];

export interface EventLimitsPorts {
  /** The limits of all accounts as this process knows them; undefined while they may be out of date. */
  readonly limits: () => Iterable<EventLimit> | undefined;
  readonly timers: Timers;
  tell(limits: readonly EventLimit[]): void;
}

/** Changes come in bursts; one scan covers them. */
const LOOK_AFTER_MS = 100;
const STEP_ACCOUNTS = 500;

export class EventLimits {
  /** Bounded by the number of accounts. */
  readonly #told = new Map<AccountId, number>();
  #look: Timer | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor(private readonly ports: EventLimitsPorts) {}

  /** A new thread has started, without any limits. */
  begun(): void {
    this.#told.clear();
    this.changed();
  }

  /** A limit may have changed. */
  changed(): void {
    if (this.#look !== undefined || this.#isStopped) return;
    this.#look = this.ports.timers.after(LOOK_AFTER_MS, () => {
      this.#look = undefined;
      this.#begin();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#look?.cancel();
  }

  #begin(): void {
    const limits = this.#isLooking ? undefined : this.ports.limits();
    if (limits === undefined) {
      this.changed();
      return;
    }
    this.#isLooking = true;
    this.#step(limits[Symbol.iterator]());
  }

  #step(limits: Iterator<EventLimit>): void {
    if (this.#isStopped) return;
    // The scan starts again if the limits became out of date during it.
    const isKnown = this.ports.limits() !== undefined;
    const changes: EventLimit[] = [];
    let next: IteratorResult<EventLimit> | undefined;
    for (let looked = 0; isKnown && looked < STEP_ACCOUNTS; looked += 1) {
      next = limits.next();
      if (next.done === true) break;
      const [account, maxEvents] = next.value;
      if (this.#told.get(account) !== maxEvents) changes.push([account, maxEvents]);
    }
    if (changes.length > 0) this.ports.tell(changes);
    for (const [account, maxEvents] of changes) this.#told.set(account, maxEvents);
    if (isKnown && next?.done !== true) {
      this.ports.timers.soon(() => this.#step(limits));
      return;
    }
    this.#isLooking = false;
    if (!isKnown) this.changed();
  }
}
