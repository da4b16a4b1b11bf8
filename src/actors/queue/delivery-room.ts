/**
 * How many attempts a process has in flight, and whose they are.
 *
 *  DR1 never more than `max`, over all shards
 *  DR2 an account that has its even share or more leaves an eighth of the room to others: however slow its
 *      destinations are, somebody else's message finds a place at once
 */
import type { AccountId } from '../../kernel/index.js';

const RESERVED_SHARE = 1 / 8;

export class DeliveryRoom {
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
    const accounts = this.#inFlightByAccount.size + (own === 0 ? 1 : 0);
    const evenShare = Math.ceil(this.max / accounts);
    // Alone it may fill up to the reserve at once; below its share the reserve is there for it.
    const reserved = Math.floor(this.max * RESERVED_SHARE);
    const beyondShare = Math.max(0, free - reserved);
    const withinShare = accounts === 1 ? 0 : Math.min(free, Math.max(0, evenShare - own));
    return Math.max(withinShare, beyondShare, 0);
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
