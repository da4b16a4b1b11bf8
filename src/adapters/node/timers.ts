/** Timers of Node. */

import { performance } from 'node:perf_hooks';
import { type Clock, type Timer, Timers } from '../../ports/index.js';
import { coalescedTimer } from './coalesced-timer.js';

/** The clocks of the machine. */
export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  /** Stops during a suspension of the machine. */
  monotonicMs(): number {
    return performance.now();
  }
}

/** Node fires longer delays immediately with a warning, so they are cut to this. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;
/** The time for actions of `soon` in one round of the event loop; the rest waits until sockets have been served. */
const ROUND_MS = 4;

export class NodeTimers extends Timers {
  #actions: (() => void)[] = [];
  #head = 0;
  /** When the first action of this round began; undefined: none has. */
  #roundAtMs: number | undefined;

  constructor(private readonly monotonicMs: () => number = () => performance.now()) {
    super();
  }

  override after(delayMs: number, action: () => void): Timer {
    const handle = setTimeout(action, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS));
    return { cancel: () => clearTimeout(handle) };
  }

  override roughlyAfter(delayMs: number, action: () => void): Timer {
    return coalescedTimer(delayMs, action);
  }

  /**
   * `setImmediate` runs after the poll phase, so requests that have arrived join the turn first. Turns of many
   * shards that are busy at once do not all come in one round: in order, as many as there is time for.
   */
  override soon(action: () => void): void {
    this.#actions.push(action);
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const nowMs = this.monotonicMs();
    if (this.#roundAtMs === undefined) {
      this.#roundAtMs = nowMs;
      // The first action of the next round.
      setImmediate(this.#endRound);
    } else if (nowMs - this.#roundAtMs >= ROUND_MS) {
      setImmediate(this.#next);
      return;
    }
    const action = this.#actions[this.#head] as () => void;
    this.#head += 1;
    if (this.#head * 2 > this.#actions.length) {
      this.#actions = this.#actions.slice(this.#head);
      this.#head = 0;
    }
    action();
  };

  readonly #endRound = (): void => {
    this.#roundAtMs = undefined;
  };
}
