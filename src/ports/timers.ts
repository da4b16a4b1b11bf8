/** Timers. The simulation replaces them, and its seed decides the order. */
export interface Timer {
  cancel(): void;
}

export abstract class Timers {
  /** Runs `action` once, `delayMs` from now at the earliest. */
  abstract after(delayMs: number, action: () => void): Timer;

  /**
   * As `after`, for recurring work without an exact time: up to half the delay earlier or later, at most a second,
   * together with other work, so that an idle process wakes seldom.
   */
  roughlyAfter(delayMs: number, action: () => void): Timer {
    return this.after(delayMs, action);
  }

  /** Runs `action` once the I/O that is ready now has been handled. */
  abstract soon(action: () => void): void;

  /** Resolves after the delay, and immediately when `signal` is aborted. */
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
   * Runs `action` repeatedly until it is cancelled: first `everyMs` from now, then about as long after the end of the
   * run before. Errors are not reported, so an action that returns a promise must not reject.
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

  /** Lets other work run; called in long work every millisecond or two. */
  yieldToEventLoop(): Promise<void> {
    return new Promise((resolve) => this.soon(resolve));
  }
}
