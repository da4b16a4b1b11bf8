/** One timer for work that falls due by time: the earliest request counts. */
import type { Clock, Timer, Timers } from '../../ports/index.js';

export class NextTick {
  #timer: Timer | undefined;
  #atMs = 0;

  constructor(
    private readonly timers: Timers,
    private readonly clock: Clock,
    private readonly action: () => void,
  ) {}

  /** @param inMs  milliseconds from now; undefined: no work falls due */
  schedule(inMs: number | undefined): void {
    if (inMs === undefined) return;
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
