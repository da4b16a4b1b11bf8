/**
 * The process's time, which decides expiry, due times and schedules.
 *
 *  GC1 it advances by monotonic time alone: setting the wall clock does not move it
 *  GC2 where the time since the machine's start contradicts the monotonic clock, the former wins: a suspension counts
 *      as passed time, and a jump of the monotonic clock does not
 *  GC3 it returns to the wall clock by a thousandth of the passed time: from any distance when it is ahead, and when
 *      it is behind only within the permitted clock error, so that a doubtful wall clock does not make keys expire
 *      early
 */
import type { BootTime, Clock } from '../../ports/index.js';

/** The event of the machine's clocks since the last check. */
export type ClockChange =
  | { readonly kind: 'steady' }
  /** The wall clock was set by this many milliseconds. Without a time since boot it may also be a suspension. */
  | { readonly kind: 'set'; readonly byMs: number }
  /** The machine was suspended for this time. */
  | { readonly kind: 'suspended'; readonly forMs: number };

export interface GuardedClockLimits {
  /** The permitted drift of the machine's clocks between two checks, milliseconds. */
  readonly jumpMs: number;
  /** The wall clock is in doubt when it is ahead by more than this. */
  readonly maxSkewMs: number;
}

interface Reading {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly bootMs: number | undefined;
}

/** The rate of return to the wall clock: a delay of an hour is late by less than four seconds. */
export const CATCH_UP = 1 / 1000;
/** Several heartbeats. */
const VOUCHED_MS = 2000;
/** Clocks that were read further apart than this are read again, because the process was interrupted. */
const READ_WITHIN_MS = 5;
const READ_TRIES = 3;

export class GuardedClock implements Clock {
  #last: Reading;
  /** The process's time at the last check. */
  #anchorMs: number;
  #pace = 1;

  constructor(
    private readonly machine: Clock,
    private readonly boot: BootTime,
    private readonly limits: GuardedClockLimits,
  ) {
    this.#last = this.#read();
    this.#anchorMs = this.#last.wallMs;
  }

  nowMs(): number {
    const passedMs = this.machine.monotonicMs() - this.#last.monotonicMs;
    // Checks are frequent: after a long time without one, the other clocks are compared first.
    if (passedMs > VOUCHED_MS || passedMs < 0) return Math.floor(this.#timeAt(this.#read()));
    return Math.floor(this.#anchorMs + passedMs * this.#pace);
  }

  monotonicMs(): number {
    return this.machine.monotonicMs();
  }

  /** How far the machine's wall clock is ahead of this one. */
  get machineAheadMs(): number {
    return this.machine.nowMs() - this.nowMs();
  }

  /** False when the wall clock has moved against the monotonic one since the last look. */
  isSteady(): boolean {
    const { wallMs, monotonicMs } = this.#last;
    return Math.abs(this.machine.nowMs() - wallMs - (this.machine.monotonicMs() - monotonicMs)) <= this.limits.jumpMs;
  }

  /** Compares the machine's clocks. Must be called often; each event is returned once. */
  check(): ClockChange {
    const before = this.#last;
    const { jumpMs, maxSkewMs } = this.limits;
    const reading = this.#read();
    const sleptMs = this.#passedMs(reading) - (reading.monotonicMs - before.monotonicMs);
    this.#anchorMs = this.#timeAt(reading);
    this.#last = reading;
    const behindMs = reading.wallMs - this.#anchorMs;
    this.#pace = 1 + (behindMs > maxSkewMs ? 0 : Math.sign(Math.trunc(behindMs)) * CATCH_UP);
    if (sleptMs > jumpMs) return { kind: 'suspended', forMs: sleptMs };
    const byMs = reading.wallMs - before.wallMs - (reading.monotonicMs - before.monotonicMs);
    if (sleptMs < -jumpMs) return { kind: 'set', byMs: byMs - sleptMs };
    return Math.abs(byMs) > jumpMs ? { kind: 'set', byMs } : { kind: 'steady' };
  }

  /**
   * Continues from this instant, for which there is better evidence than the wall clock. No shard may be owned at this
   * time.
   */
  set(nowMs: number): void {
    this.#last = this.#read();
    this.#anchorMs = nowMs;
  }

  #timeAt(reading: Reading): number {
    return this.#anchorMs + this.#passedMs(reading) * this.#pace;
  }

  /** The time passed since the last check, by a clock that cannot be set. */
  #passedMs({ monotonicMs, bootMs }: Reading): number {
    const passedMs = monotonicMs - this.#last.monotonicMs;
    const bootPassedMs = passedBetween(this.#last.bootMs, bootMs) ?? passedMs;
    return Math.abs(bootPassedMs - passedMs) > this.limits.jumpMs ? bootPassedMs : passedMs;
  }

  #read(): Reading {
    for (let tries = 1; ; tries += 1) {
      const startedMs = this.machine.monotonicMs();
      const bootMs = this.boot.sinceBootMs();
      // The two clocks that make the time are read last, directly after each other, because time between the two
      // readings is lost.
      const wallMs = this.machine.nowMs();
      const monotonicMs = this.machine.monotonicMs();
      if (monotonicMs - startedMs <= READ_WITHIN_MS || tries === READ_TRIES) return { wallMs, monotonicMs, bootMs };
    }
  }
}

function passedBetween(beforeMs: number | undefined, laterMs: number | undefined): number | undefined {
  return beforeMs === undefined || laterMs === undefined ? undefined : laterMs - beforeMs;
}
