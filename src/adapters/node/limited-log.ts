/**
 * The log of what strangers can cause: of each event the first line at once, then one line a minute that says how many
 * were left out. Faces and probes are given this one, whatever they log, so that no line has to be thought of.
 *
 * Invariants
 *  LL1 of one event no two lines are written within a minute
 *  LL2 what is left out is counted, and told with the fields of the last of it when the minute is over
 *  LL3 what is kept is a number and one set of fields for each event: events are names in the source, never a client's
 */
import type { Log, LogFields, Timers } from '../../ports/index.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

const MINUTE_MS = 60_000;

/** A minute of one event. */
interface Minute {
  leftOut: number;
  /** Writes the last line that was left out. */
  write: (more: LogFields) => void;
}

export class LimitedLog implements Log {
  /** Shared by all logs made of one. */
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
