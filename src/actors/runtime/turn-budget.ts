/** The bounds of one drain: its commands, effects, waiting works and time, and the time slice of a long command (SA8). */
import type { Clock } from '../../ports/index.js';
import type { ActorLimits } from './activation.js';
import type { ShouldStop, Turn } from './work.js';

/**
 * A write of another tenant takes about four rounds of the event loop; the overhead of a round is a twentieth of this.
 */
const SLICE_MS = 1;

export class TurnBudget {
  readonly startedAtMs: number;
  readonly #deadlineMs: number;
  readonly #stopAt: number;
  #sliceEndMs: number;
  #sinceLook = 0;

  constructor(
    private readonly limits: ActorLimits['turn'],
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly turn: Turn,
    /** Works that wait for an entry. */
    private readonly waiting: () => number,
  ) {
    this.startedAtMs = clock.monotonicMs();
    this.#deadlineMs = this.startedAtMs + limits.maxMs;
    this.#sliceEndMs = this.#deadlineMs;
    this.#stopAt = turn.commands + limits.maxCommands;
  }

  /** True when the turn must be stored before further commands run. */
  get isFull(): boolean {
    const { maxCommands, maxEffectBytes } = this.limits;
    const { effects, effectBytes } = this.turn;
    return effects >= maxCommands || effectBytes >= maxEffectBytes || this.waiting() >= maxCommands;
  }

  /** True when the drain has run as many commands as it may. */
  get isSpent(): boolean {
    return this.turn.commands >= this.#stopAt;
  }

  isOver(nowMs: number): boolean {
    return nowMs > this.#deadlineMs;
  }

  /** True when a command that is half done has used its slice: it continues after a round of the event loop. */
  isSliceOver(nowMs: number): boolean {
    return nowMs >= this.startedAtMs + SLICE_MS;
  }

  beginSlice(nowMs: number): void {
    this.#sliceEndMs = Math.min(this.#deadlineMs, nowMs + SLICE_MS);
  }

  readonly shouldStop: ShouldStop = (isMidway = false) => {
    if (isMidway) return this.isSpent || this.clock.monotonicMs() >= this.#sliceEndMs;
    if (this.isFull || this.isSpent) return true;
    // Reading the clock costs as much as a command, so it is read every sixteenth time.
    this.#sinceLook += 1;
    return (this.#sinceLook & 15) === 0 && this.isOver(this.clock.monotonicMs());
  };
}
