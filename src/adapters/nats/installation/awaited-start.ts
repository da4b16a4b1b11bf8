/**
 * The start of a process on a NATS that others run. What is not there yet (servers, their quorum, the layout that
 * `millrace cluster init` makes) may come, whenever and in whatever order: the start is tried until it succeeds. What
 * cannot come by waiting, a setting or a damaged journal, ends it at once.
 *
 *  AWS1 only JOURNAL_UNAVAILABLE is waited for
 *  AWS2 while it waits, a line a second says what for
 */
import { describeError, isMillraceError, MillraceError } from '../../../kernel/index.js';
import type { Check, Log, Timers } from '../../../ports/index.js';

/** Between two tries: a NATS that came back is found within a second. */
const TRY_EVERY_MS = 250;
const TELL_EVERY_MS = 1_000;

export class AwaitedStart {
  #reason: string | undefined;

  constructor(private readonly ports: { readonly log: Log; readonly timers: Timers }) {}

  /** What `/readyz` says until the start is done. */
  checks(): Record<string, Check> {
    return { start: { ok: false, detail: this.#reason ?? 'starting' } };
  }

  /** @throws SHUTTING_DOWN when `stopping` was first, and what `start` throws that no wait mends */
  async begin<T>(start: () => Promise<T>, stopping: AbortSignal): Promise<T> {
    const { log, timers } = this.ports;
    const teller = timers.every(TELL_EVERY_MS, () => {
      if (this.#reason !== undefined) log.info('process.waiting', { for: this.#reason });
    });
    try {
      for (;;) {
        try {
          return await start();
        } catch (error) {
          if (!isMillraceError(error, 'JOURNAL_UNAVAILABLE')) throw error;
          this.#reason = describeError(error);
        }
        await timers.pause(TRY_EVERY_MS, stopping);
        if (stopping.aborted) throw new MillraceError('SHUTTING_DOWN', 'it was asked to stop before it had started');
      }
    } finally {
      teller.cancel();
    }
  }
}
