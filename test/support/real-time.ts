/** The clock and timers of the machine, for contract suites that wait for a real server. */
import { type Clock, type Timer, Timers } from '../../src/ports/index.js';

export class RealTime extends Timers implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  override after(delayMs: number, action: () => void): Timer {
    const timer = setTimeout(action, delayMs);
    return { cancel: () => clearTimeout(timer) };
  }

  override soon(action: () => void): void {
    setImmediate(action);
  }
}

export const realTime: Clock & Timers = new RealTime();
