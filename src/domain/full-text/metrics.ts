/**
 * Statistics of values: the state that is collected, which can be joined with that of other documents, and the result.
 *
 *  MET1 the state of joined parts gives the result of all their values, except for the rounding of numbers
 */
import { type AggregationResult, type Metric, NamedResults } from './aggregation.js';
import { SearchProblem } from './definition.js';
import { compareValues, type FieldValue } from './field-values.js';
import type { FilterJson } from './json.js';
import { MAX_SHARED_VALUES, SLICE_POSTINGS } from './limits.js';

type Steps<T> = Generator<void, T>;

/** The sum of Kahan and Neumaier: exact for integers of 64 bits as far as a number holds the sum. */
class ExactSum {
  #sum = 0;
  #lost = 0;

  add(value: number): void {
    const next = this.#sum + value;
    const isLarger = Math.abs(this.#sum) >= Math.abs(value);
    this.#lost += isLarger ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
  }

  get value(): number {
    return this.#sum + this.#lost;
  }
}

export class MetricState {
  #count = 0;
  readonly #sum = new ExactSum();
  readonly #sumOfSquares = new ExactSum();
  #least: FieldValue | null = null;
  #most: FieldValue | null = null;
  /** The mean and the sum of squared distances from it, after Welford. */
  #mean = 0;
  #distances = 0;
  /** For a cardinality. */
  readonly #different: Set<FieldValue> | undefined;
  /** For percentiles: all values. */
  readonly #values: number[] | undefined;

  constructor(private readonly metric: Metric) {
    if (metric.kind === 'cardinality') this.#different = new Set();
    if (metric.kind === 'percentiles') this.#values = [];
  }

  add(given: FieldValue): void {
    this.#count += 1;
    if (this.metric.kind === 'count') return;
    if (this.#different !== undefined) {
      this.#different.add(given);
      return;
    }
    const value = Number(given);
    if (this.#values !== undefined) {
      this.#values.push(value);
      return;
    }
    this.#sum.add(value);
    this.#keepBounds(given, given);
    if (this.metric.kind !== 'extendedStats') return;
    this.#sumOfSquares.add(value * value);
    const distance = value - this.#mean;
    this.#mean += distance / this.#count;
    this.#distances += distance * (value - this.#mean);
  }

