/** Converts rows of buckets into series: counts are summed per step, gauges are taken at its end. */
import type { SeriesTimes } from '../../domain/statistics/index.js';
import type { LatencySeries } from '../../ports/index.js';
import { LATENCY_BOUNDS_MS } from '../../protocol/index.js';
import { Bucket } from './bucket.js';
import { LATENCY_CLASSES } from './metrics.js';

export class SeriesSteps {
  readonly #steps: readonly Bucket[];

  constructor(
    private readonly times: SeriesTimes,
    rows: Iterable<readonly [atMs: number, bucket: Bucket]>,
    /** The row before the first step; its gauges hold until the first report. */
    private readonly before: Bucket | undefined,
  ) {
    const steps = Array.from({ length: times.count }, () => new Bucket());
    for (const [atMs, bucket] of rows) steps[Math.floor((atMs - times.firstAtMs) / times.stepMs)]?.merge(bucket);
    this.#steps = steps;
  }

  counts(...places: readonly number[]): number[] {
    return this.#steps.map((step) => places.reduce((sum, place) => sum + step.at(place), 0));
  }

  /** @param lastMs the time for which a value holds without another report; default: for ever */
  gauge(place: number, lastMs = Number.POSITIVE_INFINITY): number[] {
    const maxSteps = Math.floor(lastMs / this.times.stepMs);
    let value = lastMs === Number.POSITIVE_INFINITY ? (this.before?.gauges[place] ?? 0) : 0;
    let age = 0;
    return this.#steps.map((step) => {
      const told = step.gauges[place];
      age = told === undefined ? age + 1 : 0;
      if (told !== undefined) value = told;
      else if (age > maxSteps) value = 0;
      return value;
    });
  }

  /** @param work places of the sum of microseconds and of the histogram; several are combined */
  latency(...work: readonly (readonly [micros: number, classes: number])[]): LatencySeries {
    const mean: number[] = [];
    const p99: number[] = [];
    for (const step of this.#steps) {
      const classes = new Array<number>(LATENCY_CLASSES).fill(0);
      let micros = 0;
      for (const [sum, first] of work) {
        micros += step.at(sum);
        for (let at = 0; at < LATENCY_CLASSES; at += 1) classes[at] = (classes[at] as number) + step.at(first + at);
      }
      const count = classes.reduce((sum, one) => sum + one, 0);
      mean.push(count === 0 ? 0 : micros / count / 1000);
      p99.push(percentile99(classes, count));
    }
    return { mean, p99 };
  }

  names(): { readonly name: string; readonly counts: readonly number[] }[] {
    const names = new Set<string>();
    for (const step of this.#steps) for (const name of step.names.keys()) names.add(name);
    return [...names].sort().map((name) => ({ name, counts: this.#steps.map((step) => step.names.get(name) ?? 0) }));
  }
}

/** The upper bound of the class with the 99th percentile; values above the last bound give the last bound. */
function percentile99(classes: readonly number[], count: number): number {
  if (count === 0) return 0;
  const rank = Math.ceil(count * 0.99);
  let seen = 0;
  for (const [at, one] of classes.entries()) {
    seen += one;
    if (seen >= rank) return LATENCY_BOUNDS_MS[at] ?? (LATENCY_BOUNDS_MS.at(-1) as number);
  }
  return LATENCY_BOUNDS_MS.at(-1) as number;
}
