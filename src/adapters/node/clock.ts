/** The clocks of the machine, behind the port. */
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../ports/index.js';

export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  /** Stands still while a machine is suspended. */
  monotonicMs(): number {
    return performance.now();
  }
}
