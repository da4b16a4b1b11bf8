/** The clocks of the machine. */
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../ports/index.js';

export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  /** Stops during a suspension of the machine. */
  monotonicMs(): number {
    return performance.now();
  }
}
