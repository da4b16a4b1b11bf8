/** The machine's clock and timers, for contract suites that have to wait for a real server. */
import type { Clock, Timers } from '../../src/ports/index.js';

export const realTime: Clock & Timers = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (action) => void setImmediate(action),
};
