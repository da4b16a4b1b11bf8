/**
 * Holds commands for a moment while it is unknown whether the grant of their client is current: after a long command of
 * another client the update is already on its way.
 */
import type { Clock, Timers } from '../../ports/index.js';

const LOOK_AGAIN_MS = 10;

export class GrantDoubt {
  #sinceMs: number | undefined;
  #isLookingAgain = false;

  constructor(
    private readonly ports: { readonly clock: Clock; readonly timers: Timers },
    private readonly maxMs: number,
    /** Called when the doubt may be over. */
    private readonly onLook: () => void,
  ) {}

  holds(isInDoubt: boolean): boolean {
    if (!isInDoubt) {
      this.#sinceMs = undefined;
      return false;
    }
    const nowMs = this.ports.clock.monotonicMs();
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs > this.maxMs) return false;
    if (this.#isLookingAgain) return true;
    this.#isLookingAgain = true;
    this.ports.timers.after(LOOK_AGAIN_MS, () => {
      this.#isLookingAgain = false;
      this.onLook();
    });
    return true;
  }
}
