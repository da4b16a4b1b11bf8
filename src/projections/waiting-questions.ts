/** Queries that wait for folding, bounded in number and time. */
import { MillraceError } from '../kernel/index.js';
import type { Timers } from '../ports/index.js';

const MAX_WAITING = 1000;

export class WaitingQuestions {
  readonly #waiting = new Set<() => void>();

  /** @param waitMs the longest wait of one query */
  constructor(
    private readonly timers: Timers,
    private readonly waitMs: number,
    /** The name in errors: `the read model`. */
    private readonly model: string,
  ) {}

  get areThere(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Settles when `isSo` holds, or after `waitMs`; the caller checks again. `isSo` is evaluated at every `wake`.
   * @throws MAILBOX_FULL
   */
  async until(isSo: () => boolean): Promise<void> {
    if (isSo()) return;
    if (this.#waiting.size >= MAX_WAITING) {
      throw new MillraceError('MAILBOX_FULL', `too many queries wait for ${this.model}`);
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

  /** More was folded, or folding has ended. */
  wake(): void {
    for (const check of [...this.#waiting]) check();
  }
}
