/**
 * The memory that bodies of all queues of a process may take together. Beyond it the oldest are let go of:
 * they are read back when they are due.
 *
 *  BME1 a body leaves only when it is known to be stored; what is on its way may exceed the budget
 *  BME2 the oldest pages leave first, whoever's they are
 *  BME3 where messages themselves take the room, bodies have less of it
 */

/** Something that holds bodies put at about the same time. */
export interface EvictableBodies {
  /** Lets go of what is stored. Returns the bytes that became free. */
  evict(): number;
  /** Whether it still holds anything. */
  readonly isEmpty: boolean;
}

/** Shares a process's memory with the state of the queues and with the keyspace. */
export const DEFAULT_BODY_MEMORY_BYTES = 96 * 1024 * 1024;
/** Bodies that are sent within the next moments are not read back for it. */
const LEAST_BYTES = 4 * 1024 * 1024;
/** When nothing can leave, it is not tried again for every body that comes. */
const PATIENCE_BYTES = 1024 * 1024;

export class BodyMemory {
  /** In the order in which they began to hold something. */
  readonly #holders = new Set<EvictableBodies>();
  #usedBytes = 0;
  #patientUpTo = 0;
  #maxBytes: number;

  /** @param mostBytes while nothing else needs the room */
  constructor(private readonly mostBytes: number = DEFAULT_BODY_MEMORY_BYTES) {
    this.#maxBytes = mostBytes;
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  /** BME3. @param bytes that others need; 0: none any more */
  giveWay(bytes: number): void {
    this.#maxBytes = Math.max(Math.min(LEAST_BYTES, this.mostBytes), this.mostBytes - bytes);
    this.relieve();
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  take(holder: EvictableBodies, bytes: number): void {
    this.#holders.add(holder);
    this.#usedBytes += bytes;
    if (this.#usedBytes > this.maxBytes && this.#usedBytes > this.#patientUpTo) this.#evict();
  }

  /** After `holder` itself has let go of something. */
  giveBack(holder: EvictableBodies, bytes: number): void {
    this.#usedBytes -= bytes;
    if (holder.isEmpty) this.#holders.delete(holder);
  }

  /** Something more is stored, so that it can leave. */
  relieve(): void {
    this.#patientUpTo = 0;
    if (this.#usedBytes > this.maxBytes) this.#evict();
  }

  #evict(): void {
    for (const holder of this.#holders) {
      this.#usedBytes -= holder.evict();
      if (holder.isEmpty) this.#holders.delete(holder);
      if (this.#usedBytes <= this.maxBytes) return;
    }
    this.#patientUpTo = this.#usedBytes + PATIENCE_BYTES;
  }
}
