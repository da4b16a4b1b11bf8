/**
 * The memory that answers take while they are being read. A short one takes none of it. One that turns out to be longer
 * is read on when there is room for all that it may become; until then its socket is not read from.
 *
 *  AR1 an answer takes room once, for the whole of it, so that no two wait for each other
 *  AR2 a tenant may always have its first one while there is room for it, and another while it has less than a share that
 *      falls with the square of what is free: alone it has three quarters, and something is left for those that come
 *      later, however long all its answers take
 *  AR3 those that wait go on in the order in which they came, as far as AR2 lets them
 */

/** Read without asking: as much as is kept of an answer that nobody is told of. */
export const FREE_ANSWER_BYTES = 64 * 1024;
/** Times what is free, squared, over all. */
const WEIGHT = 16;

export interface AnswerPlace {
  readonly tenant: string;
  readonly bytes: number;
  /** There is room now. */
  readonly goOn: () => void;
}

export class AnswerMemory {
  #usedBytes = 0;
  readonly #usedByTenant = new Map<string, number>();
  readonly #waiting = new Set<AnswerPlace>();

  constructor(private readonly maxBytes: number) {}

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** @returns whether there is room at once; else it waits, and `goOn` is called when there is */
  take(place: AnswerPlace): boolean {
    if (this.#mayTake(place)) {
      this.#count(place, 1);
      return true;
    }
    this.#waiting.add(place);
    return false;
  }

  /** It has been read, or never will be. */
  giveBack(place: AnswerPlace): void {
    if (this.#waiting.delete(place)) return;
    this.#count(place, -1);
    const next: AnswerPlace[] = [];
    for (const waiting of this.#waiting) {
      if (!this.#mayTake(waiting)) continue;
      this.#waiting.delete(waiting);
      this.#count(waiting, 1);
      next.push(waiting);
    }
    for (const { goOn } of next) goOn();
  }

  #mayTake(place: AnswerPlace): boolean {
    const free = this.maxBytes - this.#usedBytes;
    const bytes = this.#bytesOf(place);
    if (bytes > free) return false;
    const own = this.#usedByTenant.get(place.tenant) ?? 0;
    return own === 0 || own + bytes <= (WEIGHT * (free - bytes) * (free - bytes)) / this.maxBytes;
  }

  #count(place: AnswerPlace, sign: 1 | -1): void {
    const bytes = sign * this.#bytesOf(place);
    this.#usedBytes += bytes;
    const own = (this.#usedByTenant.get(place.tenant) ?? 0) + bytes;
    if (own > 0) this.#usedByTenant.set(place.tenant, own);
    else this.#usedByTenant.delete(place.tenant);
  }

  /** One that is larger than the room has all of it. */
  #bytesOf({ bytes }: AnswerPlace): number {
    return Math.min(bytes, this.maxBytes);
  }
}
