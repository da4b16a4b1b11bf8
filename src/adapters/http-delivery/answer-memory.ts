/**
 * Memory for answers while they are read. A short answer needs none. A longer one is read when there is room for its
 * full size; until then its socket is paused.
 *
 *  AR1 an answer takes its whole room in one step, so that no two wait for each other
 *  AR2 a tenant may have its first answer while there is room, and more while it has less than a share that falls with
 *      the square of the free room: alone it gets three quarters, and later tenants find room
 *  AR3 waiting answers continue in their order, as far as AR2 allows
 */

/** Read without a reservation: the amount kept of an answer without a callback. */
export const FREE_ANSWER_BYTES = 64 * 1024;
/** The share is this number, times the square of the free room, over all. */
const WEIGHT = 16;

export interface AnswerPlace {
  readonly tenant: string;
  readonly bytes: number;
  /** Called when there is room. */
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

  /** @returns true when there is room now; otherwise the answer waits for `goOn` */
  take(place: AnswerPlace): boolean {
    if (this.#mayTake(place)) {
      this.#count(place, 1);
      return true;
    }
    this.#waiting.add(place);
    return false;
  }

  /** The answer was read or dropped. */
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

  /** An answer larger than the whole memory takes all of it. */
  #bytesOf({ bytes }: AnswerPlace): number {
    return Math.min(bytes, this.maxBytes);
  }
}
