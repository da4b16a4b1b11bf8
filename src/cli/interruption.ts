/**
 * SIGINT and SIGTERM in commands that end on their own; `serve` has other handlers. Handlers are necessary: without
 * them the first process of a container ignores both signals.
 *
 *  INT1 a command that accepts the signal has two seconds to end in order; every other command ends immediately
 *  INT2 a second signal ends every command immediately
 *  INT3 a command ended by a signal has the exit code that shells expect: 130 or 143
 */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Enough to close connections and to stop an embedded server. */
const GRACE_MS = 2000;
/** Shells add the signal's number to it. */
const ENDED_BY_SIGNAL = 128;

const stop = new AbortController();
/** Running commands that end in order when `stop` is aborted. */
let interruptibles = 0;

/** Called once, before the command begins. */
export function listenForSignals(): void {
  for (const signal of SIGNALS) process.on(signal, () => interrupt(ENDED_BY_SIGNAL + constants.signals[signal]));
}

/** Runs a command that ends in order when the signal aborts. */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  interruptibles += 1;
  try {
    return await run(stop.signal);
  } finally {
    interruptibles -= 1;
  }
}

function interrupt(code: number): void {
  if (interruptibles === 0 || stop.signal.aborted) process.exit(code);
  stop.abort();
  setTimeout(() => process.exit(code), GRACE_MS);
}
