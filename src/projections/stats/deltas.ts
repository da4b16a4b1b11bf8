/**
 * Sums of one transaction by subject and minute, added up in memory, so that a busy second costs a few rows instead
 * of thousands.
 */

import { MINUTE_MS, stepOf } from '../../domain/statistics/index.js';
import { getOrCreate } from '../../kernel/index.js';
import { Bucket } from './bucket.js';
import { GAUGE_PLACES } from './metrics.js';

/** One minute of one subject. */
export class Delta extends Bucket {
  constructor(
    readonly minuteMs: number,
    /** Gauges at the start of the minute, for a new row without later values. */
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

  /** The delta for an event at that time. */
  of(subject: number, atMs: number): Delta {
    const minuteMs = stepOf(atMs, MINUTE_MS);
    if (this.#minute !== undefined && this.#subject === subject && this.#minute.minuteMs === minuteMs) {
      return this.#minute;
    }
    const minutes = getOrCreate(this.#bySubject, subject, () => new Map());
    const delta = getOrCreate(minutes, minuteMs, () => new Delta(minuteMs, this.gaugesOf(subject, minuteMs)));
    this.#subject = subject;
    this.#minute = delta;
    return delta;
  }

  /** The minutes of each subject in order of time; empties the sums. */
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
