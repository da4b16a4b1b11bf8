/**
 * Progress of long work: one line of a terminal, overwritten on each update and erased before other output. Without a
 * terminal on standard error it writes no output.
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

  /** @param line called at most as often as the line is shown */
  show(line: () => string): void {
    const nowMs = this.nowMs();
    if (!this.stream.isTTY || nowMs - this.#shownAtMs < SHOW_EVERY_MS) return;
    this.#shownAtMs = nowMs;
    this.#isShown = true;
    // A wrapped line could not be overwritten.
    this.stream.write(ERASE_LINE + line().slice(0, (this.stream.columns ?? DEFAULT_COLUMNS) - 1));
  }

  /** Called before other output, and at the end. */
  clear(): void {
    if (this.#isShown) this.stream.write(ERASE_LINE);
    this.#isShown = false;
  }
}
