/**
 * What the entries of one transaction add, by subject and minute: added up in memory first, so that a busy second
 * costs a few rows and not thousands.
 */

import { MINUTE_MS, stepOf } from '../../domain/statistics/index.js';
import { obtain } from '../../kernel/index.js';
import { Bucket } from './bucket.js';
import { GAUGE_PLACES } from './metrics.js';

/** One minute of one subject. */
export class Delta extends Bucket {
  constructor(
    readonly minuteMs: number,
    /** Gauges as they stood when it began: what a row has whose minutes tell of nothing else. */
    readonly carried: readonly (number | undefined)[],
  ) {
    super();
  }

  gauge(name: keyof typeof GAUGE_PLACES, value: number): void {
    this.gauges[GAUGE_PLACES[name]] = value;
  }
}

export class Deltas {
  readonly #bySubject = new Map<number, Map<number, Delta>>();
  #subject = 0;
  #minute: Delta | undefined;

  constructor(private readonly gaugesOf: (subject: number, atMs: number) => readonly (number | undefined)[]) {}

  /** Where what happened then is added. */
  of(subject: number, atMs: number): Delta {
    const minuteMs = stepOf(atMs, MINUTE_MS);
    if (this.#minute !== undefined && this.#subject === subject && this.#minute.minuteMs === minuteMs) {
      return this.#minute;
    }
    const minutes = obtain(this.#bySubject, subject, () => new Map());
    const delta = obtain(minutes, minuteMs, () => new Delta(minuteMs, this.gaugesOf(subject, minuteMs)));
    this.#subject = subject;
    this.#minute = delta;
    return delta;
  }

  /** Each subject's minutes in order of time; nothing is left. */
  *take(): IterableIterator<readonly [subject: number, delta: Delta]> {
    for (const [subject, minutes] of this.#bySubject) {
      for (const delta of [...minutes.values()].sort((one, other) => one.minuteMs - other.minuteMs)) {
        yield [subject, delta];
      }
    }
    this.clear();
  }

  clear(): void {
    this.#bySubject.clear();
    this.#minute = undefined;
  }
}
