/**
 * The memory for the bodies of all queues of a process. Above the bound the oldest are dropped, and read again when
 * they are due.
 *
 *  BME1 only a stored body is dropped; bodies in flight may exceed the bound
 *  BME2 the oldest pages are dropped first, of any account
 *  BME3 messages take precedence: as they need more memory, bodies get less
 */

/** A holder of bodies that were put at about the same time. */
export interface EvictableBodies {
  /** Drops stored bodies. @returns the bytes that became free */
  evict(): number;
  /** True when it holds no body. */
  readonly isEmpty: boolean;
}

/** The process also needs memory for the state of the queues and for the keyspace. */
export const DEFAULT_BODY_MEMORY_BYTES = 96 * 1024 * 1024;
/** Bodies that are sent soon stay in memory within this bound. */
const LEAST_BYTES = 4 * 1024 * 1024;
/** When no body can be dropped, the next try comes after this many further bytes. */
const PATIENCE_BYTES = 1024 * 1024;

export class BodyMemory {
  /** In the order of their first body. */
  readonly #holders = new Set<EvictableBodies>();
  #usedBytes = 0;
  #patientUpTo = 0;
  #maxBytes: number;

  /** @param mostBytes  the bound while no other data needs the room */
  constructor(private readonly mostBytes: number = DEFAULT_BODY_MEMORY_BYTES) {
    this.#maxBytes = mostBytes;
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  /** Lowers the bound in favour of messages (BME3). @param bytes  that messages need; 0: none */
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

  /** Called after `holder` has dropped bodies itself. */
  giveBack(holder: EvictableBodies, bytes: number): void {
    this.#usedBytes -= bytes;
    if (holder.isEmpty) this.#holders.delete(holder);
  }

  /** More bodies are stored and can be dropped. */
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
