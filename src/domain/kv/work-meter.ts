/**
 * How long something has worked: the least of the clock's time and the processor's. The process may have been stopped or
 * starved meanwhile, or its clock set, and that is none of its doing.
 */

/** Both in microseconds, the second of work alone. */
export interface WorkClock {
  nowMicros(): number;
  /** Left out: all time is taken for work. */
  workedMicros?(): number;
}

/**
 * Asking costs a tenth of a short script, as the kernel looks at every thread for it. What was asked a while ago is good
 * enough: a run that was stopped or starved has so much too much counted at most, and may take many times that.
 */
const ASKED_ANEW_MICROS = 10_000;

export class WorkMeter {
  startedMicros = 0;
  /** Processor time at its start, or up to `ASKED_ANEW_MICROS` before. */
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

  /** The work since it was started. */
  workedMicros(nowMicros = this.clock.nowMicros()): number {
    const passed = nowMicros - this.startedMicros;
    const worked = (this.clock.workedMicros?.() ?? Number.POSITIVE_INFINITY) - this.#workedMicros;
    return Math.max(0, Math.min(passed, worked));
  }
}
