/**
 * The start of a process on an external NATS. Servers, their quorum and the layout of `millrace cluster init` may appear
 * later and in any order: the start is repeated until it succeeds. A fault that waiting cannot repair, such as an invalid
 * setting or a damaged journal, ends the start immediately.
 *
 *  AWS1 the start is repeated only after JOURNAL_UNAVAILABLE
 *  AWS2 while the start waits, a line each second has the reason
 */
import { describeError, isMillraceError, MillraceError } from '../../../kernel/index.js';
import type { Check, Log, Timers } from '../../../ports/index.js';

/** Between two tries: a returned NATS is found within a second. */
const TRY_EVERY_MS = 250;
const TELL_EVERY_MS = 1_000;

export class AwaitedStart {
  #reason: string | undefined;

  #stopping: AbortSignal | undefined;

  constructor(private readonly ports: { readonly log: Log; readonly timers: Timers }) {}

  /** The checks of `/readyz` until the start has succeeded. */
  checks(): Record<string, Check> {
    return { start: { ok: false, detail: this.#reason ?? 'starting' } };
  }

  /** @throws SHUTTING_DOWN when `stopping` was first, and errors of `start` that waiting cannot repair */
  async begin<T>(start: () => Promise<T>, stopping: AbortSignal): Promise<T> {
    const { log, timers } = this.ports;
    this.#stopping = stopping;
    const teller = timers.every(TELL_EVERY_MS, () => {
      if (this.#reason !== undefined) log.info('process.waiting', { for: this.#reason });
    });
    try {
      for (;;) {
        try {
          return await start();
        } catch (error) {
          if (!isMillraceError(error, 'JOURNAL_UNAVAILABLE')) throw error;
          await this.untilNextTry(error);
        }
      }
    } finally {
      teller.cancel();
    }
  }

  /** The start waits no longer. */
  goesOn(): void {
    this.#reason = undefined;
  }

  /** Between two tries of the start, or of a part that is repeated separately. @throws SHUTTING_DOWN when `stopping` was first */
  async untilNextTry(reason: MillraceError): Promise<void> {
    this.#reason = describeError(reason);
    await this.ports.timers.pause(TRY_EVERY_MS, this.#stopping);
    if (this.#stopping?.aborted === true)
      throw new MillraceError('SHUTTING_DOWN', 'it was asked to stop before it had started');
  }
}
