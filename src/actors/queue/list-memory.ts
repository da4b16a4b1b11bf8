/**
 * The memory that lists of runs' entries take while their calls are being made. Endpoints answer late, and a list is
 * made for one call alone: beyond the room, longer ones are left for their endpoints to fetch. Those of endpoints that
 * cannot fetch have as much room for themselves, and wait for it.
 */
import { DEFAULT_INLINE_BYTES } from '../../domain/queue/runs/index.js';

export interface ListLimits {
  /** A list that is longer than this is left out where the endpoint can fetch it. */
  readonly inlineBytes: number;
  /** What all lists of an activation may take while they are being delivered. */
  readonly inFlightBytes: number;
}

export const DEFAULT_LIST_LIMITS: ListLimits = {
  inlineBytes: DEFAULT_INLINE_BYTES,
  inFlightBytes: 64 * 1024 * 1024,
};

/** Always sent, if one list may be as long: a thousand of them are no more than what others take anyway. */
const SHORT_BYTES = 16 * 1024;

export class ListMemory {
  #usedBytes = 0;
  #longBytes = 0;

  constructor(private readonly limits: ListLimits = DEFAULT_LIST_LIMITS) {}

  /** How long the next list may be, if it can be fetched. */
  get maxBytes(): number {
    const { inlineBytes, inFlightBytes } = this.limits;
    return Math.min(inlineBytes, Math.max(SHORT_BYTES, inFlightBytes - this.#usedBytes));
  }

  /** A list that nobody can fetch, longer than `maxBytes`. One alone may be as long as it likes. @returns it has its room */
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
