/** The events of a run, as a hash of all of them and as the last lines of text. */

/** The number of kept lines, enough to see the cause of a failure. */
const LINES_KEPT = 400;

export class Trace {
  private low = 0x811c9dc5;
  private high = 0x1b873593;
  /** Called with every line, for reading a complete run. */
  onLine: (line: string) => void = () => {};
  private readonly lines: string[] = [];
  private written = 0;

  constructor(private readonly nowMs: () => number) {}

  /** Adds an event to the hash. */
  event(owner: string, label: string): void {
    this.mix(`${this.nowMs()} ${owner} ${label}`);
  }

  /** Adds a fact to the hash and keeps it as a line. */
  note(owner: string, text: string): void {
    const line = `${this.nowMs().toFixed(3).padStart(11)} ${owner.padEnd(9)} ${text}`;
    this.mix(line);
    this.lines[this.written % LINES_KEPT] = line;
    this.written += 1;
    this.onLine(line);
  }

  get hash(): string {
    return (this.high >>> 0).toString(16).padStart(8, '0') + (this.low >>> 0).toString(16).padStart(8, '0');
  }

  tail(count: number): string[] {
    const from = Math.max(0, this.written - Math.min(count, LINES_KEPT));
    return Array.from({ length: this.written - from }, (_, index) => this.lines[(from + index) % LINES_KEPT] as string);
  }

  private mix(text: string): void {
    for (let index = 0; index < text.length; index += 1) {
      this.low = Math.imul(this.low ^ text.charCodeAt(index), 0x01000193);
      this.high = (Math.imul(this.high ^ this.low, 0x85ebca6b) + index) | 0;
    }
  }
}
