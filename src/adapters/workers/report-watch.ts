/**
 * Ends workers that have stopped reporting: a frozen process, or an event loop that is held. Each worker reports once a second.
 *
 *  SIW1 a worker is ended after a bound of silence, with the reason
 *  SIW2 silence counts only while this process runs on time: after its own pause, or that of the machine, reports are late
 *  SIW3 a worker that has never reported is left alone: it is starting, or of a release without reports
 */

export const REPORT_EVERY_MS = 1_000;
/** A check that comes later shows a pause of this process. */
const LATE_AFTER_MS = 2 * REPORT_EVERY_MS;

/** A worker, as it is watched. */
export interface Reporting {
  /** Since its last report; undefined before the first one. */
  silentMs: number | undefined;
  kill(reason: string): void;
}

export class ReportWatch {
  #checkedAtMs: number;

  /** @param nowMs of a monotonic clock */
  constructor(
    private readonly boundMs: number,
    nowMs: number,
  ) {
    this.#checkedAtMs = nowMs;
  }

  /** Called every REPORT_EVERY_MS. */
  check(workers: Iterable<Reporting>, nowMs: number): void {
    const elapsedMs = nowMs - this.#checkedAtMs;
    this.#checkedAtMs = nowMs;
    if (elapsedMs > LATE_AFTER_MS) return;
    for (const worker of workers) {
      if (worker.silentMs === undefined) continue;
      worker.silentMs += elapsedMs;
      if (worker.silentMs >= this.boundMs) worker.kill(`no report for ${Math.round(worker.silentMs / 1_000)} s`);
    }
  }
}
