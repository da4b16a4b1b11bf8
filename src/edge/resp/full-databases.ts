/**
 * Databases that were full when their owners last answered, for a moment: what would let them grow is refused
 * where it is queued, as in Redis. A guess, so that queueing asks nobody; EXEC asks the owner, which knows.
 */
import type { DatabaseId } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';

/** Others may have made room meanwhile: what was said longer ago counts for nothing. */
const REMEMBERED_MS = 1_000;

export class FullDatabases {
  readonly #untilMs = new Map<DatabaseId, number>();

  constructor(private readonly clock: Clock) {}

  note(database: DatabaseId, isFull: boolean): void {
    if (isFull) this.#untilMs.set(database, this.clock.monotonicMs() + REMEMBERED_MS);
    else if (this.#untilMs.size > 0) this.#untilMs.delete(database);
  }

  has(database: DatabaseId): boolean {
    if (this.#untilMs.size === 0) return false;
    const untilMs = this.#untilMs.get(database);
    return untilMs !== undefined && untilMs > this.clock.monotonicMs();
  }
}
