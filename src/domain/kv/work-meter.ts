/**
 * Measures work as the smaller of elapsed time and processor time. Elapsed time alone would be wrong if the process was
 * suspended or starved, or its clock set.
 */

/** Both in microseconds; the second counts processor time only. */
export interface WorkClock {
  nowMicros(): number;
  /** If missing, elapsed time counts as work. */
  workedMicros?(): number;
}

/**
 * Reading the processor time costs a tenth of a short script, because the kernel sums it over all threads, so a recent
 * reading is reused. A suspended or starved run is then charged at most this much too much, and its limit is many times
 * larger.
 */
const ASKED_ANEW_MICROS = 10_000;

export class WorkMeter {
  startedMicros = 0;
  /** Processor time at the start, or up to `ASKED_ANEW_MICROS` earlier. */
  #workedMicros = 0;
  #askedMicros = Number.NEGATIVE_INFINITY;

  constructor(public clock: WorkClock) {}

  /** @returns the clock's time */
  start(): number {
    const nowMicros = this.clock.nowMicros();
    this.startedMicros = nowMicros;
    if (Math.abs(nowMicros - this.#askedMicros) >= ASKED_ANEW_MICROS) {
      this.#askedMicros = nowMicros;
      this.#workedMicros = this.clock.workedMicros?.() ?? 0;
    }
    return nowMicros;
  }

  /** The work since the start. */
  workedMicros(nowMicros = this.clock.nowMicros()): number {
    const passed = nowMicros - this.startedMicros;
    const worked = (this.clock.workedMicros?.() ?? Number.POSITIVE_INFINITY) - this.#workedMicros;
    return Math.max(0, Math.min(passed, worked));
  }
}
