/**
 * The process's time, by which TTLs, due times and schedules are judged.
 *
 *  GC1 it goes on by monotonic time alone: a wall clock that is set does not move it, whichever way and how far
 *  GC2 where the time since the machine's start contradicts the monotonic clock it wins: what a suspended machine slept
 *      has passed, and a monotonic clock that jumped has not
 *  GC3 it comes back to the wall clock by a thousandth of the time that passes: when it is ahead, however far, and
 *      when it is behind by no more than what clocks may be off. Nothing expires early by a doubtful one
 */
import type { BootTime, Clock } from '../../ports/index.js';

/** What happened to the machine's clocks since the look before. */
export type ClockChange =
  | { readonly kind: 'steady' }
  /** The wall clock was set: by so much, milliseconds. Without a time since boot it may be a suspension, too. */
  | { readonly kind: 'set'; readonly byMs: number }
  /** The machine was suspended for so long. */
  | { readonly kind: 'suspended'; readonly forMs: number };

export interface GuardedClockLimits {
  /** What the machine's clocks may drift apart between two looks, milliseconds. */
  readonly jumpMs: number;
  /** Behind the wall clock by more than this, the wall clock is in doubt. */
  readonly maxSkewMs: number;
}

interface Reading {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly bootMs: number | undefined;
}

/** How fast a difference to the wall clock is made good: a delay of an hour is late by less than four seconds. */
export const CATCH_UP = 1 / 1000;
/** Several heartbeats. */
const VOUCHED_MS = 2000;
/** Clocks that were read further apart than this are read again: something else ran in between. */
const READ_WITHIN_MS = 5;
const READ_TRIES = 3;

export class GuardedClock implements Clock {
  #last: Reading;
  /** Our time at the last look. */
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
    // Looks come often: after a long time without one something else has to vouch for it.
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

  /** Looks at the machine's clocks. To be called often; what happened is told once. */
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

  /** Goes on from this instant, because there is better evidence than the wall clock. Nothing may be owned by then. */
  set(nowMs: number): void {
    this.#last = this.#read();
    this.#anchorMs = nowMs;
  }

  #timeAt(reading: Reading): number {
    return this.#anchorMs + this.#passedMs(reading) * this.#pace;
  }

  /** What has passed since the last look, by whichever clock nobody can have set. */
  #passedMs({ monotonicMs, bootMs }: Reading): number {
    const passedMs = monotonicMs - this.#last.monotonicMs;
    const bootPassedMs = passedBetween(this.#last.bootMs, bootMs) ?? passedMs;
    return Math.abs(bootPassedMs - passedMs) > this.limits.jumpMs ? bootPassedMs : passedMs;
  }

  #read(): Reading {
    for (let tries = 1; ; tries += 1) {
      const startedMs = this.machine.monotonicMs();
      const bootMs = this.boot.sinceBootMs();
      // The two that make the time are read last, one behind the other: what lies between them is lost.
      const wallMs = this.machine.nowMs();
      const monotonicMs = this.machine.monotonicMs();
      if (monotonicMs - startedMs <= READ_WITHIN_MS || tries === READ_TRIES) return { wallMs, monotonicMs, bootMs };
    }
  }
}

function passedBetween(beforeMs: number | undefined, laterMs: number | undefined): number | undefined {
  return beforeMs === undefined || laterMs === undefined ? undefined : laterMs - beforeMs;
}
