/** Time, as the outside world has it. Nothing else in the flow reads a clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump either way. */
  nowMs(): number;
  /** Milliseconds on a clock that never goes back; its zero means nothing. */
  monotonicMs(): number;
}
