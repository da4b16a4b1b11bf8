/** Node's timers, behind the port. */
import type { Timer, Timers } from '../../ports/index.js';

/** Node fires at once, with a warning, what is further away than this; such a delay is cut to it. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export class NodeTimers implements Timers {
  after(delayMs: number, action: () => void): Timer {
    const handle = setTimeout(action, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS));
    return { cancel: () => clearTimeout(handle) };
  }

  /** `setImmediate` runs after the poll phase, so requests that have arrived join the turn first. */
  soon(action: () => void): void {
    setImmediate(action);
  }
}
