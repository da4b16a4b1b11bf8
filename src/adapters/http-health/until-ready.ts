/** Waits at a start until all parts are ready. */
import type { Check, Clock, Log, Timers } from '../../ports/index.js';

/** Time between two checks. */
const LOOK_EVERY_MS = 5;
/** Time between two log lines about the parts that are not ready. */
const TELL_EVERY_MS = 10_000;

/** Resolves when every check is ok, or cannot become ok without an operator, which `/readyz` then reports. */
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
