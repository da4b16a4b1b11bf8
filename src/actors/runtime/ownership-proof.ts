/**
 * The time in which an activation may act as the owner of its shard: from the last acknowledged append its read lease
 * runs, and until the read lease of an earlier owner is over no change is visible.
 */
import type { Clock, Timers } from '../../ports/index.js';
import type { Activation } from './activation.js';

export class OwnershipProof {
  #lastAppendSentAtMs = Number.NEGATIVE_INFINITY;
  /** On the monotonic clock; known once the claim is stored. */
  #quietUntilMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly activation: Pick<Activation, 'mayAnswerReads'>,
  ) {}

  /** An append that was sent at this time is acknowledged. */
  proven(sentAtMs: number): void {
    this.#lastAppendSentAtMs = sentAtMs;
  }

  quietUntil(atMs: number): void {
    this.#quietUntilMs = atMs;
  }

  /** True while reads may be answered; always, where no other process can own the shard. */
  get mayAnswerReads(): boolean {
    return this.activation.mayAnswerReads(this.#lastAppendSentAtMs);
  }

  /** True once no earlier owner can still be answering reads. */
  get isPastQuiet(): boolean {
    return this.clock.monotonicMs() >= this.#quietUntilMs;
  }

  /** Waits until no earlier owner can be answering reads, or until the activation ends. */
  async pastQuiet(isEnded: () => boolean): Promise<void> {
    for (;;) {
      const leftMs = this.#quietUntilMs - this.clock.monotonicMs();
      if (leftMs <= 0 || isEnded()) return;
      await this.timers.pause(leftMs);
    }
  }
}
