/** One timer for work that falls due by time: the earliest request counts. */
import type { Clock, Timer, Timers } from '../../ports/index.js';

export class NextTick {
  #timer: Timer | undefined;
  #atMs = 0;

  constructor(
    private readonly timers: Timers,
    private readonly clock: Clock,
    /** Must not do the work before it returns. */
    private readonly action: () => void,
  ) {}

  /** @param inMs  milliseconds from now; 0: without a timer; undefined: no work falls due */
  schedule(inMs: number | undefined): void {
    if (inMs === undefined) return;
    if (inMs === 0) {
      this.action();
      return;
    }
    const atMs = this.clock.monotonicMs() + inMs;
    if (this.#timer !== undefined && atMs >= this.#atMs) return;
    this.#timer?.cancel();
    this.#atMs = atMs;
    this.#timer = this.timers.after(inMs, () => {
      this.#timer = undefined;
      this.action();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
