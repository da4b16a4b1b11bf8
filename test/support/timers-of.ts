/** Timers that handle actions as the test defines. */
import { type Timer, Timers } from '../../src/ports/index.js';

interface Ways {
  after(delayMs: number, action: () => void): Timer;
  soon(action: () => void): void;
}

export function timersOf(ways: Ways): Timers {
  return new GivenTimers(ways);
}

class GivenTimers extends Timers {
  constructor(private readonly ways: Ways) {
    super();
  }

  override after(delayMs: number, action: () => void): Timer {
    return this.ways.after(delayMs, action);
  }

  override soon(action: () => void): void {
    this.ways.soon(action);
  }
}
