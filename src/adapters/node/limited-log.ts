/**
 * The log for events that clients can cause: the first line of each event immediately, then one line a minute with the
 * number of omitted ones. All endpoints and probes use it.
 *
 *  LL1 two lines of one event are at least a minute apart
 *  LL2 omitted lines are counted, and reported after the minute with the fields of the last one
 *  LL3 memory is one number and one set of fields for each event; events are names in the source, never client data
 */
import type { Log, LogFields, Timers } from '../../ports/index.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

const MINUTE_MS = 60_000;

/** A minute of one event. */
interface Minute {
  leftOut: number;
  /** Writes the last omitted line. */
  write: (more: LogFields) => void;
}

export class LimitedLog implements Log {
  /** Shared by all logs derived from one. */
  #minutes = new Map<string, Minute>();

  constructor(
    private readonly log: Log,
    private readonly timers: Timers,
  ) {}

  debug(event: string, fields?: LogFields): void {
    this.#tell('debug', event, fields);
  }

  info(event: string, fields?: LogFields): void {
    this.#tell('info', event, fields);
  }

  warn(event: string, fields?: LogFields): void {
    this.#tell('warn', event, fields);
  }

  error(event: string, fields?: LogFields): void {
    this.#tell('error', event, fields);
  }

  with(fields: LogFields): Log {
    const log = new LimitedLog(this.log.with(fields), this.timers);
    log.#minutes = this.#minutes;
    return log;
  }

  #tell(level: Level, event: string, fields: LogFields | undefined): void {
    const write = (more: LogFields) => this.log[level](event, { ...fields, ...more });
    const minute = this.#minutes.get(event);
    if (minute === undefined) {
      write({});
      this.#begin(event);
      return;
    }
    minute.leftOut += 1;
    minute.write = write;
  }

  #begin(event: string): void {
    const minute: Minute = { leftOut: 0, write: () => undefined };
    this.#minutes.set(event, minute);
    this.timers.after(MINUTE_MS, () => {
      this.#minutes.delete(event);
      if (minute.leftOut === 0) return;
      minute.write({ leftOut: minute.leftOut - 1 });
      this.#begin(event);
    });
  }
}
