/**
 * Bounds the memory of run lists while their calls are in progress. Endpoints answer late, and each list is made for
 * one call. Above the bound, longer lists are left for their endpoints to fetch. Lists for endpoints that cannot fetch
 * have the same amount of memory separately, and wait for it.
 */
import { DEFAULT_INLINE_BYTES } from '../../domain/queue/runs/index.js';

export interface ListLimits {
  /** A longer list is left out where the endpoint can fetch it. */
  readonly inlineBytes: number;
  /** The bound of all lists of an activation in delivery. */
  readonly inFlightBytes: number;
}

export const DEFAULT_LIST_LIMITS: ListLimits = {
  inlineBytes: DEFAULT_INLINE_BYTES,
  inFlightBytes: 64 * 1024 * 1024,
};

/** Lists up to this length are always sent: a thousand of them take no more memory than other deliveries. */
const SHORT_BYTES = 16 * 1024;

export class ListMemory {
  #usedBytes = 0;
  #longBytes = 0;

  constructor(private readonly limits: ListLimits = DEFAULT_LIST_LIMITS) {}

  /** The length up to which the next list is sent, if its endpoint could fetch it. */
  get maxBytes(): number {
    const { inlineBytes, inFlightBytes } = this.limits;
    return Math.min(inlineBytes, Math.max(SHORT_BYTES, inFlightBytes - this.#usedBytes));
  }

  /**
   * Reserves memory for a list above `maxBytes` that cannot be fetched. A single one may have any length. @returns
   * false when it has to wait
   */
  takeLong(bytes: number): boolean {
    if (this.#longBytes > 0 && this.#longBytes + bytes > this.limits.inFlightBytes) return false;
    this.#longBytes += bytes;
    return true;
  }

  giveBackLong(bytes: number): void {
    this.#longBytes -= bytes;
  }

  take(bytes: number): void {
    this.#usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
