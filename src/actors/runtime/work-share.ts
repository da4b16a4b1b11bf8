/**
 * The share of a core that a piece of work takes: the milliseconds that it ran in the last time, of which older ones
 * count less and less.
 */
import type { Clock } from '../../ports/index.js';

/** After this time a share has fallen to about a third if the work has ended. */
const FADES_MS = 20_000;

export class WorkShare {
  /** Faded milliseconds of work, at `#atMs`. */
  #workedMs = 0;
  #atMs: number;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {
    this.#atMs = clock.monotonicMs();
  }

  /** Work of that duration has just ended. */
  add(ms: number): void {
    const nowMs = this.clock.monotonicMs();
    // The fading of less than this is not worth its computation with each turn.
    if (nowMs - this.#atMs > FADES_MS / 100) this.#fade(nowMs);
    this.#workedMs += ms;
  }

  /** 0: idle; 1: a whole core. */
  get ofCore(): number {
    this.#fade(this.clock.monotonicMs());
    return this.#workedMs / FADES_MS;
  }

  #fade(nowMs: number): void {
    this.#workedMs *= Math.exp((this.#atMs - nowMs) / FADES_MS);
    this.#atMs = nowMs;
  }
}
