/**
 * How far long work is: one line of a terminal, written over and over, and gone when something else is written. Where
 * standard error is no terminal nobody watches, and nothing is written.
 */
const SHOW_EVERY_MS = 100;
const ERASE_LINE = '\r\u001b[K';
const DEFAULT_COLUMNS = 80;

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> & { write(text: string): unknown };

export class ProgressLine {
  #shownAtMs = Number.NEGATIVE_INFINITY;
  #isShown = false;

  constructor(
    private readonly stream: Terminal,
    private readonly nowMs: () => number,
  ) {}

  /** @param line is not asked for more often than it can be read */
  show(line: () => string): void {
    const nowMs = this.nowMs();
    if (!this.stream.isTTY || nowMs - this.#shownAtMs < SHOW_EVERY_MS) return;
    this.#shownAtMs = nowMs;
    this.#isShown = true;
    // A line that wraps could not be written over.
    this.stream.write(ERASE_LINE + line().slice(0, (this.stream.columns ?? DEFAULT_COLUMNS) - 1));
  }

  /** Before anything else is written, and at the end. */
  clear(): void {
    if (this.#isShown) this.stream.write(ERASE_LINE);
    this.#isShown = false;
  }
}
