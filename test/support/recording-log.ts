/** A log that keeps its lines, for tests of the lines that an operator reads. */
import type { Log, LogFields } from '../../src/ports/index.js';

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: LogFields;
}

export class RecordingLog implements Log {
  constructor(
    readonly lines: LogLine[] = [],
    private readonly common: LogFields = {},
  ) {}

  debug(event: string, fields?: LogFields): void {
    this.#add('debug', event, fields);
  }
  info(event: string, fields?: LogFields): void {
    this.#add('info', event, fields);
  }
  warn(event: string, fields?: LogFields): void {
    this.#add('warn', event, fields);
  }
  error(event: string, fields?: LogFields): void {
    this.#add('error', event, fields);
  }
  with(fields: LogFields): Log {
    return new RecordingLog(this.lines, { ...this.common, ...fields });
  }

  of(event: string): LogLine[] {
    return this.lines.filter((line) => line.event === event);
  }

  #add(level: string, event: string, fields: LogFields = {}): void {
    this.lines.push({ level, event, fields: { ...this.common, ...fields } });
  }
}
