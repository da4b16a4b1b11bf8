/** Waking up later. Fake in the simulation, where a seed decides what runs next. */
export interface Timer {
  cancel(): void;
}

export interface Timers {
  /** Runs `action` once, `delayMs` from now at the earliest. */
  after(delayMs: number, action: () => void): Timer;
  /** Runs `action` once the I/O that is ready now has been handled. */
  soon(action: () => void): void;
}
