/** Statistics of a list of values. */
import { type AggregationResult, type Metric, NamedResults } from './aggregation.js';
import { compareValues, type FieldValue } from './field-values.js';

/** @param values in any order; it may be sorted here */
export function summaryOf(metric: Metric, values: FieldValue[]): AggregationResult {
  switch (metric.kind) {
    case 'count':
      return oneValue(values.length);
    case 'cardinality':
      return oneValue(new Set(values).size);
    case 'avg':
      return oneValue(values.length === 0 ? null : sumOf(values) / values.length);
    case 'sum':
      return oneValue(sumOf(values));
    case 'min':
      return oneValue(leastOf(values));
    case 'max':
      return oneValue(mostOf(values));
    case 'stats':
      return new NamedResults(statsOf(values));
    case 'extendedStats':
      return new NamedResults(extendedStatsOf(values.map(Number), metric.sigma));
    case 'percentiles':
      return percentilesOf(
        values.map(Number).sort((a, b) => a - b),
        metric.percents,
        metric.isKeyed,
      );
  }
}

type Pairs = [string, AggregationResult][];

function oneValue(value: FieldValue | null): NamedResults {
  return new NamedResults([['value', value]]);
}

/** Exact for integers of 64 bits as far as a number holds the sum; for others the sum of Kahan and Neumaier. */
function sumOf(values: readonly FieldValue[]): number {
  let sum = 0;
  let lost = 0;
  for (const given of values) {
    const value = Number(given);
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}

function leastOf(values: readonly FieldValue[]): FieldValue | null {
  let least: FieldValue | null = null;
  for (const value of values) if (least === null || compareValues(value, least) < 0) least = value;
  return least;
}

function mostOf(values: readonly FieldValue[]): FieldValue | null {
  let most: FieldValue | null = null;
  for (const value of values) if (most === null || compareValues(value, most) > 0) most = value;
  return most;
}

function statsOf(values: readonly FieldValue[]): Pairs {
  const sum = sumOf(values);
  return [
    ['count', values.length],
    ['min', leastOf(values)],
    ['max', mostOf(values)],
    ['sum', sum],
    ['avg', values.length === 0 ? null : sum / values.length],
  ];
}

function extendedStatsOf(values: readonly number[], sigma: number): Pairs {
  const { length } = values;
  const mean = length === 0 ? 0 : sumOf(values) / length;
  const squares = sumOf(values.map((value) => (value - mean) ** 2));
  const ofAll = length === 0 ? null : squares / length;
  const ofSample = length < 2 ? null : squares / (length - 1);
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
    ...statsOf(values),
    ['sumOfSquares', length === 0 ? null : sumOf(values.map((value) => value * value))],
    ['variance', ofAll],
    ['variancePopulation', ofAll],
    ['varianceSampling', ofSample],
    ['stdDeviation', deviation],
    ['stdDeviationPopulation', deviation],
    ['stdDeviationSampling', ofSampleDeviation],
    ['stdDeviationBounds', new NamedResults(bounds)],
  ];
}

/** Between two neighbouring values the percentile is in proportion. */
function percentilesOf(sorted: readonly number[], percents: readonly number[], isKeyed: boolean): NamedResults {
  const valueAt = (percent: number): number | null => {
    if (sorted.length === 0) return null;
    const place = (percent / 100) * (sorted.length - 1);
    const below = Math.floor(place);
    const low = sorted[below] as number;
    const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
    return low + (high - low) * (place - below);
  };
  const values = percents.map((percent): [number, number | null] => [percent, valueAt(percent)]);
  if (isKeyed) {
    const named = values.map(([percent, value]): [string, AggregationResult] => [keyOf(percent), value]);
    return new NamedResults([['values', new NamedResults(named)]]);
  }
  const listed = values.map(
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
