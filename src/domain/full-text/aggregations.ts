/**
 * Computes aggregations over the documents of a filter, in slices.
 *
 *  AGG1 all results are exact, except for the rounding of numbers
 */
import {
  type AggregationResult,
  type FacetTree,
  type Grouped,
  type Grouping,
  type Metric,
  type NamedAggregation,
  NamedResults,
} from './aggregation.js';
import { SearchProblem } from './definition.js';
import { facetResult } from './facet-tree.js';
import { compareValues, type FieldValue } from './field-values.js';
import { MAX_BUCKETS, SLICE_POSTINGS } from './limits.js';
import { summaryOf } from './metrics.js';
import type { Column } from './value-fields.js';

type Steps<T> = Generator<void, T>;

interface Bucket {
  readonly key: FieldValue;
  readonly ordinals: number[];
}

export class Aggregations {
  #buckets = 0;

  *results(aggregations: readonly NamedAggregation[], ordinals: ArrayLike<number>): Steps<NamedResults> {
    const pairs: [string, AggregationResult][] = [];
    for (const { name, aggregation } of aggregations) {
      pairs.push([name, yield* this.#resultOf(aggregation, ordinals)]);
      yield;
    }
    return new NamedResults(pairs);
  }

  *#resultOf(aggregation: Metric | Grouped | FacetTree, ordinals: ArrayLike<number>): Steps<AggregationResult> {
    if (aggregation.kind === 'groups') return yield* this.#groups(aggregation, ordinals);
    if (aggregation.kind !== 'facet') {
      return summaryOf(aggregation, yield* valuesOf(aggregation, ordinals));
    }
    return yield* facetResult(aggregation, ordinals, (count) => this.#countBuckets(count));
  }

  *#groups({ grouping, nested }: Grouped, ordinals: ArrayLike<number>): Steps<AggregationResult> {
    switch (grouping.kind) {
      case 'terms':
        return yield* this.#terms(grouping, nested, ordinals);
      case 'range':
        return yield* this.#ranges(grouping, nested, ordinals);
      case 'histogram':
        return yield* this.#histogram(grouping, nested, ordinals);
    }
  }

  *#terms(
    grouping: Extract<Grouping, { kind: 'terms' }>,
    nested: readonly NamedAggregation[],
    ordinals: ArrayLike<number>,
  ): Steps<AggregationResult> {
    const { order, size, least, isDate } = grouping;
    const all = (yield* grouped(grouping, ordinals, (value) => value)).filter(
      (bucket) => bucket.ordinals.length >= least,
    );
    const ofMetric = nested.find(({ name }) => name === order.by);
    let rank = (bucket: Bucket): FieldValue => (order.by === 'count' ? bucket.ordinals.length : bucket.key);
    if (order.by !== 'count' && order.by !== 'key') {
      if (ofMetric === undefined) throw new SearchProblem(`order names no nested aggregation: ${order.by}`);
      const values = new Map<Bucket, number>();
      for (const bucket of all) values.set(bucket, yield* this.#typedValueOf(ofMetric, bucket));
      rank = (bucket) => values.get(bucket) as number;
    }
    all.sort((a, b) => {
      const compared = compareValues(rank(a), rank(b));
      return (order.isDescending ? -compared : compared) || compareValues(a.key, b.key);
    });
    const left = all.slice(size).reduce((sum, bucket) => sum + bucket.ordinals.length, 0);
    const shown = all.slice(0, size);
    this.#countBuckets(shown.length);
    const buckets: AggregationResult[] = [];
    for (const bucket of shown) buckets.push(yield* this.#bucket(keyPairs(bucket.key, isDate), bucket, nested));
    return new NamedResults([
      ['buckets', buckets],
      ['sumOtherDocCount', left],
      ['docCountErrorUpperBound', 0],
    ]);
  }

  /** The single value of a metric in a bucket. */
  *#typedValueOf({ aggregation, name }: NamedAggregation, { ordinals }: Bucket): Steps<number> {
    const result = yield* this.#resultOf(aggregation, ordinals);
    const value = result instanceof NamedResults ? result.pairs.find(([key]) => key === 'value')?.[1] : undefined;
    if (value === undefined) throw new SearchProblem(`order needs a metric with one value: ${name}`);
    return value === null ? Number.NEGATIVE_INFINITY : Number(value);
  }

  *#ranges(
    grouping: Extract<Grouping, { kind: 'range' }>,
    nested: readonly NamedAggregation[],
    ordinals: ArrayLike<number>,
  ): Steps<AggregationResult> {
    this.#countBuckets(grouping.ranges.length);
    const members = grouping.ranges.map((): number[] => []);
    for (let at = 0; at < ordinals.length; at += 1) {
      if (at % PACE === PACE - 1) yield;
      const ordinal = ordinals[at] as number;
      const values = valuesAt(grouping, ordinal);
      for (const [place, { from = -Infinity, to = Infinity }] of grouping.ranges.entries()) {
        const isIn = values.some((value) => Number(value) >= from && Number(value) < to);
        if (isIn) members[place]?.push(ordinal);
      }
    }
    const buckets: AggregationResult[] = [];
    for (const [place, { key, from, to }] of grouping.ranges.entries()) {
      const head: [string, AggregationResult][] = [['key', key]];
      if (from !== undefined) head.push(['from', from]);
      if (to !== undefined) head.push(['to', to]);
      buckets.push(yield* this.#bucket(head, { key, ordinals: members[place] as number[] }, nested));
    }
    return new NamedResults([['buckets', buckets]]);
  }

  *#histogram(
    grouping: Extract<Grouping, { kind: 'histogram' }>,
    nested: readonly NamedAggregation[],
    ordinals: ArrayLike<number>,
  ): Steps<AggregationResult> {
    const { interval, offset, least, hard, extended, isDate } = grouping;
    const placeOf = (value: number) => Math.floor((value - offset) / interval);
    const found = yield* grouped(grouping, ordinals, (given) => {
      const value = Number(given);
      return hard !== undefined && (value < hard.min || value > hard.max) ? undefined : placeOf(value);
    });
    const byPlace = new Map(found.map((bucket) => [Number(bucket.key), bucket.ordinals]));
    let places = [...byPlace.keys()].sort((a, b) => a - b);
    if (least === 0 && (places.length > 0 || extended !== undefined)) {
      const first = Math.min(places[0] ?? Infinity, extended === undefined ? Infinity : placeOf(extended.min));
      const last = Math.max(places.at(-1) ?? -Infinity, extended === undefined ? -Infinity : placeOf(extended.max));
      this.#requireRoom(last - first + 1);
      places = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    }
    const shown = places.filter((place) => (byPlace.get(place)?.length ?? 0) >= least);
    this.#countBuckets(shown.length);
    const buckets: AggregationResult[] = [];
    for (const place of shown) {
      const key = place * interval + offset;
      const bucket = { key, ordinals: byPlace.get(place) ?? [] };
      buckets.push(yield* this.#bucket(keyPairs(key, isDate), bucket, nested));
    }
    return new NamedResults([['buckets', buckets]]);
  }

  *#bucket(
    head: readonly (readonly [string, AggregationResult])[],
    { ordinals }: Bucket,
    nested: readonly NamedAggregation[],
  ): Steps<NamedResults> {
    const own: readonly (readonly [string, AggregationResult])[] = [...head, ['docCount', ordinals.length]];
    if (nested.length === 0) return new NamedResults(own);
    const inner = yield* this.results(nested, ordinals);
    return new NamedResults([...own, ...inner.pairs]);
  }