  /** Adds the values of another state of the same metric. */
  join(other: MetricState): void {
    const count = this.#count + other.#count;
    if (other.#count === 0) return;
    const distance = other.#mean - this.#mean;
    this.#distances += other.#distances + (distance * distance * this.#count * other.#count) / count;
    this.#mean += (distance * other.#count) / count;
    this.#count = count;
    this.#sum.add(other.#sum.value);
    this.#sumOfSquares.add(other.#sumOfSquares.value);
    this.#keepBounds(other.#least, other.#most);
    for (const value of other.#different ?? []) this.#different?.add(value);
    for (const value of other.#values ?? []) this.#values?.push(value);
  }

  /** As JSON for another partition. @throws SearchProblem */
  *encoded(): Steps<FilterJson> {
    const values = this.#different ?? this.#values;
    const counts = new Map<FieldValue, number>();
    let done = 0;
    for (const value of values ?? []) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
      if (counts.size > MAX_SHARED_VALUES) throw tooManyValues;
      done += 1;
      if (done % SLICE_POSTINGS === 0) yield;
    }
    const sums = [this.#count, this.#sum.value, this.#sumOfSquares.value, this.#mean, this.#distances];
    return [...sums, this.#least, this.#most, [...counts.keys()], [...counts.values()]];
  }

  static decoded(metric: Metric, given: FilterJson): MetricState {
    const state = new MetricState(metric);
    const [count, sum, sumOfSquares, mean, distances, least, most, values, counts] = given as readonly FilterJson[];
    state.#count = Number(count);
    state.#sum.add(Number(sum));
    state.#sumOfSquares.add(Number(sumOfSquares));
    state.#mean = Number(mean);
    state.#distances = Number(distances);
    state.#keepBounds(least as FieldValue | null, most as FieldValue | null);
    for (const [place, value] of (values as readonly FieldValue[]).entries()) {
      state.#different?.add(value);
      const times = Number((counts as readonly FilterJson[])[place]);
      if (state.#values !== undefined) for (let at = 0; at < times; at += 1) state.#values.push(Number(value));
    }
    return state;
  }

  *result(): Steps<AggregationResult> {
    const { metric } = this;
    switch (metric.kind) {
      case 'count':
        return oneValue(this.#count);
      case 'cardinality':
        return oneValue(this.#different?.size ?? 0);
      case 'avg':
        return oneValue(this.#average);
      case 'sum':
        return oneValue(this.#sum.value);
      case 'min':
        return oneValue(this.#least);
      case 'max':
        return oneValue(this.#most);
      case 'stats':
        return new NamedResults(this.#stats());
      case 'extendedStats':
        return new NamedResults(this.#extendedStats(metric.sigma));
      case 'percentiles':
        return percentilesOf(yield* sorted(this.#values ?? []), metric.percents, metric.isKeyed);
    }
  }

  get #average(): number | null {
    return this.#count === 0 ? null : this.#sum.value / this.#count;
  }

  #keepBounds(least: FieldValue | null, most: FieldValue | null): void {
    if (least !== null && (this.#least === null || compareValues(least, this.#least) < 0)) this.#least = least;
    if (most !== null && (this.#most === null || compareValues(most, this.#most) > 0)) this.#most = most;
  }

  #stats(): Pairs {
    return [
      ['count', this.#count],
      ['min', this.#least],
      ['max', this.#most],
      ['sum', this.#sum.value],
      ['avg', this.#average],
    ];
  }

  #extendedStats(sigma: number): Pairs {
    const count = this.#count;
    const mean = this.#average ?? 0;
    const ofAll = count === 0 ? null : this.#distances / count;
    const ofSample = count < 2 ? null : this.#distances / (count - 1);
    const deviation = ofAll === null ? null : Math.sqrt(ofAll);
    const ofSampleDeviation = ofSample === null ? null : Math.sqrt(ofSample);
    const bound = (by: number | null, sign: 1 | -1) => (by === null ? null : mean + sign * sigma * by);
    const bounds: Pairs = [
      ['upper', bound(deviation, 1)],
      ['lower', bound(deviation, -1)],
      ['upperSampling', bound(ofSampleDeviation, 1)],
      ['lowerSampling', bound(ofSampleDeviation, -1)],
      ['upperPopulation', bound(deviation, 1)],
      ['lowerPopulation', bound(deviation, -1)],
    ];
    return [
      ...this.#stats(),
      ['sumOfSquares', count === 0 ? null : this.#sumOfSquares.value],
      ['variance', ofAll],
      ['variancePopulation', ofAll],
      ['varianceSampling', ofSample],
      ['stdDeviation', deviation],
      ['stdDeviationPopulation', deviation],
      ['stdDeviationSampling', ofSampleDeviation],
      ['stdDeviationBounds', new NamedResults(bounds)],
    ];
  }
}

type Pairs = [string, AggregationResult][];

const tooManyValues = new SearchProblem(
  `$percentiles and $cardinality see at most ${MAX_SHARED_VALUES} different values in each partition: ` +
    'make the filter narrower, or use a database of one partition',
);

function oneValue(value: FieldValue | null): NamedResults {
  return new NamedResults([['value', value]]);
}

/** Ascending; parts are sorted and then joined, because sorting a million numbers takes a tenth of a second. */
function* sorted(values: readonly number[]): Steps<Float64Array> {
  let from = Float64Array.from(values);
  let to = new Float64Array(from.length);
  for (let at = 0; at < from.length; at += SLICE_POSTINGS) {
    from.subarray(at, at + SLICE_POSTINGS).sort();
    yield;
  }
  for (let width = SLICE_POSTINGS; width < from.length; width *= 2) {
    let done = 0;
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length);
      const end = Math.min(start + 2 * width, from.length);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at += 1) {
        const isLeft = left < middle && (right >= end || (from[left] as number) <= (from[right] as number));
        to[at] = from[isLeft ? left : right] as number;
        if (isLeft) left += 1;
        else right += 1;
        done += 1;
        if (done % SLICE_POSTINGS === 0) yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Between two neighbouring values the percentile is in proportion. */
function percentilesOf(values: Float64Array, percents: readonly number[], isKeyed: boolean): NamedResults {
  const valueAt = (percent: number): number | null => {
    if (values.length === 0) return null;
    const place = (percent / 100) * (values.length - 1);
    const below = Math.floor(place);
    const low = values[below] as number;
    const high = values[Math.min(below + 1, values.length - 1)] as number;
    return low + (high - low) * (place - below);
  };
  const found = percents.map((percent): [number, number | null] => [percent, valueAt(percent)]);
  if (isKeyed) {
    const named = found.map(([percent, value]): [string, AggregationResult] => [keyOf(percent), value]);
    return new NamedResults([['values', new NamedResults(named)]]);
  }
  const listed = found.map(
    ([percent, value]) =>
      new NamedResults([
        ['key', percent],
        ['value', value],
      ]),
  );
  return new NamedResults([['values', listed]]);
}

/** `50.0`, `99.9`. */
function keyOf(percent: number): string {
  return Number.isInteger(percent) ? percent.toFixed(1) : String(percent);
}
