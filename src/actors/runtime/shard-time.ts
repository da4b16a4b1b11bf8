/**
 * The time of one shard, which its commands use and its entries contain.
 *
 *  ST1 it never falls, and is never before the clock of an entry
 *  ST2 it never stands still: where the journal is ahead of the process's time, it continues from there at normal
 *      speed, and returns by a thousandth of the passed time
 */
import type { Clock } from '../../ports/index.js';
import { CATCH_UP } from './guarded-clock.js';

export class ShardTime {
  #lastMs = 0;
  #leadMs = 0;
  #leadSinceMs = 0;

  constructor(private readonly clock: Clock) {}

  /** An entry with this clock is in the journal. */
  follow(clockMs: number): void {
    const leadMs = clockMs - this.clock.nowMs();
    this.#lastMs = Math.max(this.#lastMs, clockMs);
    if (leadMs <= this.leadMs) return;
    this.#leadMs = leadMs;
    this.#leadSinceMs = this.clock.monotonicMs();
  }

  nowMs(): number {
    this.#lastMs = Math.max(this.#lastMs, Math.floor(this.clock.nowMs() + this.leadMs));
    return this.#lastMs;
  }

  /** How far the shard is ahead of the process's time, milliseconds. */
  get leadMs(): number {
    if (this.#leadMs === 0) return 0;
    return Math.max(0, this.#leadMs - (this.clock.monotonicMs() - this.#leadSinceMs) * CATCH_UP);
  }
}
