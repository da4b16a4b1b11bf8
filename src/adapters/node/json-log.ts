/**
 * The log: one JSON line for each event.
 *
 *  JLO1 a line is `time`, `level`, `event`, then the fields; fields cannot replace the first three
 *  JLO2 every field is masked by log-masking; JSON escapes characters that would break the line
 *  JLO3 logging never throws or waits: without room for a line, because its reader is slow, the line is dropped, and
 *       the next written line has the number of dropped ones
 */
import type { LogLevel } from '../../config/index.js';
import type { Clock, Log, LogFields } from '../../ports/index.js';
import { renderField } from './log-masking.js';

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Takes one line with its line feed. @returns false when there was no room and the line is lost */
export type LineWriter = (line: string) => boolean;

const RESERVED = new Set(['time', 'level', 'event']);

export interface JsonLogOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
  readonly write: LineWriter;
}

export class JsonLog implements Log {
  readonly #options: JsonLogOptions;
  readonly #lowest: number;
  /** Masked fields of every line. */
  #context: Readonly<Record<string, unknown>> = {};
  /** Shared by all logs with the same writer. */
  #dropped = { count: 0 };

  constructor(options: JsonLogOptions) {
    this.#options = options;
    this.#lowest = LOG_LEVELS.indexOf(options.level);
  }

  debug(event: string, fields?: LogFields): void {
    this.#log(0, event, fields);
  }

  info(event: string, fields?: LogFields): void {
    this.#log(1, event, fields);
  }

  warn(event: string, fields?: LogFields): void {
    this.#log(2, event, fields);
  }

  error(event: string, fields?: LogFields): void {
    this.#log(3, event, fields);
  }

  with(fields: LogFields): Log {
    const log = new JsonLog(this.#options);
    log.#context = { ...this.#context, ...this.#rendered(fields) };
    log.#dropped = this.#dropped;
    return log;
  }

  #log(severity: number, event: string, fields: LogFields | undefined): void {
    if (severity < this.#lowest) return;
    const line: Record<string, unknown> = Object.assign(Object.create(null), {
      time: new Date(this.#options.clock.nowMs()).toISOString(),
      level: LOG_LEVELS[severity],
      event,
      ...this.#context,
    });
    if (fields) Object.assign(line, this.#rendered(fields));
    if (this.#dropped.count > 0) line.droppedLines = this.#dropped.count;
    if (this.#options.write(`${JSON.stringify(line)}\n`)) this.#dropped.count = 0;
    else this.#dropped.count += 1;
  }

  #rendered(fields: LogFields): Record<string, unknown> {
    const rendered: Record<string, unknown> = Object.create(null);
    for (const [name, value] of Object.entries(fields)) {
      const safeName = RESERVED.has(name) ? `${name}_` : name;
      try {
        rendered[safeName] = renderField(name, value, this.#lowest === 0);
      } catch {
        // A getter or toJSON of the object threw; the line is still written.
        rendered[safeName] = '<unprintable>';
      }
    }
    return rendered;
  }
}

/** Bytes that may wait for a slow reader before lines are dropped. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** Lines to stderr or stdout. After their reader has gone, lines are dropped without an error. */
export function streamLines(stream: NodeJS.WriteStream): LineWriter {
  let isBroken = false;
  stream.on('error', () => {
    isBroken = true;
  });
  return (line) => {
    if (isBroken || stream.writableLength > MAX_WAITING_BYTES) return false;
    stream.write(line);
    return true;
  };
}
