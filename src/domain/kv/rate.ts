/** The rate of a count that is looked at now and then, without a timer. */
const PERIOD_MS = 1_000;

/** How fast a count grows: over one to two periods of `PERIOD_MS`, or since the last look where nothing was noted. */
export class Rate {
  #earlier = { atMs: Number.NEGATIVE_INFINITY, count: 0 };
  #later = { atMs: Number.NEGATIVE_INFINITY, count: 0 };

  /** @param count never less than before, but after `restart` */
  note(nowMs: number, count: number): void {
    if (nowMs - this.#later.atMs < PERIOD_MS) return;
    this.#earlier = this.#later;
    this.#later = { atMs: nowMs, count };
  }

  perSecond(nowMs: number, count: number): number {
    const { atMs, count: before } = Number.isFinite(this.#earlier.atMs) ? this.#earlier : this.#later;
    return Number.isFinite(atMs) ? ((count - before) * 1000) / Math.max(PERIOD_MS, nowMs - atMs) : 0;
  }

  restart(): void {
    this.#earlier = { atMs: Number.NEGATIVE_INFINITY, count: 0 };
    this.#later = this.#earlier;
  }
}
