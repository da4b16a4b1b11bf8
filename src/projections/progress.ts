/**
 * How far a follower of a journal or a log is, as far as it knows: what it shows of that, and what lists say that cannot
 * wait.
 */
import type { Clock } from '../ports/index.js';

export interface ShardLag {
  /** Messages of the journal that are not folded, as far as is known. */
  readonly positions: number;
  /** Since when it has not been known to have everything; 0 when it has. */
  readonly ms: number;
}

export class Progress {
  /** Up to which everything is folded, and what there is of the journal. */
  position = 0;
  knownLast = 0;
  /** Why nothing is folded at the moment. */
  trouble: string | undefined;
  /** Has once had everything that was stored when it began. */
  isCaughtUp = false;
  #upToMs: number | undefined;
  #lastAtStart = 0;

  constructor(private readonly clock: Pick<Clock, 'nowMs'>) {}

  /** Where it begins. @param atMs of what was folded last; 0: nothing was */
  begins(position: number, last: number, atMs: number): void {
    this.position = position;
    this.knownLast = last;
    this.#lastAtStart = last;
    this.isCaughtUp ||= position >= last;
    if (position >= last) this.#upToMs = this.clock.nowMs();
    else if (atMs > 0) this.#upToMs ??= atMs;
  }

  /**
   * @param storedAtMs when the message there was stored
   * @param knownLast the newest that has arrived
   */
  folded(position: number, storedAtMs: number, knownLast: number): void {
    this.position = position;
    this.knownLast = Math.max(this.knownLast, knownLast);
    this.isCaughtUp ||= position >= this.#lastAtStart;
    this.#upToMs = storedAtMs;
    this.trouble = undefined;
  }

  /** The journal has nothing newer; of what it had some may be waiting to be folded. */
  idle(): void {
    if (this.position < this.knownLast) return;
    this.#upToMs = this.clock.nowMs();
    this.trouble = undefined;
  }

  /** Since when it has not been known to have everything, milliseconds; undefined: it has nothing yet. */
  get ageMs(): number | undefined {
    return this.#upToMs === undefined ? undefined : Math.max(0, this.clock.nowMs() - this.#upToMs);
  }

  get lag(): ShardLag {
    const positions = Math.max(0, this.knownLast - this.position);
    return { positions, ms: positions > 0 || this.trouble !== undefined ? (this.ageMs ?? 0) : 0 };
  }
}
