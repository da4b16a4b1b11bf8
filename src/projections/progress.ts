/** The progress of a follower of a journal or log: its lag, and the age of its data for lists that cannot wait. */
import type { Clock } from '../ports/index.js';

export interface ShardLag {
  /** Known messages of the journal that are not folded. */
  readonly positions: number;
  /** Time since it was last known to have all; 0 if it has all now. */
  readonly ms: number;
}

export class Progress {
  /** The folded position, and the last known position of the journal. */
  position = 0;
  knownLast = 0;
  /** The reason why folding is stopped at the moment. */
  trouble: string | undefined;
  /** All messages that existed at the start have been folded. */
  isCaughtUp = false;
  #upToMs: number | undefined;
  /** The last message that existed at the start. */
  lastAtStart = 0;

  constructor(private readonly clock: Pick<Clock, 'nowMs'>) {}

  /**
   * The starting point.
   * @param atMs the time of the last folded message; 0: none
   */
  begins(position: number, last: number, atMs: number): void {
    this.position = position;
    this.knownLast = last;
    this.lastAtStart = last;
    this.isCaughtUp ||= position >= last;
    if (position >= last) this.#upToMs = this.clock.nowMs();
    else if (atMs > 0) this.#upToMs ??= atMs;
  }

  /**
   * @param storedAtMs the time at which the folded message was stored
   * @param knownLast the newest message received
   */
  folded(position: number, storedAtMs: number, knownLast: number): void {
    this.position = position;
    this.knownLast = Math.max(this.knownLast, knownLast);
    this.isCaughtUp ||= position >= this.lastAtStart;
    this.#upToMs = storedAtMs;
    this.trouble = undefined;
  }

  /** The journal has no newer message; received ones may still have to be folded. */
  idle(): void {
    if (this.position < this.knownLast) return;
    this.#upToMs = this.clock.nowMs();
    this.trouble = undefined;
  }

  /** Milliseconds since it was last known to have all; undefined: it has no data yet. */
  get ageMs(): number | undefined {
    return this.#upToMs === undefined ? undefined : Math.max(0, this.clock.nowMs() - this.#upToMs);
  }

  get lag(): ShardLag {
    const positions = Math.max(0, this.knownLast - this.position);
    return { positions, ms: positions > 0 || this.trouble !== undefined ? (this.ageMs ?? 0) : 0 };
  }
}

export function unreadableAt(position: number): string {
  return `the message at position ${position} cannot be read`;
}
