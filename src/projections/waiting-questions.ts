/** Questions that wait for something to be folded: bounded in number and in time. */
import { MillraceError } from '../kernel/index.js';
import type { Timers } from '../ports/index.js';

const MAX_WAITING = 1000;

export class WaitingQuestions {
  readonly #waiting = new Set<() => void>();

  /** @param waitMs of one question, at most */
  constructor(
    private readonly timers: Timers,
    private readonly waitMs: number,
    /** Errors name it so: `the read model`. */
    private readonly model: string,
  ) {}

  get areThere(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Settles when it is so, or after `waitMs`: whoever asks looks again. `isSo` is asked at every `wake`.
   * @throws MAILBOX_FULL
   */
  async until(isSo: () => boolean): Promise<void> {
    if (isSo()) return;
    if (this.#waiting.size >= MAX_WAITING) {
      throw new MillraceError('MAILBOX_FULL', `too many questions wait for ${this.model}`);
    }
    await new Promise<void>((resolve) => {
      const end = () => {
        timer.cancel();
        this.#waiting.delete(check);
        resolve();
      };
      const check = () => {
        if (isSo()) end();
      };
      const timer = this.timers.after(this.waitMs, end);
      this.#waiting.add(check);
    });
  }

  /** Something was folded, or nothing will be. */
  wake(): void {
    for (const check of [...this.#waiting]) check();
  }
}
