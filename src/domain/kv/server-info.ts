/** Facts about the process for the engine: clock, work limits, fields of INFO. */

/** The most work of one script, in milliseconds. */
export interface ScriptLimits {
  readonly totalMs: number;
  /**
   * The bound where a script cannot be interrupted or is part of a transaction, so that all other work waits for it.
   */
  readonly holdMs: number;
}

/** Facts for INFO and TIME that come from outside the keyspace. */
export interface ServerInfo {
  /** Microseconds since the epoch, for TIME. */
  nowMicros(): number;
  /** Processor time of the process, in microseconds; if missing, elapsed time counts as work. */
  workedMicros?(): number;
  /** The bounds of a script; default: those in `limits`. */
  readonly scriptLimits?: ScriptLimits;
  /** The most work of a command or transaction, in milliseconds; default `MAX_COMMAND_MS`. */
  readonly commandMs?: number;
  /** The format level in force; if missing, the highest one. */
  formatLevel?(): number;
  /** Section → field → value, for INFO; the engine adds the keyspace section. */
  info(): ReadonlyMap<string, ReadonlyMap<string, string>>;
}
