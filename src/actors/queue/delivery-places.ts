/**
 * How many attempts a process has in flight, and whose they are.
 *
 *  DR1 never more than `max`, over all shards
 *  DR2 an account may always begin its first attempt while a place is free, and another while it has less than a share
 *      that falls with the square of what is free: alone it has three quarters, and those that come one after another
 *      get less each, so that something is left however slow all their destinations are
 */
import type { AccountId } from '../../kernel/index.js';

/** Times what is free, squared, over all. */
const WEIGHT = 16;

export class DeliveryPlaces {
  #inFlight = 0;
  readonly #inFlightByAccount = new Map<AccountId, number>();
  #waiting = new Set<() => void>();

  constructor(private readonly max: number) {}

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Attempts that the account may begin now. */
  roomFor(account: AccountId): number {
    const free = this.max - this.#inFlight;
    const own = this.#inFlightByAccount.get(account) ?? 0;
    const mayHaveMore = (more: number) => {
      const left = free - more;
      return left > 0 && (own + more === 0 || own + more < (WEIGHT * left * left) / this.max);
    };
    // Each attempt that it begins is one more of its own and one free place fewer: the first that it may not begin is
    // looked for by halves.
    let from = 0;
    for (let to = free; from < to; ) {
      const middle = (from + to) >> 1;
      if (mayHaveMore(middle)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  take(account: AccountId, count: number): void {
    if (count === 0) return;
    this.#inFlight += count;
    this.#inFlightByAccount.set(account, (this.#inFlightByAccount.get(account) ?? 0) + count);
  }

  release(account: AccountId, count: number): void {
    if (count === 0) return;
    this.#inFlight -= count;
    const left = (this.#inFlightByAccount.get(account) ?? 0) - count;
    if (left > 0) this.#inFlightByAccount.set(account, left);
    else this.#inFlightByAccount.delete(account);
    if (this.#waiting.size === 0) return;
    const woken = this.#waiting;
    this.#waiting = new Set();
    for (const wake of woken) wake();
  }

  /** Calls once when some room has become free; the same function is kept once. */
  whenFreed(wake: () => void): void {
    this.#waiting.add(wake);
  }
}
