/** The clocks of the machine, behind the port. */
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../ports/index.js';

export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  /** Stands still while a virtual machine is suspended; see `clockJumpMs` in the configuration. */
  monotonicMs(): number {
    return performance.now();
  }
}
