/** Waking up later. Fake in the simulation, where a seed decides what runs next. */
export interface Timer {
  cancel(): void;
}

export abstract class Timers {
  /** Runs `action` once, `delayMs` from now at the earliest. */
  abstract after(delayMs: number, action: () => void): Timer;

  /**
   * As `after`, for what comes again and again and need not come to the moment: the first time half of the delay earlier or
   * later, a second at most, together with others, so that a process that has nothing to do is woken up seldom.
   */
  roughlyAfter(delayMs: number, action: () => void): Timer {
    return this.after(delayMs, action);
  }

  /** Runs `action` once the I/O that is ready now has been handled. */
  abstract soon(action: () => void): void;

  /** Resolves after so long, and at once when `signal` says that nobody waits any more. */
  pause(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return new Promise((resolve) => void this.after(delayMs, resolve));
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.after(delayMs, end);
      signal.addEventListener('abort', end);
    });
  }

  /**
   * Runs `action` again and again until it is cancelled: at first `everyMs` from now, and then as long after the end of
   * the run before, roughly. Nobody hears of an error, so an action that returns a promise never rejects.
   */
  every(everyMs: number, action: () => unknown): Timer {
    let isCancelled = false;
    let timer: Timer | undefined;
    const again = () => {
      if (!isCancelled) timer = this.roughlyAfter(everyMs, run);
    };
    const run = () => {
      const running = action();
      if (running instanceof Promise) void running.then(again);
      else again();
    };
    again();
    return {
      cancel: () => {
        isCancelled = true;
        timer?.cancel();
      },
    };
  }

  /** Lets others run: for long work, every millisecond or two of it. */
  breathe(): Promise<void> {
    return new Promise((resolve) => this.soon(resolve));
  }
}
