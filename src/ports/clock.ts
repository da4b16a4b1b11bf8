/** Time, as the outside world has it. Nothing else in the flow reads a clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. That of a machine may jump either way; the process's own does not. */
  nowMs(): number;
  /** Milliseconds on a clock that never goes back; its zero means nothing. */
  monotonicMs(): number;
}

/** The time since the machine started: suspensions count, and setting the clock changes nothing. */
export interface BootTime {
  /** Another one after each start of the machine; undefined where nothing tells. */
  readonly bootId: string | undefined;
  /** Milliseconds since then; undefined where nothing tells. */
  sinceBootMs(): number | undefined;
}
