/** The result of an import: counts, and a list of all items that were not imported. */
import { type ByteString, shownBytes } from '../../kernel/index.js';
import type { ProgressLine } from '../progress-line.js';

/** Text output shows the beginning of a long list; JSON output has all of it. */
const MOST_LINES = 100;
const PROGRESS_EVERY_MS = 5_000;

export interface ImportCounts {
  /** Keys, or commands of a log, that were imported. */
  taken: number;
  /** Keys that already existed with the same value. */
  unchanged: number;
  /** Keys that had expired. */
  expired: number;
  /** Keys and other items that were not imported; each was listed. */
  left: number;
  compared: number;
  /** Keys that differ between both sides; each was listed. */
  different: number;
}

export interface ReportOutput {
  readonly isJson: boolean;
  readonly progress: ProgressLine;
  nowMs(): number;
  write(text: string): void;
}

export class ImportReport {
  readonly counts: ImportCounts = { taken: 0, unchanged: 0, expired: 0, left: 0, compared: 0, different: 0 };
  #lines = 0;
  #toldAtMs: number;

  constructor(private readonly output: ReportOutput) {
    this.#toldAtMs = output.nowMs();
  }

  get isClean(): boolean {
    return this.counts.left === 0 && this.counts.different === 0;
  }

  leaveKey(key: ByteString, reason: string): void {
    this.counts.left += 1;
    this.#line('left', { key: shownBytes(key) }, reason);
  }

  /** Lists an item that is not a key. */
  leave(item: string, reason: string): void {
    this.counts.left += 1;
    this.#line('left', { what: item }, reason);
  }

  differs(key: ByteString, how: string): void {
    this.counts.different += 1;
    this.#line('different', { key: shownBytes(key) }, how);
  }

  /** Reports a problem without loss of data. */
  warn(text: string): void {
    this.#line('warning', {}, text);
  }

  /** @param doing the name of the running work */
  tell(doing: string, counts: Readonly<Record<string, number>>): void {
    const { isJson, progress } = this.output;
    progress.show(() => `${doing}: ${inWords(counts)}`);
    const nowMs = this.output.nowMs();
    if (!isJson || nowMs - this.#toldAtMs < PROGRESS_EVERY_MS) return;
    this.#toldAtMs = nowMs;
    this.#write({ event: 'progress', doing, ...counts });
  }

  /** Writes the last line, preceded by the number of lines that were not shown. */
  end(facts: Readonly<Record<string, unknown>>, text: string): void {
    const { isJson, progress, write } = this.output;
    progress.clear();
    if (isJson) {
      this.#write({ event: 'end', ...this.counts, ...facts, ok: this.isClean });
      return;
    }
    const hidden = this.#lines - MOST_LINES;
    if (hidden > 0) write(`and ${hidden} more: --json lists all of them\n`);
    write(`${inWords({ ...this.counts })}\n${text}${this.isClean ? 'ok\n' : ''}`);
  }

  #line(event: string, about: Readonly<Record<string, unknown>>, text: string): void {
    const { isJson, progress, write } = this.output;
    this.#lines += 1;
    progress.clear();
    if (isJson) this.#write({ event, ...about, why: text });
    if (isJson || this.#lines > MOST_LINES) return;
    const named = Object.values(about).map((name) => `${JSON.stringify(name)}: `);
    write(`${event.padEnd(9)} ${named.join('')}${text}\n`);
  }

  #write(value: unknown): void {
    this.output.write(`${JSON.stringify(value)}\n`);
  }
}

function inWords(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name}=${count}`)
    .join(' ');
}
