/** The wait of a start for everything that it has started. */
import type { Check, Clock, Log, Timers } from '../../ports/index.js';

/** Between two looks whether all is ready. */
const LOOK_EVERY_MS = 5;
/** Whoever waits for a process to become ready is told what for. */
const TELL_EVERY_MS = 10_000;

/** Resolves when every check is well, or will not become so by itself: that is for `/readyz` to say. */
export async function untilReady(
  checks: () => Record<string, Check>,
  { timers, clock, log }: { readonly timers: Timers; readonly clock: Clock; readonly log: Log },
): Promise<void> {
  let toldAtMs = clock.monotonicMs();
  for (;;) {
    const awaited = Object.entries(checks()).filter(([, { ok, isStuck }]) => !ok && isStuck !== true);
    if (awaited.length === 0) return;
    if (clock.monotonicMs() - toldAtMs >= TELL_EVERY_MS) {
      toldAtMs = clock.monotonicMs();
      log.info('process.not-ready-yet', Object.fromEntries(awaited.map(([name, { detail }]) => [name, detail ?? ''])));
    }
    await timers.pause(LOOK_EVERY_MS);
  }
}
