/** Structured logs: one event name and its fields a line. Never a body, a token or a query string. */
export type LogFields = Record<string, unknown>;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  with(fields: LogFields): Log;
}
