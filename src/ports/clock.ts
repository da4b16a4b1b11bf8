/** Real time. Other parts of the program do not read a clock directly. */
export interface Clock {
  /** Milliseconds since the Unix epoch. A machine's clock may jump either way; the process's clock does not. */
  nowMs(): number;
  /** Milliseconds on a clock that never goes back; its zero has no meaning. */
  monotonicMs(): number;
}

/** The time since the machine started: suspensions count, and setting the clock does not change it. */
export interface BootTime {
  /** Different after each start of the machine; undefined where the system does not provide it. */
  readonly bootId: string | undefined;
  /** Milliseconds since then; undefined where the system does not provide it. */
  sinceBootMs(): number | undefined;
}