  #countBuckets(count: number): void {
    this.#requireRoom(count);
    this.#buckets += count;
  }

  #requireRoom(count: number): void {
    if (this.#buckets + count > MAX_BUCKETS) {
      throw new SearchProblem(`An answer has at most ${MAX_BUCKETS} buckets: use a larger interval or a smaller size`);
    }
  }
}

/** Documents read between two pauses; each may have several values. */
const PACE = SLICE_POSTINGS / 4;

interface Source {
  readonly column: Column;
  readonly missing: FieldValue | undefined;
}

function valuesAt({ column, missing }: Source, ordinal: number): readonly FieldValue[] {
  const values = column.values(ordinal);
  return values.length === 0 && missing !== undefined ? [missing] : values;
}

function* valuesOf(source: Source, ordinals: ArrayLike<number>): Steps<FieldValue[]> {
  const all: FieldValue[] = [];
  for (let at = 0; at < ordinals.length; at += 1) {
    if (at % PACE === PACE - 1) yield;
    for (const value of valuesAt(source, ordinals[at] as number)) all.push(value);
  }
  return all;
}

/** Groups documents by a key of their values; a document is in a group once. */
function* grouped(
  source: Source,
  ordinals: ArrayLike<number>,
  keyOf: (value: FieldValue) => FieldValue | undefined,
): Steps<Bucket[]> {
  const byKey = new Map<FieldValue, number[]>();
  for (let at = 0; at < ordinals.length; at += 1) {
    if (at % PACE === PACE - 1) yield;
    const ordinal = ordinals[at] as number;
    for (const value of valuesAt(source, ordinal)) {
      const key = keyOf(value);
      if (key === undefined) continue;
      const members = byKey.get(key);
      if (members === undefined) byKey.set(key, [ordinal]);
      else if (members.at(-1) !== ordinal) members.push(ordinal);
    }
  }
  return [...byKey].map(([key, members]) => ({ key, ordinals: members }));
}

function keyPairs(key: FieldValue, isDate: boolean): [string, AggregationResult][] {
  if (!isDate || typeof key !== 'number') return [['key', typeof key === 'boolean' ? Number(key) : key]];
  const atMs = new Date(key);
  return Number.isNaN(atMs.getTime())
    ? [['key', key]]
    : [
        ['key', key],
        ['keyAsString', atMs.toISOString()],
      ];
}
