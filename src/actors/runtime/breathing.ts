/** A long piece of work that lets others run now and then: a replay, a snapshot that is loaded. */
import type { Clock, Timers } from '../../ports/index.js';

/** Several shards may be replayed at once. */
const BREATHE_AFTER_MS = 2;

export class Breathing {
  #lastAtMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {
    this.#lastAtMs = clock.monotonicMs();
  }

  /** Asked often, so that it costs no promise while there is time. */
  get isDue(): boolean {
    return this.clock.monotonicMs() - this.#lastAtMs >= BREATHE_AFTER_MS;
  }

  /** Lets others run. */
  async take(): Promise<void> {
    await this.timers.breathe();
    this.#lastAtMs = this.clock.monotonicMs();
  }
}
