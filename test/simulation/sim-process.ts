/**
 * One simulated process: its clocks, its timers, its random numbers, and the faults that can hit it.
 *
 *  - pause: it runs no code while time goes on (SIGSTOP, a long garbage collection)
 *  - suspend: the same, and its monotonic clock stops too (a suspended virtual machine)
 *  - crash: it never runs again
 */
import type { BootTime, Clock, Log, LogFields, Random } from '../../src/ports/index.js';
import { timersOf } from '../support/timers-of.js';
import type { Owner, Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';

/** The wall clock at virtual time 0: 2026-01-01T00:00:00Z. */
export const EPOCH_MS = 1_767_225_600_000;

/**
 * The shortest timer, as in Node. Without it, a timer for the remainder of a rounding error would be set again for
 * ever.
 */
const SHORTEST_TIMER_MS = 1;

export interface ClockTraits {
  /** The rate of the monotonic clock; 1 is exact. */
  readonly rate: number;
  /** The error of the wall clock at the start. */
  readonly wallOffsetMs: number;
}

export class SimProcess implements Owner {
  pausedUntilMs = 0;
  isCrashed = false;
  wakesTimersFirst = true;
  private wallOffsetMs: number;
  private suspendedMs = 0;
  private readonly rate: number;
  /** The clock of the machine. */
  readonly clock: Clock = {
    nowMs: () => Math.floor(EPOCH_MS + this.scheduler.nowMs + this.wallOffsetMs),
    monotonicMs: () => this.monotonicMs(),
  };
  /** A clock that also runs while the process is suspended. */
  readonly boot: BootTime = { bootId: undefined, sinceBootMs: () => this.scheduler.nowMs * this.rate };
  readonly timers = timersOf({
    after: (delayMs, action) => {
      const timer = { isCancelled: false, cancel: () => {} };
      this.arm(this.monotonicMs() + Math.max(SHORTEST_TIMER_MS, delayMs), action, timer);
      return timer;
    },
    soon: (action) => void this.scheduler.at(this.scheduler.nowMs, this, 'message', 'soon', action),
  });
  readonly random: Random;
  readonly log: Log;

  constructor(
    readonly name: string,
    readonly scheduler: Scheduler,
    private readonly dice: SeededRandom,
    traits: ClockTraits,
    onLog: (level: string, event: string, fields: LogFields) => void = () => {},
  ) {
    this.rate = traits.rate;
    this.wallOffsetMs = traits.wallOffsetMs;
    this.random = dice.fork();
    this.log = this.logWith({}, onLog);
  }

  pause(durationMs: number): void {
    this.scheduler.trace.note(this.name, `paused for ${Math.round(durationMs)} ms`);
    this.pausedUntilMs = Math.max(this.pausedUntilMs, this.scheduler.nowMs + durationMs);
    this.wakesTimersFirst = this.dice.chance(0.5);
  }

  suspend(durationMs: number): void {
    this.scheduler.trace.note(this.name, 'suspended, with its monotonic clock');
    const wasPausedUntilMs = Math.max(this.pausedUntilMs, this.scheduler.nowMs);
    this.pause(durationMs);
    this.suspendedMs += Math.max(0, this.pausedUntilMs - wasPausedUntilMs);
  }

  crash(): void {
    this.scheduler.trace.note(this.name, 'crashed');
    this.isCrashed = true;
  }

  jumpWallClock(byMs: number): void {
    this.scheduler.trace.note(this.name, `wall clock jumps by ${Math.round(byMs)} ms`);
    this.wallOffsetMs += byMs;
  }

  private monotonicMs(): number {
    return (this.scheduler.nowMs - this.suspendedMs) * this.rate;
  }

  private arm(dueMonotonicMs: number, action: () => void, timer: { isCancelled: boolean; cancel: () => void }): void {
    const waitMs = Math.max(0, dueMonotonicMs - this.monotonicMs()) / this.rate;
    const event = this.scheduler.at(this.scheduler.nowMs + waitMs, this, 'timer', 'timer', () => {
      // A suspension delays every timer, so the remaining time is waited again.
      if (this.monotonicMs() + 1e-6 < dueMonotonicMs) this.arm(dueMonotonicMs, action, timer);
      else action();
    });
    timer.cancel = () => event.cancel();
  }

  private logWith(bound: LogFields, onLog: (level: string, event: string, fields: LogFields) => void): Log {
    const write =
      (level: string) =>
      (event: string, fields: LogFields = {}) => {
        if (level !== 'debug')
          this.scheduler.trace.note(this.name, `${level} ${event} ${summary({ ...bound, ...fields })}`);
        onLog(level, event, { ...bound, ...fields });
      };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      with: (fields) => this.logWith({ ...bound, ...fields }, onLog),
    };
  }
}

/** A summary for one line; errors by their message. */
function summary(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value instanceof Error ? value.message : String(value)}`)
    .join(' ')
    .slice(0, 200);
}
