/**
 * A fact that comes again and again while something is wrong: a failed look at each of many shards, a renewal without an
 * answer. Ten thousand lines of it say no more than three.
 *
 *  RCF1 the first is told at once; from then on one line in ten seconds at most, which says how many there were
 *  RCF2 that it is over is told once, when it has not happened for a second: what comes and goes is not over
 */
import type { Clock } from './clock.js';
import type { Log, LogFields } from './log.js';

const TELL_EVERY_MS = 10_000;
const OVER_AFTER_MS = 1_000;

export class RecurringFact {
  #times = 0;
  #lastAtMs = 0;
  #toldAtMs = 0;

  /** @param over  the event that says that it is over */
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

  /** Call it whenever all is well; it costs nothing where nothing had happened. */
  isWell(fields: LogFields = {}): void {
    if (this.#times === 0 || this.ports.clock.monotonicMs() - this.#lastAtMs < OVER_AFTER_MS) return;
    this.ports.log.info(this.over, { ...fields, times: this.#times });
    this.#times = 0;
  }
}
