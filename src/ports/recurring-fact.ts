/**
 * Logs a fact that recurs while a fault lasts, such as a failed check of many shards. Ten thousand lines of it would
 * say no more than three.
 *
 *  RCF1 the first occurrence is logged immediately, then at most one line in ten seconds, with the count
 *  RCF2 the end is logged once, when the fact has not occurred for a second
 */
import type { Clock } from './clock.js';
import type { Log, LogFields } from './log.js';

const TELL_EVERY_MS = 10_000;
const OVER_AFTER_MS = 1_000;

export class RecurringFact {
  #times = 0;
  #lastAtMs = 0;
  #toldAtMs = 0;

  /** @param over  the event that logs the end */
  constructor(
    private readonly ports: { readonly log: Log; readonly clock: Pick<Clock, 'monotonicMs'> },
    private readonly event: string,
    private readonly over: string,
  ) {}

  happened(fields: LogFields): void {
    const nowMs = this.ports.clock.monotonicMs();
    this.#times += 1;
    this.#lastAtMs = nowMs;
    if (this.#times > 1 && nowMs - this.#toldAtMs < TELL_EVERY_MS) return;
    this.#toldAtMs = nowMs;
    this.ports.log.warn(this.event, this.#times > 1 ? { ...fields, times: this.#times } : fields);
  }

  /** Call it whenever all is well; it is free when no fault had occurred. */
  isWell(fields: LogFields = {}): void {
    if (this.#times === 0 || this.ports.clock.monotonicMs() - this.#lastAtMs < OVER_AFTER_MS) return;
    this.ports.log.info(this.over, { ...fields, times: this.#times });
    this.#times = 0;
  }
}
