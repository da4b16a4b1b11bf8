/**
 * Keeps the thread of the read models told how many events of each account it may keep: everyone's when the thread
 * begins, then whose number has changed.
 *
 *  EL1 nothing is told while this process may not know the newest: an older number could remove what is to be kept
 *  EL2 accounts are looked at in steps of well under a millisecond, however many there are
 */
import type { AccountId } from '../kernel/index.js';
import type { Timer, Timers } from '../ports/index.js';

export type EventLimit = readonly [account: AccountId, maxEvents: number];

export interface EventLimitsPorts {
  /** The limits of all accounts as this process knows them; undefined while they may be old. */
  readonly limits: () => Iterable<EventLimit> | undefined;
  readonly timers: Timers;
  tell(limits: readonly EventLimit[]): void;
}

/** Changes come in bursts, and one look is for all of them. */
const LOOK_AFTER_MS = 100;
const STEP_ACCOUNTS = 500;

export class EventLimits {
  /** Bounded by the number of accounts. */
  readonly #told = new Map<AccountId, number>();
  #look: Timer | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor(private readonly ports: EventLimitsPorts) {}

  /** A thread has begun: it knows nothing. */
  begun(): void {
    this.#told.clear();
    this.changed();
  }

  /** Somebody's number may be another one. */
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
    // Begun anew when the copy has turned old in between.
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
