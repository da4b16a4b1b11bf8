/**
 * Counts the attempts in flight of a process and of each account.
 *
 *  DR1 there are never more than `max`, over all shards
 *  DR2 an account may begin its first attempt while any place is free, and further ones while it has less than a share
 *      that falls with the square of the free places: alone it gets three quarters, and later accounts get less each,
 *      so places remain even when all destinations are slow
 */
import type { AccountId } from '../../kernel/index.js';

/** The share is this number, times the square of the free places, over all places. */
const WEIGHT = 16;

export class DeliveryPlaces {
  #inFlight = 0;
  readonly #inFlightByAccount = new Map<AccountId, number>();
  #waiting = new Set<() => void>();

  constructor(private readonly max: number) {}

  get inFlight(): number {
    return this.#inFlight;
  }

  /** The number of attempts that the account may begin now. */
  roomFor(account: AccountId): number {
    const free = this.max - this.#inFlight;
    const own = this.#inFlightByAccount.get(account) ?? 0;
    const mayHaveMore = (more: number) => {
      const left = free - more;
      return left > 0 && (own + more === 0 || own + more < (WEIGHT * left * left) / this.max);
    };
    // Each attempt adds one to the account's count and takes one free place; binary search finds the first that it may
    // not begin.
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

  /** Calls the function once when a place becomes free; the same function is registered once. */
  whenFreed(wake: () => void): void {
    this.#waiting.add(wake);
  }
}
